"""What a dispatcher works with: a way to compile, devices, the store, what bounds them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.dispatch.devices.fleet import Fleet
from engine.dispatch.devices.lane import Lane
from engine.dispatch.workbench import Blocks, Built
from engine.gate import Gate
from engine.store.journal import Journal
from engine.store.kinds.probes import Probed
from engine.store.kinds.profiles import Profiled
from engine.store.kinds.revisions import TellRevised
from engine.store.toolchain import Toolchain
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Verdict
from evaluators.measuring.intervals import Spread
from evaluators.probes.probe import Answer, BuiltProbe, Probe
from evaluators.tasks.baselines import Baseline

CompileProbe = Callable[[str], Awaitable[BuiltProbe | Answer]]
"""Text of a probe file -> compiled, or why it was refused. Raises Broken."""

CALLS_PER_LANE = 2
"""One being measured, one waiting in the evaluator: a device never waits for a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileLimits:
    """What may be profiled. task: as load_task() takes it; tell: hands a profile to the islands.

    most: kernels, over all sessions; share: of the devices' time in this session.
    """

    task: str
    most: int
    share: float
    tell: Callable[[Profiled], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeLimits:
    """Probes beside the search. share: of the devices' time in this session, while kernels wait.

    shipped: the set that is measured where nobody asked. kept: answers of earlier campaigns on
    such devices, by probe id; keep: adds one. tell: hands an answer to the islands.
    """

    share: float
    compile: CompileProbe
    shipped: Sequence[Probe]
    kept: Mapping[str, Answer]
    keep: Callable[[Answer], Awaitable[None]]
    tell: Callable[[Probed], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningLimits:
    """Mutations in idle device time. budget: evaluations over all sessions, beside those that are
    asked for; islands: who has kernels to mutate.

    mutate: lets one of them have an untried point measured, through evaluate(idle=True), and
    returns when it was told the verdict; False: it has none.
    """

    budget: int
    islands: Sequence[int]
    mutate: Callable[[int], Awaitable[bool]]


Compile = Callable[[str], Awaitable[Built | Evaluation]]
"""Source -> compiled, or the verdict. Raises Broken."""

Watch = Callable[[Built, int], Awaitable[Verdict]]
"""(kernel, number of the sitting): whether the host sees a race of it. Raises Broken."""

Publish = Callable[[Built, tuple[Blocks, ...]], Any]
"""Make an anchor, with its links back to the seed, known to every lane."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchSetting:
    """What a dispatcher works with. budget: evaluations over all sessions; None: no bound.

    patience_s: without any device that is well. profiles: None where none are made. revised:
    tells the islands of a verdict that changed. spread: of sittings on these devices. tuning:
    None where no models are waited for. timed: see DeviceInfo.timed; else there are no contests, no
    links and no final measurement. pause: closed: devices and compilers begin nothing. baselines:
    those that the task names for the backend; info: of its devices, for them. feed: has islands
    keep so many times the cycles under way that they began with, up to most_fed.
    """

    task_hash: str
    device_class: str
    toolchain: Toolchain
    session: int
    compile: Compile
    fleet: Fleet
    publish: Publish
    journal: Journal
    budget: int | None
    patience_s: float
    profiles: ProfileLimits | None
    revised: TellRevised
    spread: Spread
    watch: Watch | None = None  # None: devices see races themselves
    tuning: TuningLimits | None = None
    probes: ProbeLimits | None = None  # None: nobody would be told
    timed: bool = True
    baselines: Sequence[Baseline] = ()
    info: DeviceInfo | None = None
    pause: Gate = field(default_factory=Gate)
    feed: Callable[[float], None] = lambda factor: None
    most_fed: float = 1.0

    @property
    def lanes(self) -> Sequence[Lane]:
        """Those of now: on a cluster devices join and leave."""
        return self.fleet.lanes

    @property
    def devices(self) -> int:
        """How many there are, as shares of their time are reckoned: 1 also where none is left."""
        return max(1, len(self.fleet.lanes))

    @property
    def compile_workers(self) -> int:
        """How many kernels may be compiled at once."""
        return self.fleet.compile_workers
