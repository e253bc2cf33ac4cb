"""Evaluator: checks and times compiled kernels on one device."""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evaluators.checks.conditioning import References
from evaluators.checks.disclosure import WITHHELD, withholding
from evaluators.checks.inputs import InputPool
from evaluators.checks.judge import Judge
from evaluators.checks.shapes import SHOWN
from evaluators.device import Compiled, Device
from evaluators.evaluation import Evaluation, Rejected, Status, Verdict, failed
from evaluators.kernel.baseline import Planned
from evaluators.kernel.source import KernelSource
from evaluators.measuring.arithmetic import arithmetics
from evaluators.measuring.correctness import Correctness
from evaluators.measuring.intervals import gains, speedup
from evaluators.measuring.kills import despite_kills
from evaluators.measuring.launch_cost import LaunchCost
from evaluators.measuring.policy import (
    Anchor,
    BaselineAnchor,
    Rival,
    TimingPolicy,
    policy_of,
    timed_shapes,
)
from evaluators.measuring.race import Race, StoppedEarly, blaming_anchor
from evaluators.measuring.racing import Racing
from evaluators.measuring.speed_of_light import speed_of_light
from evaluators.measuring.trusted_kernels import Naive, compiled_empty
from evaluators.tasks.arguments import SUITES, Suite
from evaluators.tasks.task import Task
from evaluators.weights import weights_of

if TYPE_CHECKING:  # most who evaluate never probe, and most devices are timed
    from evaluators.measuring.untimed import Untimed
    from evaluators.probes.probe import Answer, BuiltProbe


class Evaluator:
    """Checks and times compiled kernels on one device, which it does not own.

    secret: the campaign's; inputs are drawn from it. policy: by default the backend's.
    judge: where data comes from and is judged, by default the host. naive: see Rounding.
    references: see UnusualDraws. empty: see Trusted; by default compiled when it is first needed.
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
        references: References | None = None,
        empty: Compiled | None = None,
    ) -> None:
        self.task = task
        self.device = device
        self.backend = device.info.backend
        self.policy = policy or policy_of(self.backend)
        self.pool = pool or InputPool(task, secret=secret)
        stated = task.workloads("benchmarks", self.backend)
        self.benchmarks = timed_shapes(stated, self.policy.shapes)
        self._weights = weights_of(stated)
        self.rng = np.random.default_rng(secrets.randbits(128))
        given = (task, device, self.pool, self.policy, self.rng)
        self._launch_cost = LaunchCost(
            device, lambda: empty or compiled_empty(device.info), self.policy
        )
        self.correctness = Correctness(*given, judge=judge, naive=naive, references=references)
        self._racing = Racing(*given, judge=self.correctness.judge)

    def measure(
        self,
        kernel: KernelSource,
        compiled: Compiled,
        anchor: Anchor | None,
        best: Mapping[str, float] | None = None,
    ) -> Evaluation:
        """Check, then time against the anchor; without one, the kernel is the naive seed.

        best: ln(anchor time / best time) by benchmark label; without it nothing stops early. Who
        seems to be faster than it is checked further, as all are where the policy is thorough.
        Raises AnchorFailed and what broken infrastructure raises.
        """
        if not self.device.info.timed:
            return self._untimed.checked(kernel, compiled, anchor)
        seconds = {"compile": compiled.seconds}
        try:
            with _clock(seconds, "device"):
                errors, race, untried = despite_kills(
                    lambda: self._check_and_time(kernel, compiled, anchor, best, seconds)
                )
            times_us = race.medians_us()
            light = speed_of_light(
                self.task, self.benchmarks, self.device.info, times_us, self.policy
            )
        except StoppedEarly as stopped:
            rejected = Rejected(Status.STOPPED_EARLY, stopped.reason, log=stopped.log)
            return self._failed(kernel, rejected, seconds)
        except Rejected as rejected:
            return self._failed(kernel, rejected, seconds)
        blocks = {label: tuple(values) for label, values in race.blocks.items() if values}
        links = anchor.links if anchor is not None else ()
        weights = self._weights
        estimate, *ci95 = speedup(blocks, links, 0.95, weights=weights)
        _, *ci99 = speedup(blocks, links, 0.99, weights=weights)
        info = self.device.info
        return Evaluation(
            kernel_id=kernel.id,
            task_hash=self.task.hash,
            device_class=info.device_class,
            status=Status.PASSED,
            log=self.correctness.told(compiled.log, untried),
            times_us=times_us,
            blocks=blocks,
            gains=gains(blocks, links, times_us),
            links=len(links),
            anchor_id=anchor.kernel_id if anchor is not None else None,
            speedup=estimate,
            ci95=(ci95[0], ci95[1]),
            ci99=(ci99[0], ci99[1]),
            speed_of_light=light,
            arithmetic=arithmetics(self.task, self.benchmarks, info),
            errors=errors,
            resources=compiled.resources,
            seconds=seconds,
            device=info.name,
            engine=compiled.engine,
            compiler=compiled.compiler,
            weights=weights,
            launching_us=self._launch_cost.of(kernel, self.task, self.benchmarks, times_us),
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
        with _clock(seconds, "check"), self.correctness.telling_races(kernel):
            shapes = (*self.task.workloads("tests", self.backend), *self.benchmarks)
            errors, taken_us = self.correctness.check(kernel, compiled, shapes, expected_us)
        if anchor is not None and itself:  # it was just checked, as the candidate it is
            self._racing.anchor_us.setdefault(anchor.kernel_id, taken_us)
        self._expected_us(anchor)
        with (
            _clock(seconds, "time"),
            self._racing.race(kernel, compiled, anchor, taken_us) as race,
        ):
            race.run(best if anchor is not None else None)
            ahead = anchor is not None and race.ahead()
            if ahead:
                race.check_memory()
            wins = ahead and best is not None and race.ahead(best)
        further = wins or self.policy.thorough
        untried = self.correctness.check_further(kernel, compiled) if further else ""
        return errors, race, untried

    @cached_property
    def _untimed(self) -> "Untimed":
        from evaluators.measuring.untimed import Untimed

        return Untimed(self.task, self.device.info, self.correctness)

    def watch(self, kernel: KernelSource) -> Verdict:
        """Whether the backend's oracle sees a race on any shape; its log: what was not tried."""
        return _told(lambda: self.correctness.watch(kernel))

    def races(self, kernel: KernelSource, *, most_bytes: float) -> Verdict:
        """The same, on shapes within so many bytes; no word of conditions that never held."""
        return _told(lambda: self.correctness.races(kernel, most_bytes))

    def fit(self, baseline: BaselineAnchor) -> Verdict:
        """Whether a baseline is right, as a kernel must be: a kernel on the shapes of all suites,
        another on those shown. UNSUPPORTED: what it needs is not installed here."""
        suites = SUITES if isinstance(baseline.kernel, KernelSource) else SHOWN
        for suite in suites:
            verdict = self._verified(baseline.kernel, baseline.compiled, suite)
            if not verdict.passed:
                return verdict
        return verdict

    def beside(
        self, kernel: KernelSource, compiled: Compiled, baseline: BaselineAnchor
    ) -> dict[str, tuple[float, ...]]:
        """Paired ln(baseline's time / kernel's time) by label, as link() has it of an anchor."""
        return despite_kills(lambda: self._link(kernel, compiled, baseline))

    def link(
        self, kernel: KernelSource, compiled: Compiled, anchor: Anchor
    ) -> dict[str, tuple[float, ...]]:
        """Paired ln(anchor time / kernel time) by label for a new epoch's anchor.

        Raises Rejected when the kernel fails now, or nothing is timed; AnchorFailed."""
        if not self.device.info.timed:
            raise Rejected(Status.UNSUPPORTED, "nothing is timed on an emulated device")
        return despite_kills(lambda: self._link(kernel, compiled, anchor))

    def _link(
        self, kernel: KernelSource, compiled: Compiled, anchor: Rival
    ) -> dict[str, tuple[float, ...]]:
        with self._racing.race(kernel, compiled, anchor, {}) as race:
            race.run_link()
        return {label: tuple(values) for label, values in race.blocks.items()}

    def verify(
        self, kernel: KernelSource, compiled: Compiled, suite: Suite = "held_out"
    ) -> Verdict:
        """Whether the kernel is right on the shapes of a suite; yes when the suite is empty."""
        return self._verified(kernel, compiled, suite)

    def _verified(self, kernel: Planned, compiled: Compiled, suite: Suite) -> Verdict:
        if suite == "held_out" and not compiled.held_out:
            return Verdict(status=Status.WRONG, reason=WITHHELD)
        try:
            with withholding(suite):
                errors = despite_kills(
                    lambda: self.correctness.check_suite(kernel, compiled, suite)
                )
        except Rejected as rejected:
            return Verdict(status=rejected.status, reason=rejected.reason, log=rejected.log)
        return Verdict(status=Status.PASSED, errors=errors)

    def probe(self, built: "BuiltProbe") -> "Answer":
        """What a probe finds here, or how it failed. Raises what broken infrastructure raises."""
        from evaluators.probes.probe import Answer
        from evaluators.probes.run import answer

        try:
            return despite_kills(lambda: answer(self.device, built))
        except Rejected as rejected:
            return Answer.of_rejected(built.probe.text, rejected)

    def _failed(
        self, kernel: KernelSource, rejected: Rejected, seconds: Mapping[str, float]
    ) -> Evaluation:
        info = self.device.info
        return failed(
            kernel.id, self.task.hash, info.device_class, rejected, info=info, seconds=seconds
        )

    def _expected_us(self, anchor: Anchor | None) -> Mapping[str, float]:
        """The anchor's times by label, from which deadlines follow; first it is checked."""
        if anchor is None:
            return {}
        if anchor.kernel_id not in self._racing.anchor_us:
            with blaming_anchor():
                _, taken_us = self.correctness.check(
                    anchor.kernel, anchor.compiled, self.benchmarks, {}
                )
            self._racing.anchor_us[anchor.kernel_id] = taken_us
        return self._racing.anchor_us[anchor.kernel_id]


def _told(check: Callable[[], str]) -> Verdict:
    """What a check raises, or its log."""
    try:
        return Verdict(status=Status.PASSED, log=despite_kills(check))
    except Rejected as rejected:
        return Verdict(status=rejected.status, reason=rejected.reason, log=rejected.log)


@contextmanager
def _clock(seconds: dict[str, float], stage: str) -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        seconds[stage] = time.perf_counter() - started
