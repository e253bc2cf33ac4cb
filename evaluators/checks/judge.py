"""Where a memory's data comes from and who compares what a kernel made of it: here, the host."""

import hashlib
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

import numpy as np

from evaluators.checks.budget import Error
from evaluators.checks.compare import compare
from evaluators.checks.inputs import Array, Draw
from evaluators.checks.memory import WorkloadMemory
from evaluators.checks.region import Image, noise
from evaluators.evaluation import Rejected
from evaluators.tasks.arguments import Workload

Placed = Mapping[int, Draw]
"""By binding of a memory, the draw that lies there."""

SPOTS = 64
"""Elements of each output that a spot check looks at, in each binding."""


class Judge(Protocol):
    """Puts draws into a workload's memory and judges what is there after a run."""

    def place_shared(self, memory: WorkloadMemory, draw: Draw, rng: np.random.Generator) -> None:
        """Constants in place, prepared scratch poisoned, random bytes round them."""

    def inspect_shared(self, memory: WorkloadMemory, *, scratches: Collection[int]) -> None:
        """Raises Rejected(WRONG): constants changed, or writes beyond scratch.

        scratches: the bindings whose own scratch is looked at, too.
        """

    def prefetch(self, memory: WorkloadMemory, draws: Sequence[Draw]) -> None:
        """Make data that place() would make, and so sweep caches of what it has placed."""

    def place(
        self,
        memory: WorkloadMemory,
        placed: Placed,
        rng: np.random.Generator,
        *,
        stale: Collection[int] = (),
    ) -> None:
        """Inputs in place, outputs and own scratch poisoned, random bytes round them.

        stale: bindings whose outputs stay as a run over another draw left them, so that nobody
        can tell by looking whether an output is written already.
        """

    def judge(self, memory: WorkloadMemory, placed: Placed) -> dict[str, Error]:
        """The largest errors by "label/output" after runs over bindings placed before.

        Raises Rejected(WRONG): told from the first wrong element of the first wrong binding.
        """

    def spot_check(self, memory: WorkloadMemory, placed: Placed, rng: np.random.Generator) -> None:
        """judge() for many bindings: each by its guards and SPOTS random elements of each output.

        Raises Rejected(WRONG).
        """

    def references(self, memory: WorkloadMemory, draw: Draw) -> Mapping[str, Array]:
        """What a draw's outputs should be, by name."""


class HostJudge:
    """Arrays in host memory, compared by numpy. Serves one kernel, or two that race."""

    def __init__(self) -> None:
        self._noise: Image | None = None
        self._right: dict[tuple[WorkloadMemory, int], tuple[bytes, dict[str, Error]]] = {}

    def place_shared(self, memory: WorkloadMemory, draw: Draw, rng: np.random.Generator) -> None:
        memory.write_shared(memory.shared.image(draw.inputs, rng))

    def inspect_shared(self, memory: WorkloadMemory, *, scratches: Collection[int]) -> None:
        memory.inspect_shared()
        for copy in scratches if memory.scratches else ():
            memory.inspect_guards(memory.scratch, memory.scratches[copy], self._guards())

    def prefetch(self, memory: WorkloadMemory, draws: Sequence[Draw]) -> None:
        for draw in draws:
            _ = draw.inputs

    def place(
        self,
        memory: WorkloadMemory,
        placed: Placed,
        rng: np.random.Generator,
        *,
        stale: Collection[int] = (),
    ) -> None:
        for copy, draw in placed.items():
            memory.place(copy, draw.inputs, self._guards(), poison=copy not in stale)

    def judge(self, memory: WorkloadMemory, placed: Placed) -> dict[str, Error]:
        """A result that was once found right is known again by its digest."""
        largest: dict[str, Error] = {}
        for copy, draw in placed.items():
            for output, error in self._judged(memory, copy, draw).items():
                largest[output] = error.beside(largest.get(output, error))
        return largest

    def spot_check(self, memory: WorkloadMemory, placed: Placed, rng: np.random.Generator) -> None:
        env, own = memory.workload.env, memory.task.own
        for copy in placed:
            memory.inspect_guards(memory.region, memory.copies[copy], self._guards())
        if own.check is not None or own.epilogue is not None:
            # They say nothing of single elements: of one binding that nobody could foresee all.
            copy = list(placed)[int(rng.integers(len(placed)))]
            self.judge(memory, {copy: placed[copy]})
        for output in memory.task.outputs if own.epilogue is None else ():
            count = math.prod(output.shape(env))
            if output.name not in memory.task.compares:
                continue
            places = rng.integers(count, size=(len(placed), SPOTS))
            pairs = list(zip(placed.items(), places, strict=True))
            found = [memory.elements(copy, output.name, at) for (copy, _), at in pairs]
            wanted = [draw.reference[output.name].reshape(-1)[at] for (_, draw), at in pairs]
            compared = compare(
                np.stack(found), np.stack(wanted), rtol=output.rtol(env), atol=output.atol(env)
            )
            suspects = np.flatnonzero(compared.wrong.any(axis=1))
            self.judge(memory, dict(pairs[int(i)][0] for i in suspects))

    def _judged(self, memory: WorkloadMemory, copy: int, draw: Draw) -> dict[str, Error]:
        after, region = memory.taken(copy), memory.region
        untouched = region.untouched(after, draw.inputs, self._guards())
        digest = hashlib.sha256()
        for span in region.spans:
            if span.written:
                digest.update(after[span.start : span.stop].data)
        key = (memory, draw.index)
        known, errors = self._right.get(key, (b"", {}))
        if not untouched or known != digest.digest():
            before = after if untouched else region.expected(draw.inputs, self._guards())
            errors = memory.judge(draw.reference, before, after, draw.standard, draw.inputs)
            self._right[key] = digest.digest(), errors
        return errors

    def _guards(self) -> Image:
        """The noise round every buffer, the same for all that this judge serves."""
        if self._noise is None:
            self._noise = noise(np.random.default_rng())
        return self._noise

    def references(self, memory: WorkloadMemory, draw: Draw) -> Mapping[str, Array]:
        return draw.reference


Widen = Callable[[Workload, Sequence[Draw]], bool]
"""Whether the limits of those draws became wider. See measuring/rounding.py."""


class WideningJudge:
    """Another judge, but for results within the tolerance that it finds less exact than the naive
    seed's on other draws: it is asked again, once these draws' own limits are known.

    See Judge.
    """

    def __init__(self, judge: Judge, widen: Widen) -> None:
        self._judge, self._widen = judge, widen

    def place_shared(self, memory: WorkloadMemory, draw: Draw, rng: np.random.Generator) -> None:
        self._judge.place_shared(memory, draw, rng)

    def inspect_shared(self, memory: WorkloadMemory, *, scratches: Collection[int]) -> None:
        self._judge.inspect_shared(memory, scratches=scratches)

    def prefetch(self, memory: WorkloadMemory, draws: Sequence[Draw]) -> None:
        self._judge.prefetch(memory, draws)

    def place(
        self,
        memory: WorkloadMemory,
        placed: Placed,
        rng: np.random.Generator,
        *,
        stale: Collection[int] = (),
    ) -> None:
        self._judge.place(memory, placed, rng, stale=stale)

    def judge(self, memory: WorkloadMemory, placed: Placed) -> dict[str, Error]:
        try:
            return self._judge.judge(memory, placed)
        except Rejected as rejected:
            self._excuse(memory, placed, rejected)
        return self._judge.judge(memory, placed)

    def spot_check(self, memory: WorkloadMemory, placed: Placed, rng: np.random.Generator) -> None:
        try:
            self._judge.spot_check(memory, placed, rng)
        except Rejected as rejected:
            self._excuse(memory, placed, rejected)
            self._judge.judge(memory, placed)

    def references(self, memory: WorkloadMemory, draw: Draw) -> Mapping[str, Array]:
        return self._judge.references(memory, draw)

    def _excuse(self, memory: WorkloadMemory, placed: Placed, rejected: Rejected) -> None:
        """Raises it, unless limits were too narrow."""
        if not rejected.inexact or not self._widen(memory.workload, [*placed.values()]):
            raise rejected
