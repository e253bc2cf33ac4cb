"""The regions into which kernels are cut for cpu: what a person reads, and what advice is from."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from evaluators.cpu.diagnosis.loops import SourceLoop, source_loops
from evaluators.cpu.fission.emit import Emission
from evaluators.cpu.fission.ir import Var
from evaluators.cpu.fission.operations import Line
from evaluators.cpu.fission.operations import Region as Cut
from evaluators.cpu.fission.translate import Translation

NEAR = 3
MOST_SPANS = 3
_RENAMED = re.compile(r"_ks\d+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """One loop over the threads of a block. Lines are the kernel file's, from 1."""

    kernel: str
    first_line: int
    last_line: int
    why: str  # it ends there
    vectorised: bool  # asked for, with omp simd
    masked: bool
    kept: tuple[str, ...]  # variables that it shares with other regions of the same thread

    def __str__(self) -> str:
        how = "threads in vectors" if self.vectorised else "threads one by one"
        masked = ", only those that are on" if self.masked else ""
        kept = f"; keeps {', '.join(self.kept)}" if self.kept else ""
        lines = f"line {self.first_line}"
        if self.last_line != self.first_line:
            lines = f"lines {self.first_line}-{self.last_line}"
        return f"{self.kernel}, {lines}: {how}{masked}{kept}; ends at {self.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A region for whoever looks for its loops. number: among all of the file.

    lines: those it has statements in. depth: loops of the block round it. arrays, scalars: what
    it keeps, as "float acc[4][4]" and by name. generated: it holds no statement of the kernel's.
    """

    region: Region
    number: int
    lines: frozenset[int]
    depth: int
    loops: tuple[SourceLoop, ...]
    arrays: tuple[str, ...]
    scalars: tuple[str, ...]
    generated: bool


def spelled_lines(lines: Collection[int]) -> str:
    """As "line 3" or "lines 3-7 and 12"; across gaps of some lines as if they were none."""
    spans: list[list[int]] = []
    for line in sorted(lines):
        if spans and line - spans[-1][1] <= NEAR:
            spans[-1][1] = line
        else:
            spans.append([line, line])
    parts = [str(a) if a == b else f"{a}-{b}" for a, b in spans[:MOST_SPANS]]
    parts += ["..."] if len(spans) > MOST_SPANS else []
    return f"line{'s' if len(set(lines)) > 1 else ''} {', '.join(parts)}"


def regions(translation: Translation) -> tuple[Region, ...]:
    """Those of each kernel, in order."""
    return tuple(
        _region(name, cut, emission)
        for name, emission in translation.kernels
        for cut in emission.regions
    )


def places(translation: Translation) -> tuple[Place, ...]:
    """The same for the compiler's remarks."""
    functions = {f.name: f.body for f in translation.unit.functions if not f.collective}
    found = []
    for name, emission in translation.kernels:
        depths = _depths(emission)
        for cut in emission.regions:
            called: set[str] = set()
            loops = [
                loop for step in cut.steps for loop in source_loops(step.node, functions, called)
            ]
            kept = _kept(cut, emission)
            scalars = {_RENAMED.sub("", var.name) for var in kept if not var.is_array}
            found.append(
                Place(
                    region=_region(name, cut, emission),
                    number=cut.number,
                    lines=_lines(cut),
                    depth=depths[cut.number],
                    loops=tuple(loops),
                    arrays=tuple(sorted(_spelled(var) for var in kept if var.is_array)),
                    scalars=tuple(sorted(s for s in scalars if not s.startswith("ks_"))),
                    generated=cut.generated,
                )
            )
    return tuple(found)


def _region(kernel: str, cut: Cut, emission: Emission) -> Region:
    lines = _lines(cut)
    return Region(
        kernel=kernel,
        first_line=min(lines),
        last_line=max(lines),
        why=cut.why,
        vectorised=emission.vectorised(cut),
        masked=cut.mask is not None,
        kept=tuple(sorted(var.name for var in _kept(cut, emission))),
    )


def _lines(cut: Cut) -> frozenset[int]:
    lines = {one.line for step in cut.steps for one in step.node.leaves() if one.line > 0}
    return frozenset(lines or {0})


def _kept(cut: Cut, emission: Emission) -> Sequence[Var]:
    return [var for var in cut.used if var in emission.stored]


def _spelled(var: Var) -> str:
    """As it was declared: "float acc[4][4]"."""
    kind = " ".join(map(str, var.head))
    return f"{kind} {_RENAMED.sub('', var.name)}{''.join(one.text for one in var.shape)}"


def _depths(emission: Emission) -> dict[int, int]:
    """By a region's number, how many loops of the block stand round it."""
    depths: dict[int, int] = {}
    opened: list[bool] = []
    for op in emission.ops:
        if isinstance(op, Cut):
            depths[op.number] = sum(opened)
        elif isinstance(op, Line):
            for sign in "".join(part for part in op.parts if isinstance(part, str)):
                if sign == "{":
                    opened.append(op.opens_loop)
                elif sign == "}" and opened:
                    opened.pop()
    return depths
