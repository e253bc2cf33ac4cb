"""Evaluator: checks and times compiled kernels on one device."""

import math
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

import numpy as np

from evaluators.checks.arena import Arena
from evaluators.checks.check import check_workload
from evaluators.checks.compare import check_limits
from evaluators.checks.conditioning import Reference
from evaluators.checks.disclosure import WITHHELD, on, withholding
from evaluators.checks.inputs import Draw, InputPool
from evaluators.checks.judge import Judge
from evaluators.checks.shapes import SMALL_BYTES, shapes_for
from evaluators.checks.values import UnusualDraws
from evaluators.device import Compiled, Device
from evaluators.evaluation import Evaluation, Rejected, Status, Verdict, failed
from evaluators.kernel.source import KernelSource
from evaluators.measuring.further_checks import FurtherChecks
from evaluators.measuring.intervals import speedup
from evaluators.measuring.kills import despite_kills
from evaluators.measuring.lane import Lane
from evaluators.measuring.policy import Anchor, TimingPolicy, policy_of
from evaluators.measuring.race import Race, StoppedEarly, applications_wanted, blaming_anchor
from evaluators.measuring.rounding import Rounding
from evaluators.measuring.speed_of_light import speed_of_light
from evaluators.measuring.trusted_kernels import Naive
from evaluators.measuring.watch import Watch
from evaluators.tasks.arguments import SUITES, Suite, Workload
from evaluators.tasks.task import Task

ENDURANCE = 40
"""Launches of a kernel on its smallest shape, with nothing restored between them."""
PAIRS = 2
"""Of a large shape and a class of unusual values, for a kernel that is ahead in the search."""
SLOW_US = 50_000.0
"""A benchmark shape that takes longer is checked once here; its timed runs are checked too."""


class Evaluator:
    """Checks and times compiled kernels on one device, which it does not own.

    secret: the campaign's; inputs are drawn from it. policy: by default the backend's.
    judge: where data comes from and is judged, by default the host. naive: see Rounding.
    reference: see UnusualDraws.
    """

    def __init__(
        self,
        *,
        task: Task,
        device: Device,
        secret: int,
        policy: TimingPolicy | None = None,
        pool: InputPool | None = None,
        judge: Judge | None = None,
        naive: Naive | None = None,
        reference: Reference | None = None,
    ) -> None:
        self.task = task
        self.device = device
        self.backend = device.info.backend
        self.policy = policy or policy_of(self.backend)
        self.pool = pool or InputPool(task, secret=secret)
        self._judge = judge
        self.benchmarks = task.workloads("benchmarks", self.backend)
        self.rng = np.random.default_rng(secrets.randbits(128))
        self._anchor_us: dict[str, dict[str, float]] = {}  # by anchor id, then label
        self._pairs = None if self.policy.thorough else PAIRS
        self._unusual = UnusualDraws(task, self.pool, self.rng, reference=reference)
        self._rounding = Rounding(
            task,
            device,
            self.pool,
            self._unusual,
            self.policy,
            self.rng,
            judge=judge,
            naive=naive,
        )
        self._watch = Watch(task, device, self.pool, self.rng, self._check)

        self._further = FurtherChecks(
            task,
            device,
            self.pool,
            self._unusual,
            self._rounding,
            self.policy,
            self.rng,
            judge=judge,
        )

    def measure(
        self,
        kernel: KernelSource,
        compiled: Compiled,
        anchor: Anchor | None,
        best: Mapping[str, float] | None = None,
    ) -> Evaluation:
        """Check, then time against the anchor; without one, the kernel is the naive seed.

        best: ln(anchor time / best time) by benchmark label; without it nothing stops early.
        Raises AnchorFailed and what broken infrastructure raises; never Rejected.
        """
        seconds = {"compile": compiled.seconds}
        try:
            with _clock(seconds, "device"):
                errors, race, untried = despite_kills(
                    lambda: self._check_and_time(kernel, compiled, anchor, best, seconds)
                )
            times_us = race.medians_us()
            light = speed_of_light(self.task, self.benchmarks, self.device.info, times_us)
        except StoppedEarly as stopped:
            rejected = Rejected(Status.STOPPED_EARLY, stopped.reason, log=stopped.log)
            return self._failed(kernel, rejected, seconds)
        except Rejected as rejected:
            return self._failed(kernel, rejected, seconds)
        blocks = {label: tuple(values) for label, values in race.blocks.items() if values}
        links = anchor.links if anchor is not None else ()
        estimate, *ci95 = speedup(blocks, links, 0.95)
        _, *ci99 = speedup(blocks, links, 0.99)
        info = self.device.info
        return Evaluation(
            kernel_id=kernel.id,
            task_hash=self.task.hash,
            device_class=info.device_class,
            status=Status.PASSED,
            log="\n".join(filter(None, (compiled.log, untried))),
            times_us=times_us,
            blocks=blocks,
            anchor_id=anchor.kernel_id if anchor is not None else None,
            speedup=estimate,
            ci95=(ci95[0], ci95[1]),
            ci99=(ci99[0], ci99[1]),
            speed_of_light=light,
            errors=errors,
            resources=compiled.resources,
            seconds=seconds,
            device=info.name,
            engine=compiled.engine,
            compiler=compiled.compiler,
        )

    def _check_and_time(
        self,
        kernel: KernelSource,
        compiled: Compiled,
        anchor: Anchor | None,
        best: Mapping[str, float] | None,
        seconds: dict[str, float],
    ) -> tuple[dict[str, float], Race, str]:
        """See measure(): the errors of the checks, the race that was run, what was not tried."""
        itself = anchor is not None and anchor.kernel_id == kernel.id
        expected_us = {} if itself else self._expected_us(anchor)
        with _clock(seconds, "check"), self._watch.telling(kernel):
            shapes = workloads_of(self.task, ("tests", "benchmarks"), self.backend)
            errors, taken_us = self._check(kernel, compiled, shapes, expected_us)
        if anchor is not None and itself:  # it was just checked, as the candidate it is
            self._anchor_us.setdefault(anchor.kernel_id, taken_us)
        with _clock(seconds, "time"), self._racing(kernel, compiled, anchor, taken_us) as race:
            race.run(best if anchor is not None else None)
            ahead = anchor is not None and race.ahead()
            if ahead:
                race.check_memory()
        further = ahead or self.policy.thorough
        untried = self._check_further(kernel, compiled, ahead=ahead) if further else ""
        return errors, race, untried

    def _check_further(self, kernel: KernelSource, compiled: Compiled, *, ahead: bool) -> str:
        """For a kernel that would win. Returns what was not tried."""
        self._further.endurance(kernel, compiled)
        self._further.unusual_values(kernel, compiled, self.benchmarks, most=self._pairs)
        return self._watch.order(kernel) if ahead else ""

    def watch(self, kernel: KernelSource) -> Verdict:
        """Whether the backend's oracle sees a race on any shape; its log: what was not tried."""
        try:
            untried = despite_kills(lambda: self._watch.everywhere(kernel))
        except Rejected as rejected:
            return Verdict(status=rejected.status, reason=rejected.reason, log=rejected.log)
        return Verdict(status=Status.PASSED, log=untried)

    def link(
        self, kernel: KernelSource, compiled: Compiled, anchor: Anchor
    ) -> dict[str, tuple[float, ...]]:
        """Paired ln(anchor time / kernel time) by label for a new epoch's anchor.

        Raises Rejected when the kernel, which passed before, fails now; AnchorFailed.
        """
        return despite_kills(lambda: self._link(kernel, compiled, anchor))

    def _link(
        self, kernel: KernelSource, compiled: Compiled, anchor: Anchor
    ) -> dict[str, tuple[float, ...]]:
        with self._racing(kernel, compiled, anchor, {}) as race:
            race.run_link()
        return {label: tuple(values) for label, values in race.blocks.items()}

    def verify(
        self, kernel: KernelSource, compiled: Compiled, suite: Suite = "held_out"
    ) -> Verdict:
        """Whether the kernel is right on the shapes of a suite; yes when the suite is empty."""
        if suite == "held_out" and not compiled.held_out:
            return Verdict(status=Status.WRONG, reason=WITHHELD)
        try:
            with withholding(suite):
                errors = despite_kills(lambda: self._verify(kernel, compiled, suite))
        except Rejected as rejected:
            return Verdict(status=rejected.status, reason=rejected.reason, log=rejected.log)
        return Verdict(status=Status.PASSED, errors=errors)

    def _verify(self, kernel: KernelSource, compiled: Compiled, suite: Suite) -> dict[str, float]:
        """Errors by "label/output". Raises Rejected."""
        shapes = self._borne(shapes_for(kernel, self.task, suite, self.backend))
        if not shapes:
            return {}
        errors, _ = self._check(kernel, compiled, shapes, {})
        if suite == "tests":
            return errors  # with their own unusual values
        large = [w for w in shapes if self.task.nbytes(w) > SMALL_BYTES] or shapes[:1]
        further = self._further.unusual_values(kernel, compiled, large, most=self._pairs)
        return {key: max(error, further.get(key, 0.0)) for key, error in errors.items()}

    def _borne(self, shapes: Sequence[Workload]) -> list[Workload]:
        """Without those that the task does not state and that its seed is not right on."""
        stated = {w.label for suite in SUITES for w in self.task.workloads(suite, self.backend)}
        return [w for w in shapes if w.label in stated or self._rounding.bears(w)]

    def _failed(
        self, kernel: KernelSource, rejected: Rejected, seconds: Mapping[str, float]
    ) -> Evaluation:
        info = self.device.info
        return failed(
            kernel.id, self.task.hash, info.device_class, rejected, info=info, seconds=seconds
        )

    def _expected_us(self, anchor: Anchor | None) -> Mapping[str, float]:
        """The anchor's times by label, from which deadlines follow; measured when first met."""
        if anchor is None:
            return {}
        if anchor.kernel_id not in self._anchor_us:
            with blaming_anchor():
                _, taken_us = self._check(anchor.kernel, anchor.compiled, self.benchmarks, {})
            self._anchor_us[anchor.kernel_id] = taken_us
        return self._anchor_us[anchor.kernel_id]

    def _check(
        self,
        kernel: KernelSource,
        compiled: Compiled,
        workloads: Sequence[Workload],
        expected_us: Mapping[str, float],
    ) -> tuple[dict[str, float], dict[str, float]]:
        """Errors by "label/output", and roughly how long a run took by label.

        A draw is repeated at the end: it must agree with itself whatever ran in between. Each
        class of unusual values comes on one of the tests' shapes, for the naive seed on all.
        Raises Rejected, and AnchorFailed where the seed fails (see Rounding.calibrate).
        """
        plans = [kernel.plan(self.task, w.dims) for w in workloads]
        for workload, plan in zip(workloads, plans, strict=True):
            with on(workload):
                check_limits(plan, self.device.info)
        tests = self.task.workloads("tests", self.backend)
        everywhere = kernel.id == self._rounding.seed_id
        unusual = self._unusual.chosen(tests, workloads, everywhere=everywhere)
        self._rounding.calibrate(kernel.id, workloads, unusual)
        arena = Arena(self.task, workloads, plans)
        errors: dict[str, float] = {}
        taken_us: dict[str, float] = {}
        quick = self.policy.deadline_s(min(expected_us.values(), default=None))
        with self.device.open(compiled, memory_bytes=arena.nbytes, fenced=True) as session:
            for memory in arena.in_turn(session, workloads, plans, self.rng):
                workload = memory.workload
                expected = expected_us.get(workload.label)
                first, second = self._draws(workload, fresh=workload == arena.smallest)
                timed = workload in self.benchmarks
                draws = [first, second] if timed else [first, second, first]
                checked = check_workload(
                    memory,
                    [*draws, *self._unusual.draws(workload, unusual.get(workload.label, ()))],
                    self.rng,
                    deadline_s=quick if expected is None else self.policy.deadline_s(expected),
                    slow_us=SLOW_US if timed else math.inf,
                    endurance=self._endurance(workload, arena),
                    judge=self._judge,
                )
                errors.update(checked.errors)
                taken_us[workload.label] = checked.run_us
        return errors, taken_us

    def _endurance(self, workload: Workload, arena: Arena) -> int:
        small = workload == arena.smallest and workload.suite == "tests"
        return ENDURANCE if small else 0

    def _draws(self, workload: Workload, *, fresh: bool) -> tuple[Draw, Draw]:
        """Two of the pool, or one of them fresh: so too where data of the size are quickly made."""
        first, second = self.pool.draws(workload, self.rng, 2)
        if fresh or first.nbytes <= self.policy.fresh_bytes:
            first = self.pool.fresh(workload, self.rng)
        return first, second

    @contextmanager
    def _racing(
        self,
        kernel: KernelSource,
        compiled: Compiled,
        anchor: Anchor | None,
        taken_us: Mapping[str, float],
    ) -> Iterator[Race]:
        """A race, warmed up, in sessions that the check has not seen."""
        with ExitStack() as stack:
            anchor_us = self._expected_us(anchor)
            times = (taken_us, anchor_us) if anchor is not None else (taken_us,)
            first = Lane(
                self.device,
                self.task,
                self.benchmarks,
                kernel,
                compiled,
                self.policy,
                wanted=applications_wanted(times, self.policy),
                judge=self._judge,
            )
            lanes = [stack.enter_context(first)]
            if anchor is not None:
                with blaming_anchor():
                    second = Lane(
                        self.device,
                        self.task,
                        self.benchmarks,
                        anchor.kernel,
                        anchor.compiled,
                        self.policy,
                        beside=first,
                    )
                lanes.append(stack.enter_context(second))
            race = Race(
                lanes,
                self.benchmarks,
                self.pool,
                self.policy,
                self.rng,
                expected_us=(taken_us, anchor_us),
            )
            race.warm_up()
            yield race
            if anchor is not None:
                self._anchor_us[anchor.kernel_id] = race.medians_us(1)


def workloads_of(task: Task, suites: Sequence[Suite], backend: str) -> list[Workload]:
    """The suites' shapes on a backend, each once."""
    found: dict[str, Workload] = {}
    for suite in suites:
        for workload in task.workloads(suite, backend):
            found.setdefault(workload.label, workload)
    return list(found.values())


@contextmanager
def _clock(seconds: dict[str, float], stage: str) -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        seconds[stage] = time.perf_counter() - started
