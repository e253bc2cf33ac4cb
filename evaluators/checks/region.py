"""Buffers laid out side by side with random bytes round each, and what became of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from evaluators.checks.span import SCRATCH_POISON, Part, Span, poison_byte
from evaluators.device import Buffer
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import MemsetStep, Plan, buffers_in
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

Array = np.ndarray[Any, Any]
Image = np.ndarray[Any, np.dtype[np.uint8]]

__all__ = ["SCRATCH_POISON", "Region", "Span", "poison_byte"]

ALIGNMENT = 256
GUARD_BYTES = 4096
TAIL_BYTES = 65536
"""The last guard is longer: beyond it memory ends, and a kernel that overshoots would crash
before it could be told where it wrote."""


_STEP = 8 * 1009
_STEPS = 128
"""Guards have windows of one noise that lie so many bytes apart, for so many guards."""


def noise(rng: np.random.Generator) -> Image:
    """Random bytes for guards, of which each has its own window."""
    longest = GUARD_BYTES + ALIGNMENT + TAIL_BYTES
    return np.frombuffer(rng.bytes(_STEP * _STEPS + longest), dtype=np.uint8)


def as_bytes(array: Array) -> Image:
    """An array's bytes, in row-major order."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _scratch(plan: Plan, *, prepared: bool) -> list[Part]:
    """The scratch buffers that prepare steps are given, or the others."""
    given: set[str] = set()
    for step in plan.prepare:
        if isinstance(step, MemsetStep):
            given.add(step.buffer)
        else:
            given = given.union(*map(buffers_in, step.args))
    return [
        Part.of_scratch(name, nbytes)
        for name, nbytes in plan.scratch.items()
        if (name in given) == prepared
    ]


def same(a: Image, b: Image) -> bool:
    """Compared by words: by bytes numpy takes several times as long."""
    words = a.size // 8 * 8
    head = np.array_equal(a[:words].view(np.uint64), b[:words].view(np.uint64))
    return head and np.array_equal(a[words:], b[words:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Spans in order; everything between them is guard. own: 0, or 1 for what lies beside another
    region whose guards hold the same noise."""

    spans: tuple[Span, ...]
    nbytes: int
    own: int = 0

    @classmethod
    def of(cls, parts: Sequence[Part], *, own: int = 0) -> Self:
        spans = []
        at = GUARD_BYTES
        for part in parts:
            spans.append(Span(part=part, start=at))
            at = -(-(at + part.nbytes + GUARD_BYTES) // ALIGNMENT) * ALIGNMENT
        return cls(spans=tuple(spans), nbytes=at + TAIL_BYTES, own=own)

    @classmethod
    def of_arguments(cls, task: Task, workload: Workload) -> Self:
        """What differs between bindings: in, out and inout."""
        arguments = task.on(workload).arguments
        return cls.of([Part.of(a, workload.env) for a in arguments if a.role != "constant"])

    @classmethod
    def of_shared(cls, task: Task, workload: Workload, plan: Plan) -> Self:
        """What all bindings share: constants, and the scratch that prepare launches fill."""
        arguments = task.on(workload).arguments
        constants = [Part.of(a, workload.env) for a in arguments if a.role == "constant"]
        return cls.of([*constants, *_scratch(plan, prepared=True)])

    @classmethod
    def of_scratch(cls, plan: Plan) -> Self:
        """Each binding's own scratch."""
        return cls.of(_scratch(plan, prepared=False), own=1)

    def image(self, inputs: Mapping[str, Array], rng: np.random.Generator) -> Image:
        """The region's bytes before a run: random guards, inputs in place, the rest poisoned."""
        image = np.empty(self.nbytes, dtype=np.uint8)
        for start, stop in self.guards():
            image[start:stop] = rng.integers(0, 256, stop - start, dtype=np.uint8)
        for span in self.spans:
            if span.given:
                image[span.start : span.stop] = span.laid(inputs[span.name])
            else:
                image[span.start : span.stop] = span.poison
        return image

    def expected(self, inputs: Mapping[str, Array], noise: Image) -> Image:
        """As image(), with that noise in the guards."""
        return self.guarded(self.image(inputs, np.random.default_rng(0)), noise)

    def guarded(self, image: Image, noise: Image) -> Image:
        """A copy with that noise in the guards."""
        image = image.copy()
        for start, stop, window in self.noisy(noise):
            image[start:stop] = window
        return image

    def untouched(self, after: Image, inputs: Mapping[str, Array], noise: Image) -> bool:
        """Whether guards and what is only read are as expected(); quicker than inspect()."""
        guards = (same(after[a:b], window) for a, b, window in self.noisy(noise))
        only_read = (span for span in self.spans if not span.written)
        read = (
            same(after[span.start : span.stop], span.laid(inputs[span.name])) for span in only_read
        )
        strays = (span.strays(after[span.start : span.stop]).size for span in self.spans)
        return all(guards) and all(read) and not any(strays)

    def noisy(self, noise: Image) -> list[tuple[int, int, Image]]:
        """Each guard with its bytes, which are no other's: one that is copied beyond the end of one
        buffer from beyond the end of another is found out."""
        found = []
        for i, (start, stop) in enumerate(self.guards()):
            at = (2 * i + self.own) % _STEPS * _STEP
            found.append((start, stop, noise[at : at + stop - start]))
        return found

    def guards(self) -> list[tuple[int, int]]:
        starts = [0, *(span.stop for span in self.spans)]
        stops = [*(span.start for span in self.spans), self.nbytes]
        return list(zip(starts, stops, strict=True))

    def buffers(self, base: Buffer) -> dict[str, Buffer]:
        return {
            span.name: base.view(span.start, span.nbytes, read_only=not span.written)
            for span in self.spans
        }

    def values(self, image: Image) -> dict[str, Array]:
        """The outputs in an image, by name."""
        return {
            span.name: span.taken(image[span.start : span.stop])
            for span in self.spans
            if span.written
        }

    def inspect(self, before: Image, after: Image) -> None:
        """Raises Rejected(WRONG) when anything but an output or scratch has changed."""
        self.inspect_guards(before, after)
        for span in self.spans:
            old, new = before[span.start : span.stop], after[span.start : span.stop]
            strays = span.strays(new)
            if strays.size:
                raise Rejected(
                    Status.WRONG,
                    f"wrote between the elements of {span.name}, whose strides leave room there "
                    f"(index {int(strays[0])}, flat)",
                )
            if not span.written and not np.array_equal(old, new):
                changed = span.taken(old).view(f"u{span.dtype.itemsize}")
                now = span.taken(new).view(f"u{span.dtype.itemsize}")
                first = tuple(axis[0] for axis in np.nonzero(changed != now))
                index = ", ".join(str(i) for i in first)
                raise Rejected(
                    Status.WRONG,
                    f"changed its input {span.name} (first at {span.name}[{index}])",
                )

    def inspect_guards(self, before: Image, after: Image) -> None:
        """Raises Rejected(WRONG): the first guard that has changed, and where."""
        for i, (start, stop) in enumerate(self.guards()):
            changed = np.flatnonzero(before[start:stop] != after[start:stop])
            if changed.size:
                reason = self._trespass(i, start, stop, changed)
                raise Rejected(Status.WRONG, reason, trespass=True)

    def _trespass(self, i: int, start: int, stop: int, changed: Array) -> str:
        """Guard i lies after span i - 1 and before span i; the nearer one is named."""
        if not self.spans:
            return "wrote outside every buffer"
        past, before = int(changed[0]), stop - start - int(changed[-1])
        if i > 0 and (past <= before or i == len(self.spans)):
            span = self.spans[i - 1]
            index = (span.nbytes + past) // span.dtype.itemsize
            count = span.nbytes // span.dtype.itemsize
            return f"wrote past the end of {span.name} (index {index} of {count}, flat)"
        span = self.spans[i]
        index = -before // span.dtype.itemsize
        return f"wrote before the start of {span.name} (index {index}, flat)"
