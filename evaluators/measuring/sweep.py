"""Sweep: whether a kernel is right on many small random shapes, other ones for each evaluation."""

from collections.abc import Sequence

import numpy as np

from evaluators.checks.arena import Arena
from evaluators.checks.check import check_workload
from evaluators.checks.compare import check_limits
from evaluators.checks.disclosure import on
from evaluators.checks.inputs import Draw, InputPool
from evaluators.checks.judge import HostJudge, Judge
from evaluators.checks.shapes import swept_shapes
from evaluators.device import Compiled, Device
from evaluators.kernel.source import KernelSource
from evaluators.measuring.policy import TimingPolicy
from evaluators.measuring.rounding import Rounding
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task


class Sweep:
    """Each shape is met once, in one session, on one draw that never comes again."""

    def __init__(
        self,
        task: Task,
        device: Device,
        pool: InputPool,
        rounding: Rounding,
        policy: TimingPolicy,
        rng: np.random.Generator,
        *,
        judge: Judge | None = None,
    ) -> None:
        self._task = task
        self._device = device
        self._pool = pool
        self._rounding = rounding
        self._policy = policy
        self._rng = rng
        self._judge = judge

    def check(self, kernel: KernelSource, compiled: Compiled) -> None:
        """Raises Rejected, as on any held-out shape; AnchorFailed where the seed spoils the device."""
        shapes = swept_shapes(kernel, self._task, self._device.info.backend, self._rng)
        draws = [(shape, self._pool.fresh(shape, self._rng)) for shape in shapes]
        borne = self._rounding.swept(draws) if draws else []
        if borne:
            self._run(kernel, compiled, borne)

    def _run(
        self, kernel: KernelSource, compiled: Compiled, draws: Sequence[tuple[Workload, Draw]]
    ) -> None:
        shapes = [shape for shape, _ in draws]
        plans = [kernel.plan(self._task, shape.dims) for shape in shapes]
        for shape, plan in zip(shapes, plans, strict=True):
            with on(shape):
                check_limits(plan, self._device.info)
        arena, judge = Arena(self._task, shapes, plans), self._judge or HostJudge()
        with self._device.open(compiled, memory_bytes=arena.nbytes, fenced=True) as session:
            memories = arena.in_turn(session, shapes, plans, self._rng)
            for memory, (_, draw) in zip(memories, draws, strict=True):
                deadline_s = self._policy.deadline_cap_s
                check_workload(memory, [draw], self._rng, deadline_s=deadline_s, judge=judge)
