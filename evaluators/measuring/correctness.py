"""Correctness: whether kernels are right on one device, by all checks that are made of them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from evaluators.checks.check import check_workload, most_blocks
from evaluators.checks.compare import check_limits
from evaluators.checks.conditioning import References
from evaluators.checks.disclosure import on
from evaluators.checks.inputs import Draw, InputPool
from evaluators.checks.judge import Judge
from evaluators.checks.memory import Arena
from evaluators.checks.shapes import SMALL_BYTES, shapes_for, split, unmet_conditions
from evaluators.checks.values import UnusualDraws
from evaluators.device import Compiled, Device
from evaluators.evaluation import Rejected
from evaluators.kernel.baseline import Planned
from evaluators.kernel.source import KernelSource
from evaluators.measuring.further_checks import FurtherChecks
from evaluators.measuring.policy import TimingPolicy
from evaluators.measuring.rounding import Rounding
from evaluators.measuring.trusted_kernels import Naive
from evaluators.measuring.watch import Watch
from evaluators.tasks.arguments import SUITES, Suite, TaskError, Workload
from evaluators.tasks.own_check import hosted
from evaluators.tasks.task import Task

if TYPE_CHECKING:  # most devices are timed
    from evaluators.measuring.counting import Counter

ENDURANCE = 40
"""Launches of a kernel on its smallest shape, with nothing restored between them."""
PAIRS = 2
"""Of a large shape and a class of unusual values, for a kernel that is ahead in the search."""
SLOW_US = 50_000.0
"""A benchmark shape that takes longer is checked once here; its timed runs are checked too."""


class Correctness:
    """Checks kernels; for an Evaluator, whose pool of inputs and generator it draws from.

    judge, naive, references: see Evaluator. Every check raises Rejected, and AnchorFailed where
    the naive seed fails (see Rounding.calibrate).
    """

    def __init__(
        self,
        task: Task,
        device: Device,
        pool: InputPool,
        policy: TimingPolicy,
        rng: np.random.Generator,
        *,
        judge: Judge | None,
        naive: Naive | None,
        references: References | None,
    ) -> None:
        self._task, self._device, self._pool = task, device, pool
        self._policy, self._rng = policy, rng
        self._backend = device.info.backend
        self._benchmarks = task.workloads("benchmarks", self._backend)
        self._pairs = None if policy.thorough else PAIRS
        self._unusual = UnusualDraws(task, pool, rng, references=references)
        self._rounding = Rounding(
            task, device, pool, self._unusual, policy, rng, judge=judge, naive=naive
        )
        self._further = FurtherChecks(
            task, device, pool, self._unusual, self._rounding, policy, rng, judge=judge
        )
        self._watch = Watch(
            task,
            device,
            pool,
            rng,
            judge=self.judge,
            check=self.check,
            otherwise=self._rounding.otherwise,
        )

    def counter(self) -> "Counter":
        """What counts instructions on these inputs, within these limits."""
        from evaluators.measuring.counting import Counter

        of = (self._task, self._device, self._pool, self._rounding, self._policy, self._rng)
        return Counter(*of)

    def judge(self) -> Judge:
        """What judges one kernel, or two that race. See Rounding."""
        return self._rounding.judge()

    def check(
        self,
        kernel: Planned,
        compiled: Compiled,
        workloads: Sequence[Workload],
        expected_us: Mapping[str, float],
    ) -> tuple[dict[str, float], dict[str, float]]:
        """Errors by "label/output", and roughly how long a run took by label.

        A draw is repeated at the end: it must agree with itself whatever ran in between. Each
        class of unusual values comes on one of the tests' shapes, for the naive seed on all.
        Raises Rejected, and AnchorFailed where the seed fails (see Rounding.calibrate).
        """
        plans = [kernel.plan(self._task, w, self._device.info.target) for w in workloads]
        for workload, plan in zip(workloads, plans, strict=True):
            with on(workload):
                check_limits(plan, self._device.info)
        tests = self._task.workloads("tests", self._backend)
        everywhere = kernel.id == self._rounding.seed_id
        unusual = self._unusual.chosen(tests, workloads, everywhere=everywhere)
        self._rounding.calibrate(kernel.id, workloads, unusual)
        arena = Arena(self._task, workloads, plans)
        errors: dict[str, float] = {}
        taken_us: dict[str, float] = {}
        judge = self.judge()
        quick = self._policy.deadline_s(min(expected_us.values(), default=None))
        with (
            self._doubting(kernel, workloads),
            self._device.open(compiled, memory_bytes=arena.nbytes, fenced=True) as session,
        ):
            for memory in arena.in_turn(session, workloads, plans, self._rng):
                workload = memory.workload
                expected = expected_us.get(workload.label)
                first, second = self._draws(workload, fresh=workload == arena.smallest)
                timed = workload in self._benchmarks
                draws = [first, second] if timed else [first, second, first]
                checked = check_workload(
                    memory,
                    [*draws, *self._unusual.draws(workload, unusual.get(workload.label, ()))],
                    self._rng,
                    deadline_s=quick if expected is None else self._policy.deadline_s(expected),
                    slow_us=SLOW_US if timed else math.inf,
                    endurance=self._endurance(workload, arena),
                    judge=judge,
                )
                errors.update(checked.errors)
                taken_us[workload.label] = checked.run_us
        return errors, taken_us

    @contextmanager
    def _doubting(self, kernel: Planned, workloads: Sequence[Workload]) -> Iterator[None]:
        """Where the task's own check() raised: raises TaskError where it also does so on the
        outputs of the naive seed."""
        try:
            yield
        except Rejected as rejected:
            seed = kernel.id == self._rounding.seed_id
            if rejected.doubtful and (seed or not all(map(self._rounding.bears, workloads))):
                told = rejected.reason.replace("on these outputs", "on the naive seed's outputs")
                raise TaskError(f"{self._task.own.path}: {told}") from rejected
            raise

    def _endurance(self, workload: Workload, arena: Arena) -> int:
        small = workload == arena.smallest and workload.suite == "tests"
        return ENDURANCE if small else 0

    def _draws(self, workload: Workload, *, fresh: bool) -> tuple[Draw, Draw]:
        """Two of the pool, or one of them fresh: so too where data of the size are quickly made."""
        first, second = self._pool.draws(workload, self._rng, 2)
        if fresh or first.nbytes <= self._policy.fresh_bytes:
            first = self._pool.fresh(workload, self._rng)
        return first, second

    def check_further(self, kernel: KernelSource, compiled: Compiled) -> str:
        """For a kernel that would win. Returns what was not tried, and what it keeps."""
        kept = self._further.endurance(kernel, compiled)
        self._further.unusual_values(kernel, compiled, self._benchmarks, most=self._pairs)
        return "\n".join(filter(None, (kept, self._watch.order(kernel))))

    def told(self, *lines: str) -> str:
        """A log of these lines, as far as there are any, and of what the host does of a check."""
        return "\n".join(filter(None, (*lines, *hosted(self._task))))

    def check_suite(self, kernel: Planned, compiled: Compiled, suite: Suite) -> dict[str, float]:
        """Errors by "label/output"; of a baseline that is no kernel on the shapes that the task
        states. Raises Rejected."""
        stated = self._task.workloads(suite, self._backend)
        if isinstance(kernel, KernelSource):
            stated = shapes_for(kernel, self._task, suite, self._backend)
        shapes = self._borne(self._quick(stated))
        if not shapes:
            return {}
        errors, _ = self.check(kernel, compiled, shapes, {})
        if suite == "tests":
            return errors  # with their own unusual values
        if suite == "held_out" and self._policy.thorough and isinstance(kernel, KernelSource):
            self._further.sweep(kernel, compiled)
        large = [w for w in shapes if self._task.nbytes(w) > SMALL_BYTES] or shapes[:1]
        further = self._further.unusual_values(
            kernel, compiled, large, most=self._pairs, each=self._policy.thorough
        )
        return {key: max(error, further.get(key, 0.0)) for key, error in errors.items()}

    def _quick(self, shapes: Sequence[Workload]) -> Sequence[Workload]:
        """On a device that is emulated those that take little."""
        return shapes if self._device.info.timed else split(self._task, shapes).run

    def _borne(self, shapes: Sequence[Workload]) -> list[Workload]:
        """Without those that the task does not state and that its seed is not right on."""
        stated = {w.label for suite in SUITES for w in self._task.workloads(suite, self._backend)}
        return [w for w in shapes if w.label in stated or self._rounding.bears(w)]

    def watch(self, kernel: KernelSource) -> str:
        """See Watch.everywhere(); told is also which of the kernel's conditions hold nowhere."""
        untried = [
            f"{what} may never have run: no test or benchmark asks for it, nor any shape near them"
            for what in unmet_conditions(kernel, self._task, self._backend)
        ]
        return "\n".join(filter(None, (*untried, self.races(kernel))))

    def races(self, kernel: KernelSource, most_bytes: float = math.inf) -> str:
        """See Watch.everywhere(); on shapes within so many bytes."""
        shapes = [w for w in self._watched(kernel) if self._task.nbytes(w) <= most_bytes]
        return self._watch.everywhere(kernel, shapes)

    def _watched(self, kernel: KernelSource) -> list[Workload]:
        """Every stated shape but the tests', and those derived for the kernel that are much
        smaller, the large ones and of the small ones that with the most blocks: there an oracle
        may get through with all blocks."""
        nbytes = self._task.nbytes
        stated = workloads_of(self._task, ("benchmarks", "held_out"), self._backend)
        most = min(map(nbytes, stated), default=0) // 2
        held_out = shapes_for(kernel, self._task, "held_out", self._backend)
        derived = self._borne([w for w in held_out if w not in stated])
        large = [w for w in derived if SMALL_BYTES < nbytes(w) <= most]
        small = [w for w in derived if nbytes(w) <= SMALL_BYTES]
        small.sort(key=lambda w: most_blocks(kernel.plan(self._task, w, self._device.info.target)))
        return [*stated, *large, *small[-1:]]

    @contextmanager
    def telling_races(self, kernel: KernelSource) -> Iterator[None]:
        """See Watch.telling()."""
        with self._watch.telling(kernel):
            yield


def workloads_of(task: Task, suites: Sequence[Suite], backend: str) -> list[Workload]:
    """The suites' shapes on a backend, each once."""
    found: dict[str, Workload] = {}
    for suite in suites:
        for workload in task.workloads(suite, backend):
            found.setdefault(workload.label, workload)
    return list(found.values())
