"""What a kernel that would win must bear beyond what every candidate is checked for."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from evaluators.checks.check import check_workload
from evaluators.checks.compare import check_limits
from evaluators.checks.disclosure import on
from evaluators.checks.endurance import check_endurance
from evaluators.checks.inputs import Draw, InputPool
from evaluators.checks.judge import HostJudge, Judge
from evaluators.checks.memory import Arena
from evaluators.checks.shapes import swept_shapes
from evaluators.checks.values import UnusualDraws
from evaluators.device import Compiled, Device
from evaluators.kernel.baseline import Planned
from evaluators.kernel.source import KernelSource
from evaluators.measuring.policy import TimingPolicy
from evaluators.measuring.rounding import Rounding
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

MADE_BYTES = 1 << 29
"""See UnusualDraws.cost_bytes(); a second or two on one slow core."""
EACH_BYTES = 1 << 30
"""The same where each class is to be tried."""
QUICK_BYTES = 1 << 28
"""The same for each pair where only some are tried, as the device waits for them."""
ENDURED_US, ENDURED_LARGE_US = 1e5, 5e5
"""How long launches in a row take, about: on a shape of the tests, and on one of the benchmarks."""


class FurtherChecks:
    """Unusual values on shapes of any size, random shapes, and many launches in a row."""

    def __init__(
        self,
        task: Task,
        device: Device,
        pool: InputPool,
        unusual: UnusualDraws,
        rounding: Rounding,
        policy: TimingPolicy,
        rng: np.random.Generator,
        *,
        judge: Judge | None = None,
    ) -> None:
        self._task = task
        self._device = device
        self._pool = pool
        self._unusual = unusual
        self._rounding = rounding
        self._policy = policy
        self._rng = rng
        self._judge = judge

    def unusual_values(
        self,
        kernel: Planned,
        compiled: Compiled,
        workloads: Sequence[Workload],
        *,
        most: int | None = None,
        each: bool = False,
    ) -> dict[str, float]:
        """Errors by "label/output" on random pairs of a shape and a class of values.

        most: of them, of those that are quickly made, or else the one that takes least; by default
        as many as bring every shape and every class. At least one is tried, others as far as
        making them is affordable. each: before these every class on the
        smallest shape. Raises Rejected.
        """
        spread = self._unusual.spread(workloads)
        pairs = [(*pair, MADE_BYTES) for pair in (spread if most is None else self._quick(spread))]
        if each and workloads:
            smallest = min(workloads, key=self._task.nbytes)
            pairs = [*((*pair, EACH_BYTES) for pair in self._unusual.each(smallest)), *pairs]
        errors: dict[str, float] = {}
        for workload, draw in self._affordable(kernel, pairs, most):
            for key, error in self._errors(kernel, compiled, workload, draw).items():
                errors[key] = max(error, errors.get(key, 0.0))
        return errors

    def _errors(
        self, kernel: Planned, compiled: Compiled, workload: Workload, draw: Draw
    ) -> Mapping[str, float]:
        plan = kernel.plan(self._task, workload, self._device.info.target)
        arena = Arena(self._task, [workload], [plan])
        with self._device.open(compiled, memory_bytes=arena.nbytes, fenced=True) as session:
            (memory,) = arena.in_turn(session, [workload], [plan], self._rng)
            checked = check_workload(
                memory,
                [draw],
                self._rng,
                deadline_s=self._policy.deadline_cap_s,
                judge=self._rounding.judge(),
            )
        return checked.errors

    def _quick(self, pairs: Sequence[tuple[Workload, str]]) -> list[tuple[Workload, str]]:
        costs = [self._unusual.cost_bytes(*pair) for pair in pairs]
        within = max(QUICK_BYTES, min(costs, default=0))
        return [pair for pair, cost in zip(pairs, costs, strict=True) if cost <= within]

    def _affordable(
        self, kernel: Planned, pairs: Sequence[tuple[Workload, str, int]], most: int | None
    ) -> Iterator[tuple[Workload, Draw]]:
        """A draw for each pair that the shape admits, made when it is asked for, as large ones take
        much room; the seed's own errors on it are known then.

        pairs: each with how many bytes of references all may take up to it.
        """
        tried: set[tuple[str, str]] = set()
        made_bytes = 0
        for workload, values, most_bytes in pairs:
            cost_bytes = self._unusual.cost_bytes(workload, values)
            if len(tried) == most or (tried and made_bytes + cost_bytes > most_bytes):
                continue
            if (workload.label, values) in tried:
                continue
            self._rounding.calibrate(kernel.id, [workload], {workload.label: [values]})
            made_bytes += cost_bytes
            for draw in self._unusual.draws(workload, [values]):
                tried.add((workload.label, values))
                yield workload, draw

    def sweep(self, kernel: KernelSource, compiled: Compiled) -> None:
        """Once on each of many small random shapes, on one draw that never comes again.

        Raises Rejected, as on any held-out shape; AnchorFailed: the seed spoils the device.
        """
        shapes = swept_shapes(kernel, self._task, self._device.info.backend, self._rng)
        draws = [(shape, self._pool.fresh(shape, self._rng)) for shape in shapes]
        borne = self._rounding.swept(draws) if draws else []
        if borne:
            self._run_swept(kernel, compiled, borne)

    def _run_swept(
        self, kernel: Planned, compiled: Compiled, draws: Sequence[tuple[Workload, Draw]]
    ) -> None:
        shapes = [shape for shape, _ in draws]
        plans = [kernel.plan(self._task, shape, self._device.info.target) for shape in shapes]
        for shape, plan in zip(shapes, plans, strict=True):
            with on(shape):
                check_limits(plan, self._device.info)
        arena, judge = Arena(self._task, shapes, plans), self._judge or HostJudge()
        with self._device.open(compiled, memory_bytes=arena.nbytes, fenced=True) as session:
            memories = arena.in_turn(session, shapes, plans, self._rng)
            for memory, (_, draw) in zip(memories, draws, strict=True):
                deadline_s = self._policy.deadline_cap_s
                check_workload(memory, [draw], self._rng, deadline_s=deadline_s, judge=judge)

    def endurance(self, kernel: KernelSource, compiled: Compiled) -> str:
        """On the smallest shape of the tests; where the policy is thorough, also on a random one of
        the benchmarks. Returns what check_endurance() tells. Raises Rejected."""
        told = ""
        backend = self._device.info.backend
        tests = self._task.workloads("tests", backend)
        if tests:
            smallest = min(tests, key=self._task.nbytes)
            told = self._endure(kernel, compiled, smallest, ENDURED_US)
        benchmarks = self._task.workloads("benchmarks", backend)
        if self._policy.thorough and benchmarks:
            large = benchmarks[int(self._rng.integers(len(benchmarks)))]
            told = self._endure(kernel, compiled, large, ENDURED_LARGE_US) or told
        return told

    def _endure(
        self, kernel: KernelSource, compiled: Compiled, workload: Workload, endured_us: float
    ) -> str:
        plan = kernel.plan(self._task, workload, self._device.info.target)
        arena = Arena(self._task, [workload], [plan])
        draws = self._pool.draws(workload, self._rng, 2)
        # a judge on the device draws for itself, from numbers alone
        near = self._pool.near(workload, draws[0], self._rng) if self._judge is None else None
        with self._device.open(compiled, memory_bytes=arena.nbytes) as session:
            (memory,) = arena.in_turn(session, [workload], [plan], self._rng)
            return check_endurance(
                memory,
                draws,
                self._rng,
                endured_us=endured_us,
                deadline_s=self._policy.deadline_cap_s,
                most_at_once=self._policy.max_launches,
                judge=self._rounding.judge(),
                near=near,
            )
