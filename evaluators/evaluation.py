"""What became of one kernel: Status, Rejected, Evaluation."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from evaluators.device_info import DeviceInfo
from evaluators.weights import Weights, of_whole, over_shapes

HARNESS_VERSION = "13"
"""Raise it when a change here can change a verdict or a time: campaigns store it with each
session, and measure their best again under another one."""


class Status(StrEnum):
    """The verdict on a kernel. A bad kernel is a value, never an exception that escapes."""

    PASSED = "PASSED"
    STOPPED_EARLY = "STOPPED_EARLY"  # shown to be hopelessly slower on every shape
    INVALID = "INVALID"  # front matter, or a construct that no backend allows
    UNSUPPORTED = "UNSUPPORTED"  # fine elsewhere, not on this backend
    COMPILE_ERROR = "COMPILE_ERROR"
    LAUNCH_ERROR = "LAUNCH_ERROR"  # too many threads, too much LDS, wrong arguments
    WRONG = "WRONG"  # wrong numbers, writes where it may not, unstable results
    FORBIDDEN = "FORBIDDEN"  # tried what the sandbox forbids
    CRASHED = "CRASHED"
    TIMEOUT = "TIMEOUT"


class Rejected(Exception):
    """A kernel that failed at some stage: a status and one sentence a person understands.

    Raised inside the cascade, turned into an Evaluation at its end. Broken
    infrastructure raises something else and propagates. killed: its process was ended from
    outside (SIGKILL), by a person or for want of memory, which may say nothing about the kernel.
    trespass: it wrote outside of its buffers, so that what shares memory with it may be spoilt.
    race: it was seen to do what no order of its threads makes right, whatever it computed.
    doubtful: the task's own check() or epilogue() raised, for which the task may be to blame.
    inexact: within the tolerance, but not as exact as the naive seed, maybe on other draws.
    """

    def __init__(
        self,
        status: Status,
        reason: str,
        *,
        log: str = "",
        line: int | None = None,
        killed: bool = False,
        trespass: bool = False,
        race: bool = False,
        doubtful: bool = False,
        inexact: bool = False,
    ) -> None:
        super().__init__(status, reason)
        self.status = status
        self.reason = reason if line is None else f"line {line}: {reason}"
        self.log = log
        self.line = line
        self.killed = killed
        self.trespass = trespass
        self.race = race
        self.doubtful = doubtful
        self.inexact = inexact

    def saying(self, reason: str) -> "Rejected":
        """The same, on the same line, with another sentence."""
        said = Rejected(
            self.status,
            reason,
            log=self.log,
            killed=self.killed,
            trespass=self.trespass,
            race=self.race,
            doubtful=self.doubtful,
            inexact=self.inexact,
        )
        said.line = self.line
        return said

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_rejected, (
            self.status,
            self.reason,
            self.log,
            self.killed,
            self.trespass,
            self.race,
            self.doubtful,
            self.inexact,
        )

    def __str__(self) -> str:
        return f"{self.status}: {self.reason}"


def _rebuild_rejected(
    status: Status,
    reason: str,
    log: str,
    killed: bool,
    trespass: bool,
    race: bool,
    doubtful: bool,
    inexact: bool,
) -> Rejected:
    return Rejected(
        status,
        reason,
        log=log,
        killed=killed,
        trespass=trespass,
        race=race,
        doubtful=doubtful,
        inexact=inexact,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """A kernel beside a baseline that its task names.

    ratio: the baseline's time over the kernel's, estimate and 95% interval, which is to hold a
    later measurement; gains: ln of it by label. refused: where there is none, why, as "was ...".
    """

    ratio: tuple[float, float, float] | None = None
    gains: Mapping[str, float] = field(default_factory=dict)
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """One measurement of one kernel on one device. Append-only: measuring again adds another.

    times_us: median microseconds by workload label; present if and only if PASSED and timed.
    costs: of a kernel that passed where nothing is timed (see DeviceInfo.timed), in place of times:
        estimated issue cycles a SIMD by label, by which kernels are ordered (measuring/cost.py).
    blocks: by workload label, paired ln(anchor time / candidate time), one a block.
    gains: by workload label, ln(naive seed's time / kernel's time), paired through every link; or
        the same of costs.
    links: how many links lead from the naive seed to the anchor.
    weights: how much each shape counts, by label; {}: all the same.
    speedup, ci95, ci99: geometric mean, with these weights, over the benchmark shapes of the ratio
        to the naive seed, with bootstrap intervals over the blocks of every link (seed .. anchor ..
        kernel).
    speed_of_light: by workload label, roof / measured time (1.0 is the roofline). arithmetic: whose
        peak that roof is of, the fastest that the task admits; "" where none is known.
    errors: by "label/output", the largest fraction seen in the checks of the tightest limit: the
        task's tolerance, or the error that is left of its naive seed's (checks/budget.py).
    seconds: wall seconds by stage (compile, check, time, and device: how long the device was held).
    telemetry: clocks, power and temperature after the measurement, as far as the device tells.
    sittings: how many, in new processes, speedup and intervals are from; 0: one race, in the
        search. busy: a sentence where the machine was busy meanwhile.
    launching_us: by label, microseconds that launching alone takes, where that is most of its time.
    baselines: beside those that the task names for the backend, by name, from the same sittings.
    advice: sentences on the instructions that were executed. left_out: labels of the shapes, told
        to a kernel's author, on which it was not checked, as an emulated device would take long.
    """

    kernel_id: str
    task_hash: str
    device_class: str
    status: Status
    reason: str = ""
    log: str = ""
    times_us: Mapping[str, float] = field(default_factory=dict)
    blocks: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    gains: Mapping[str, float] = field(default_factory=dict)
    links: int = 0
    anchor_id: str | None = None
    speedup: float | None = None
    ci95: tuple[float, float] | None = None
    ci99: tuple[float, float] | None = None
    speed_of_light: Mapping[str, float] = field(default_factory=dict)
    arithmetic: str = ""
    errors: Mapping[str, float] = field(default_factory=dict)
    resources: tuple[Mapping[str, Any], ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    telemetry: Mapping[str, float] = field(default_factory=dict)
    device: str = ""
    engine: str = ""
    compiler: str = ""
    harness: str = HARNESS_VERSION
    sittings: int = 0
    busy: str = ""
    costs: Mapping[str, float] = field(default_factory=dict)
    advice: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    weights: Weights = field(default_factory=dict)
    launching_us: Mapping[str, float] = field(default_factory=dict)
    baselines: Mapping[str, Beside] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.status is Status.PASSED) != bool(self.times_us or self.costs):
            raise ValueError(f"times_us go with PASSED and with nothing else, not {self.status}")
        if self.costs and (self.times_us or self.speedup is not None):
            raise ValueError("costs are of what was not timed: no times_us or speedup go with them")
        if self.status is not Status.PASSED and not self.reason:
            raise ValueError(f"{self.status} needs a reason")

    @property
    def passed(self) -> bool:
        return self.status is Status.PASSED

    @property
    def timed(self) -> bool:
        """False of a kernel that passed on a device that is not timed."""
        return not self.costs

    @property
    def over_seed(self) -> float | None:
        """By what kernels are ordered: the speedup; of what was not timed the naive seed's cost
        over the kernel's. No figure to show without saying which of the two it is."""
        if self.costs:
            return math.exp(over_shapes(self.gains, self.weights))
        return self.speedup

    @property
    def whole(self) -> float | None:
        """How many times as fast as with the naive seed all calls together are; see of_whole()."""
        return of_whole(self.times_us, self.gains, self.weights)


def failed(
    kernel_id: str,
    task_hash: str,
    device_class: str,
    rejected: Rejected,
    *,
    info: DeviceInfo | None = None,
    seconds: Mapping[str, float] | None = None,
) -> Evaluation:
    """A rejection as a value."""
    return Evaluation(
        kernel_id=kernel_id,
        task_hash=task_hash,
        device_class=device_class,
        status=rejected.status,
        reason=rejected.reason,
        log=rejected.log,
        seconds=dict(seconds or {}),
        device=info.name if info else "",
        engine=info.engine if info else "",
        compiler=info.compiler if info else "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a kernel is right on a suite of shapes. errors: as in Evaluation."""

    status: Status
    reason: str = ""
    log: str = ""
    errors: Mapping[str, float] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return self.status is Status.PASSED
