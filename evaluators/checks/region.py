"""Buffers laid out side by side with random bytes round each, and what became of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from evaluators.device import Buffer
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import MemsetStep, Plan, Scalar
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

Array = np.ndarray[Any, Any]
Image = np.ndarray[Any, np.dtype[np.uint8]]

ALIGNMENT = 256
GUARD_BYTES = 4096
TAIL_BYTES = 65536
"""The last guard is longer: beyond it memory ends, and a kernel that overshoots would crash
before it could be told where it wrote."""
SCRATCH_POISON = 0xFF


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One buffer in a region. poison: the byte an output is filled with before a run."""

    name: str
    start: int
    nbytes: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    written: bool
    given: bool  # filled with an input before a run, else with poison

    @property
    def stop(self) -> int:
        return self.start + self.nbytes

    @property
    def poison(self) -> int:
        return poison_byte(self.dtype)


def noise(rng: np.random.Generator) -> Image:
    """Random bytes, as many as the longest guard has."""
    return np.frombuffer(rng.bytes(GUARD_BYTES + ALIGNMENT + TAIL_BYTES), dtype=np.uint8)


def as_bytes(array: Array) -> Image:
    """An array's bytes, in row-major order."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def poison_byte(dtype: np.dtype[Any]) -> int:
    """A byte that makes NaNs of a float type when repeated; for integers a rare value."""
    if np.issubdtype(dtype, np.integer):
        return 0xA5
    return 0x80 if dtype.itemsize == 1 else 0xFF  # float8 fnuz has the one NaN 0x80


Part = tuple[str, np.dtype[Any], tuple[int, ...], bool, bool]
"""name, dtype, shape, written, given"""


def _scratch(plan: Plan, *, prepared: bool) -> list[Part]:
    """The scratch buffers that prepare steps are given, or the others."""
    given: set[str | Scalar] = set()
    for step in plan.prepare:
        given |= {step.buffer} if isinstance(step, MemsetStep) else set(step.args)
    byte = np.dtype(np.uint8)
    return [
        (name, byte, (nbytes,), True, False)
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
    """Spans in order; everything between them is guard."""

    spans: tuple[Span, ...]
    nbytes: int

    @classmethod
    def of(cls, parts: Sequence[Part]) -> Self:
        spans = []
        at = GUARD_BYTES
        for name, dtype, shape, written, given in parts:
            nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            spans.append(
                Span(
                    name=name,
                    start=at,
                    nbytes=nbytes,
                    dtype=dtype,
                    shape=shape,
                    written=written,
                    given=given,
                )
            )
            at = -(-(at + nbytes + GUARD_BYTES) // ALIGNMENT) * ALIGNMENT
        return cls(spans=tuple(spans), nbytes=at + TAIL_BYTES)

    @classmethod
    def of_arguments(cls, task: Task, workload: Workload) -> Self:
        """What differs between bindings: in, out and inout."""
        return cls.of(
            [
                (a.name, a.np_dtype, a.shape(workload.dims), a.written, a.role != "out")
                for a in task.arguments
                if a.role != "constant"
            ]
        )

    @classmethod
    def of_shared(cls, task: Task, workload: Workload, plan: Plan) -> Self:
        """What all bindings share: constants, and the scratch that prepare launches fill."""
        constants = [
            (a.name, a.np_dtype, a.shape(workload.dims), False, True)
            for a in task.arguments
            if a.role == "constant"
        ]
        return cls.of([*constants, *_scratch(plan, prepared=True)])

    @classmethod
    def of_scratch(cls, plan: Plan) -> Self:
        """Each binding's own scratch."""
        return cls.of(_scratch(plan, prepared=False))

    def image(self, inputs: Mapping[str, Array], rng: np.random.Generator) -> Image:
        """The region's bytes before a run: random guards, inputs in place, the rest poisoned."""
        image = np.empty(self.nbytes, dtype=np.uint8)
        for start, stop in self.guards():
            image[start:stop] = rng.integers(0, 256, stop - start, dtype=np.uint8)
        for span in self.spans:
            if span.given:
                values = np.ascontiguousarray(inputs[span.name], dtype=span.dtype)
                image[span.start : span.stop] = values.reshape(-1).view(np.uint8)
            else:
                scratch = span.dtype == np.uint8
                image[span.start : span.stop] = SCRATCH_POISON if scratch else span.poison
        return image

    def expected(self, inputs: Mapping[str, Array], noise: Image) -> Image:
        """As image(), with the same noise in every guard."""
        return self.guarded(self.image(inputs, np.random.default_rng(0)), noise)

    def guarded(self, image: Image, noise: Image) -> Image:
        """A copy with that noise in every guard."""
        image = image.copy()
        for start, stop in self.guards():
            image[start:stop] = noise[: stop - start]
        return image

    def untouched(self, after: Image, inputs: Mapping[str, Array], noise: Image) -> bool:
        """Whether guards and what is only read are as expected(); quicker than inspect()."""
        guards = (same(after[a:b], noise[: b - a]) for a, b in self.guards())
        only_read = (span for span in self.spans if not span.written)
        return all(guards) and all(
            same(after[span.start : span.stop], as_bytes(inputs[span.name])) for span in only_read
        )

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
            span.name: image[span.start : span.stop].view(span.dtype).reshape(span.shape)
            for span in self.spans
            if span.written
        }

    def inspect(self, before: Image, after: Image) -> None:
        """Raises Rejected(WRONG) when anything but an output or scratch has changed."""
        self.inspect_guards(before, after)
        for span in self.spans:
            old, new = before[span.start : span.stop], after[span.start : span.stop]
            if not span.written and not np.array_equal(old, new):
                first = int(np.flatnonzero(old != new)[0]) // span.dtype.itemsize
                index = ", ".join(str(i) for i in np.unravel_index(first, span.shape))
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
