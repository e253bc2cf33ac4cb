"""A judge that looks once more where limits on errors were too narrow for the very draws."""

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from evaluators.checks.budget import Error
from evaluators.checks.inputs import Array, Draw
from evaluators.checks.judge import Judge, Placed
from evaluators.checks.memory import WorkloadMemory
from evaluators.evaluation import Rejected
from evaluators.tasks.arguments import Workload

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
