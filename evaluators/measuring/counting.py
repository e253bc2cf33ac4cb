"""Counting: what a kernel executes on small shapes of a device that is not timed, and its cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from evaluators.checks.check import check_workload
from evaluators.checks.compare import check_limits
from evaluators.checks.disclosure import on
from evaluators.checks.inputs import InputPool
from evaluators.checks.memory import Arena
from evaluators.checks.shapes import costed
from evaluators.device import Compiled, Counting, Device
from evaluators.kernel.baseline import Planned
from evaluators.measuring.cost import cost
from evaluators.measuring.policy import TimingPolicy
from evaluators.measuring.rounding import Rounding
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

Counts = Mapping[str, Mapping[str, float]]
"""As device.Counting gives them."""


@dataclass(frozen=True, slots=True)
class Counted:
    """costs: see Evaluation.costs; errors: by "label/output"; advice: on the last shape."""

    costs: dict[str, float] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)
    advice: tuple[str, ...] = ()


class Counter:
    """Runs a kernel once on each shape of shapes.costed(), judges it, and counts."""

    def __init__(
        self,
        task: Task,
        device: Device,
        pool: InputPool,
        rounding: Rounding,
        policy: TimingPolicy,
        rng: np.random.Generator,
    ) -> None:
        self._task, self._device, self._pool = task, device, pool
        self._rounding, self._policy, self._rng = rounding, policy, rng

    def count(self, kernel: Planned, compiled: Compiled) -> Counted:
        """Raises Rejected, and AnchorFailed where the naive seed fails."""
        shapes = costed(self._task, self._device.info.backend)
        self._rounding.calibrate(kernel.id, shapes, {})
        found = Counted()
        for shape in shapes:
            with on(shape):
                one = self._on(kernel, compiled, shape)
            found = Counted(found.costs | one.costs, found.errors | one.errors, one.advice)
        return found

    def _on(self, kernel: Planned, compiled: Compiled, shape: Workload) -> Counted:
        """In a session of its own: its counts are those of one run, and of what prepares it."""
        plan = kernel.plan(self._task, shape, self._device.info.target)
        check_limits(plan, self._device.info)
        arena = Arena(self._task, [shape], [plan])
        with self._device.open(compiled, memory_bytes=arena.nbytes, fenced=True) as session:
            counting = cast(Counting, session)
            before = counting.counts()
            (memory,) = arena.in_turn(session, [shape], [plan], self._rng)
            checked = check_workload(
                memory,
                [self._pool.fresh(shape, self._rng)],
                self._rng,
                deadline_s=self._policy.deadline_cap_s,
                judge=self._rounding.judge(),
            )
            counts, advice = _less(counting.counts(), before), tuple(counting.advice())
        costs = {shape.label: cost(counts, compiled.resources, self._device.info)}
        return Counted(costs, dict(checked.errors), advice)


def _less(counts: Counts, before: Counts) -> dict[str, dict[str, float]]:
    """What was executed since then."""
    return {
        symbol: {kind: n - before.get(symbol, {}).get(kind, 0.0) for kind, n in kinds.items()}
        for symbol, kinds in counts.items()
    }
