"""What a kernel's regions and the compiler's remarks come to: a few sentences, with what to try."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evaluators.cpu.diagnosis.causes import ORDERED, Cause, cause
from evaluators.cpu.diagnosis.loops import SourceLoop
from evaluators.cpu.diagnosis.regions import Place, places, spelled_lines
from evaluators.cpu.diagnosis.remarks import MOST_CHARACTERS, Remark, read_clang, read_gnu
from evaluators.cpu.fission.emit import THREADS_FILE, THREADS_LINES
from evaluators.cpu.fission.translate import Translation
from evaluators.kernel.tokens import KERNEL_FILE

MOST_PROBLEMS = 4
MOST_NAMES = 4


Advice = Mapping[str, Sequence[str]]
"""Of one kernel, as in Compiled.resources: "advice": what to change first; "facts": the rest."""


@dataclass(slots=True)
class _Outcome:
    """What became of one loop in all its copies: vectorised, if any was."""

    width: int = 0
    ordered: bool = False
    missed: str | None = None

    def add(self, remark: Remark) -> None:
        if remark.kind == "vectorised":
            if remark.width > self.width:
                self.width = remark.width
                self.ordered = bool(ORDERED.search(remark.said))
        elif self.missed is None or cause(self.missed) is None:
            self.missed = remark.said


@dataclass(slots=True)
class _Heard:
    """Remarks by where they belong."""

    unit: str  # of widths
    loops: dict[int, _Outcome] = field(default_factory=lambda: defaultdict(_Outcome))
    threads: dict[int, _Outcome] = field(default_factory=lambda: defaultdict(_Outcome))
    unrolled: set[int] = field(default_factory=set)
    gathered: set[int] = field(default_factory=set)

    def hear(self, remark: Remark) -> None:
        if remark.file == THREADS_FILE and remark.kind in ("vectorised", "missed"):
            self.threads[remark.line // THREADS_LINES].add(remark)
        elif remark.file == KERNEL_FILE:
            if remark.kind == "partly":
                self.unrolled.add(remark.line)
            elif remark.kind == "gathered":
                self.gathered.add(remark.line)
            else:
                self.loops[remark.line].add(remark)

    def of(self, loop: SourceLoop) -> _Outcome | None:
        return next((self.loops[n] for n in loop.own_lines if n in self.loops), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    """What is said of one loop, of the kernel or over threads. depth: of the innermost that
    stands in it as written, from the outermost of the kernel."""

    lines: frozenset[int]
    threads: bool
    depth: int
    shared: bool = False  # other regions are of the same lines
    width: str = ""
    unrolled: bool = False
    ordered: bool = False
    gathered: bool = False
    missed: Cause | None = None

    @property
    def where(self) -> str:
        return spelled_lines(self.lines)

    @property
    def what(self) -> str:
        return "the loop over this region's threads" if self.threads else "the loop"

    def problem(self) -> str:
        """A sentence where there is something to change, else nothing."""
        if self.missed is not None:
            return (
                f"{self.where}: {self.what} is not vectorised: {self.missed.why}; "
                f"try: {self.missed.remedy}."
            )
        wide = f"{self.where}: {self.what} is vectorised, {self.width} wide"
        if self.gathered:
            return (
                f"{wide}, but gathers elements one by one; try: an index that is plainly base + "
                f"{'threadIdx.x' if self.threads else 'i'}, with no condition round the access."
            )
        if self.ordered and not self.threads:
            return (
                f"{wide}, but its sum is added up in order, element by element; try: 16 "
                "independent sums in a local array, with a loop over them inside."
            )
        return ""

    def fact(self) -> str:
        how = self.width or "in part, once unrolled"
        return f"{self.where} ({'threads, ' if self.threads else ''}{how})"


def advise(translation: Translation, said: bytes, family: str) -> dict[str, Advice]:
    """By the names of kernels. said: the remarks that a compiler of that family may have left."""
    text = said[:MOST_CHARACTERS].decode(errors="replace")
    remarks, unit = (read_gnu(text), "bytes") if family == "g++" else (read_clang(text), "lanes")
    heard = _Heard(unit)
    for remark in remarks:
        heard.hear(remark)
    by_kernel: dict[str, list[Place]] = defaultdict(list)
    for place in places(translation):
        by_kernel[place.region.kernel].append(place)
    return {kernel: _of_kernel(cut, heard) for kernel, cut in by_kernel.items()}


def _of_kernel(cut: Sequence[Place], heard: _Heard) -> Advice:
    """One thing is said of each place; of what was generated, nothing."""
    said = [place for place in cut if not place.generated]
    found: list[_Finding] = []
    for place in said:
        shared = sum(_overlap(place.lines, other.lines) for other in said) > 1
        for one in _of_region(place, heard, shared=shared):
            if not any(_overlap(one.lines, o.lines) for o in found if o.threads == one.threads):
                found.append(one)
    hot = _hottest(found)
    problems = [sentence for one in hot if (sentence := one.problem())]
    good = [one.fact() for one in sorted(hot, key=_first) if not one.problem()]
    facts = [f"vectorised: {_listed(good)}."] if good else []
    return {
        "advice": [*problems[:MOST_PROBLEMS], *_kept_arrays(cut)],
        "facts": [*facts, *_cut(cut)],
    }


def _overlap(one: frozenset[int], two: frozenset[int]) -> bool:
    """Whether they are the same code, as whole passes of a loop and its last one are."""
    return one <= two or two <= one


def _first(finding: _Finding) -> int:
    return min(finding.lines)


def _hottest(found: Sequence[_Finding]) -> list[_Finding]:
    """The innermost loops first; without those that run much more seldom, by their nesting."""
    deepest = max((one.depth for one in found), default=0)
    near = [one for one in found if deepest == 0 or one.depth >= max(1, deepest - 1)]
    return sorted(near, key=lambda one: (-one.depth, _first(one)))


def _of_region(place: Place, heard: _Heard, *, shared: bool) -> list[_Finding]:
    """The loop over threads where that became vectors; else the loops inside, innermost first."""
    depth = place.depth + max((loop.height for loop in place.loops), default=0)
    whole = _Finding(lines=place.lines, threads=True, depth=depth, shared=shared)
    inner = [one for loop in place.loops for one in _of_loop(loop, heard, place.depth + 1)]
    return _verdict(whole, heard.threads.get(place.number), inner, heard)


def _of_loop(loop: SourceLoop, heard: _Heard, depth: int) -> list[_Finding]:
    inner = [one for kid in loop.inner for one in _of_loop(kid, heard, depth + 1)]
    lines = frozenset(range(loop.first_line, loop.last_line + 1))
    whole = _Finding(lines=lines, threads=False, depth=depth + loop.height - 1)
    return _verdict(whole, heard.of(loop), inner, heard)


def _verdict(
    whole: _Finding, own: _Outcome | None, inner: list[_Finding], heard: _Heard
) -> list[_Finding]:
    if own is not None and own.width:
        gathered = not whole.shared and bool(heard.gathered & whole.lines)
        width = f"{own.width} {heard.unit}"
        return [replace(whole, width=width, ordered=own.ordered, gathered=gathered)]
    if inner or own is None or own.missed is None:
        return inner
    if heard.unrolled & whole.lines:
        return [replace(whole, unrolled=True)]
    why = cause(own.missed)
    return [] if why is None else [replace(whole, missed=why)]


def _kept_arrays(cut: Sequence[Place]) -> Iterator[str]:
    arrays = list(dict.fromkeys(one for place in cut for one in place.arrays))
    if arrays:
        live = "lives" if len(arrays) == 1 else "live"
        yield (
            f"{_listed(arrays)} {live} across barriers, so that each region loads and stores "
            f"{'it' if len(arrays) == 1 else 'them'} in memory for every thread; try: fewer "
            "barriers with more work between them, or none: on cpu LDS is memory like any other."
        )


def _cut(cut: Sequence[Place]) -> Iterator[str]:
    """What the engine's cutting costs, where it cuts at all."""
    shown = [place for place in cut if not place.generated]
    if len(shown) < 2:
        return
    ends = sum("barrier" in place.region.why for place in shown)
    masked = sum(place.region.masked for place in shown)
    scalars = {name for place in cut for name in place.scalars}
    parts = [f"{len(shown)} regions, each a loop over all threads of a block"]
    if ends:
        parts.append(f"{ends} cut off by barriers or loops that hold some")
    if masked:
        parts.append(f"{masked} only for threads that a mask leaves on")
    if scalars:
        parts.append(f"kept for each thread from one to another: {_listed(sorted(scalars))}")
    yield "; ".join(parts) + "."


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
