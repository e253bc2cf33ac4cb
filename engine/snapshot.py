"""What a running campaign shows of itself, and what a finished one says: Snapshot, Summary."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from engine.store.budget import Left, left
from engine.store.kinds.contests import Contested
from engine.store.kinds.revisions import AnchorWithdrawn
from engine.store.scoreboard import Best
from engine.store.spending import CallBudget, Spending

Bound = Literal["", "compile", "device", "asking"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IslandState:
    """One island at a glance. diversity: effective number of kernel structures. timed: whether
    best_speedup is one, or a ratio of costs."""

    index: int
    cycles: int
    evaluations: int
    population: int
    diversity: float
    best_id: str
    best_speedup: float
    timed: bool = True
    warning: str = ""  # one sentence; empty when all is well
    resting: Mapping[str, str] = field(default_factory=dict)  # role not asked -> why, a sentence
    credit: str = ""  # what is asked next with which chances; empty where credit decides nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatcherState:
    """The dispatcher at a glance; by_status and best over all sessions, the rest over this one."""

    by_status: Mapping[str, int]
    best: Best | None
    epoch: int
    asked: int  # by islands, with what the cache answered
    evaluated: int
    compiling: int  # in a compile task, or queued for one
    ready: int  # compiled, waiting for a device
    measuring: int
    faults: int
    device_busy_s: float  # over all devices
    devices: int = 0  # just now, those in quarantine among them
    offered_s: float = 0.0  # over all devices, since each of them joined
    nodes: int = 1
    notes: tuple[str, ...] = ()  # on nodes of the cluster, a sentence each
    busy_s: Mapping[str, float] = field(default_factory=dict)  # the same, by what they worked on
    idle_devices: int = 0  # that have nothing to do just now, and are well
    latencies_s: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Median and 95th percentile by stage: compile, queue, measure, commit."""
    compile_workers: int = 0  # how many the measured rates ask for
    bound: Bound = ""  # what more of would make the campaign faster; empty: not known yet
    quarantined: int = 0  # devices left alone after faults
    withdrawn: tuple[AnchorWithdrawn, ...] = ()  # anchors, over all sessions
    contesting: int = 0  # what seems faster than the best, and is being measured again
    demotions: tuple[Contested, ...] = ()  # bests that another kernel was shown to be faster than
    wrong: tuple[Contested, ...] = ()  # what seemed faster, and was wrong when looked at again
    tuned: int = 0  # mutations measured in idle device time, over all sessions
    probed: int = 0  # probes answered, over all sessions
    idle: str = ""  # why devices have nothing to do, in a clause; empty where they have


@dataclass(frozen=True, slots=True, kw_only=True)
class Improvement:
    """A kernel took the best's place. at: seconds since 1970.

    before, after: speedups over the naive seed, of the best until then and of this one. contest:
    whether it won by racing the best again; so it is, but in stores of before there were contests.
    """

    at: float
    kernel_id: str
    technique: str
    before: float
    after: float
    contest: bool
    timed: bool = True  # else before and after are ratios of costs


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """An endpoint at which nothing listens. since, until: seconds since 1970; it is waited for
    until then."""

    base_url: str
    since: float
    until: float


Phase = Literal["starting", "running", "stopping", "finished"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A running campaign at a glance; the observer gets one every half second."""

    campaign: str
    run_dir: str
    phase: Phase
    doing: str = ""  # what takes its time just now, where the phase does not say it
    elapsed_s: float  # over all sessions
    session_s: float
    devices: int
    device: str
    dispatcher: DispatcherState
    islands: tuple[IslandState, ...]
    evaluations_left: int | None  # None: no such budget
    seconds_left: float | None
    tracking_trouble: str = ""  # one sentence; empty when all is well
    copy_trouble: str = ""  # the same, of the copies in snapshots.folder
    not_kept: str = ""  # why the task's files are not in the store, where they should be
    tracking_page: str = ""  # the campaign's in MLflow, after the server's address
    findings_refused: tuple[str, ...] = ()  # why findings of others are not used, a sentence each
    too_small: tuple[str, ...] = ()  # shapes of which launching is measured, a sentence each
    calls: Spending | None = None  # of models; None where none is asked
    call_budget: CallBudget = field(default_factory=CallBudget)
    outages: tuple[Outage, ...] = ()  # endpoints that are away, the longest one first
    searching: str = ""  # what can be tried, in a few words
    forecast: str = ""  # what the budgets will buy of models, a sentence; empty where none is asked
    improvements: tuple[Improvement, ...] = ()  # the last few, over all sessions, in order
    paused_since: float | None = None  # in seconds since 1970; None while it is at work

    @property
    def left(self) -> Left:
        """Of every budget that there is."""
        return left(
            evaluations=self.evaluations_left,
            wall_time_s=self.seconds_left,
            calls=self.calls,
            budget=self.call_budget,
        )

    @property
    def evaluations(self) -> int:
        return sum(self.dispatcher.by_status.values())

    @property
    def evaluations_per_s(self) -> float:
        return self.dispatcher.evaluated / self.session_s if self.session_s else 0.0

    @property
    def device_busy_fraction(self) -> float:
        available = self.dispatcher.offered_s or self.session_s * self.devices
        return min(1.0, self.dispatcher.device_busy_s / available) if available else 0.0


NOTHING_YET = DispatcherState(
    by_status={},
    best=None,
    epoch=-1,
    asked=0,
    evaluated=0,
    compiling=0,
    ready=0,
    measuring=0,
    faults=0,
    device_busy_s=0.0,
)
