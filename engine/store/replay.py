"""A stored campaign read back: everything that a resumption, a summary or a report needs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.store.events import (
    Added,
    CycleFinished,
    CycleStarted,
    Drafted,
    EpochStarted,
    Evaluated,
    Event,
    Fault,
    Migrated,
)
from engine.store.kinds.calls import CallEvent
from engine.store.kinds.contests import Contested, FinalMeasurement
from engine.store.kinds.findings import Distilled, FindingsTold
from engine.store.kinds.ideas import IdeaEvent
from engine.store.kinds.probes import Probed, ProbeEvent, ProbeHeard, ProbeLog
from engine.store.kinds.profiles import Learned, Profiled
from engine.store.kinds.revisions import Revised
from engine.store.kinds.sessions import (
    PLACES,
    CampaignStarted,
    ForecastMade,
    SearchEnded,
    SearchStarted,
    SessionFinished,
    SessionStarted,
)
from engine.store.kinds.steering import Injected, Paused, WentOn
from engine.store.kinds.task import TaskKept
from engine.store.scoreboard import Scoreboard
from engine.store.spending import CallHistory
from engine.store.store import Stored, StoreError, read_events
from operators.individual import Individual

History = list[tuple[Event, tuple[Individual, ...]]]
"""One island's own events in order, each with the individuals it speaks of."""

OWN = (CycleStarted, CycleFinished, Drafted, Added, Migrated, Revised, Injected)
"""Events of one island that Island.restore() takes as they are."""


@dataclass(slots=True)
class Session:
    """One process life. *_at: seconds since 1970, the end's is its last event's.

    search_*_at: None where it never came to that. evaluated: verdicts; device_s: devices' work.
    paused_at: since when it rests; rested_s: how long it did before.
    """

    started: SessionStarted
    began_at: float
    ended_at: float
    search_began_at: float | None
    finished: SessionFinished | None = None
    search_ended_at: float | None = None
    evaluated: int = 0
    device_s: float = 0.0
    paused_at: float | None = None
    rested_s: float = 0.0

    @property
    def elapsed_s(self) -> float:
        return self.ended_at - self.began_at

    @property
    def searched_s(self) -> float:
        ended_at = self.ended_at if self.search_ended_at is None else self.search_ended_at
        if self.search_began_at is None:
            return 0.0
        resting_s = 0.0 if self.paused_at is None else max(0.0, ended_at - self.paused_at)
        return ended_at - self.search_began_at - self.rested_s - resting_s

    def go_on(self, at: float) -> None:
        """The pause is over. at: seconds since 1970."""
        if self.paused_at is not None:
            self.rested_s += at - self.paused_at
            self.paused_at = None


@dataclass(slots=True)
class Replay:
    """The whole log, indexed."""

    campaign: CampaignStarted
    scores: Scoreboard = field(default_factory=Scoreboard)
    sessions: list[Session] = field(default_factory=list)
    drafts: dict[str, Drafted] = field(default_factory=dict)  # by key
    first_drafts: dict[str, Drafted] = field(default_factory=dict)  # by kernel id
    faults: int = 0
    calls: CallHistory = field(default_factory=CallHistory)
    ideas: list[IdeaEvent] = field(default_factory=list)
    probes: ProbeLog = field(default_factory=ProbeLog)
    injected: list[Injected] = field(default_factory=list)
    forecasts: list[ForecastMade] = field(default_factory=list)  # of each session that made one
    distilled: list[Distilled] = field(default_factory=list)
    cycles: list[CycleStarted] = field(default_factory=list)  # of all islands, in order
    task: TaskKept | None = None
    first_evaluated_at: float = 0.0  # seconds since 1970
    last_evaluated_at: float = 0.0
    _own: dict[int, list[Event]] = field(default_factory=dict)

    def history(self, island: int) -> History:
        """What Island.restore() takes."""
        return [(event, self._individuals(event)) for event in self._own.get(island, ())]

    def unheard(self, island: int, others: Collection[int]) -> list[Individual]:
        """What became of those islands' drafts, as far as this island was not told of it."""
        own = self._own.get(island, ())
        heard = {key for event in own if isinstance(event, CycleStarted) for key in event.heard}
        return [
            individual
            for other, events in self._own.items()
            if other in others
            for event in events
            if isinstance(event, Added) and event.told_others and event.key not in heard
            for individual in self._individuals(event)
        ]

    @property
    def timed(self) -> bool:
        """False where its devices are emulated: see DeviceInfo.timed."""
        infos = [session.started.info for session in self.sessions]
        return all(info is None or info.timed for info in infos)

    @property
    def brought(self) -> Distilled | None:
        """What came along from other campaigns; None where nothing was to."""
        first = self.distilled[0] if self.distilled else None
        return first if first is not None and first.number == 0 else None

    def lineage(self, kernel_id: str) -> list[Drafted]:
        """From the kernel back to a seed, along the Base of each step."""
        line: list[Drafted] = []
        while kernel_id in self.first_drafts and len(line) < len(self.first_drafts):
            drafted = self.first_drafts[kernel_id]
            line.append(drafted)
            if not drafted.parents:
                break
            kernel_id = drafted.parents[0]
        return line

    def individual(self, kernel_id: str) -> Individual:
        """A kernel that has its verdict, as it was first drafted and measured. Raises KeyError."""
        return self.first_drafts[kernel_id].individual(self.scores.first(kernel_id))

    @property
    def islands(self) -> list[int]:
        """Those that have events of their own."""
        return sorted(self._own)

    @property
    def budgets(self) -> Mapping[str, Any]:
        """As the last session had them."""
        if self.sessions:
            return self.sessions[-1].started.budgets
        budgets: Mapping[str, Any] = self.campaign.config["budgets"]
        return budgets

    @property
    def stop(self) -> Mapping[str, Any]:
        """The section of that name, as the last session had it; {} in a store of before."""
        if self.sessions:
            return self.sessions[-1].started.stop
        stop: Mapping[str, Any] = self.campaign.config.get("stop", {})
        return stop

    @property
    def places(self) -> Mapping[str, Mapping[str, Any]]:
        """Those sections, with the keys of PLACES as the last session had them."""
        last = self.sessions[-1].started.places if self.sessions else {}
        return {
            name: {**(self.campaign.config.get(name) or {}), **last.get(name, {})}
            for name in PLACES
        }

    @property
    def elapsed_s(self) -> float:
        """Over all sessions; a killed one lasted until its last event."""
        return sum(session.elapsed_s for session in self.sessions)

    @property
    def searched_s(self) -> float:
        """What budgets.wall_time_s counts: the same, without starting and ending."""
        return sum(session.searched_s for session in self.sessions)

    @property
    def lacks_final(self) -> bool:
        """Whether the best was not yet measured as the best at the end, where anything is timed."""
        best = self.scores.best
        if best is None or not best.timed:
            return False
        return not best.final and best.kernel_id != self.campaign.baseline_id

    @property
    def ended(self) -> str:
        """Why the last session did; "killed" when the store does not tell."""
        last = self.sessions[-1] if self.sessions else None
        return last.finished.reason if last and last.finished else "killed"

    def apply(self, stored: Stored) -> None:
        event = stored.event
        if isinstance(event, Evaluated):
            event = replace(event, evaluation=self.scores.with_gains(event.evaluation))
        self.scores.apply(event)
        if isinstance(event, SessionStarted):
            search = event.began_at if event.start_counts else None
            self.sessions.append(Session(event, event.began_at, stored.at, search))
            self.calls.totals.write_off()  # what the session before had in flight is lost
        elif isinstance(event, SearchStarted):
            self.sessions[-1].search_began_at = stored.at
        elif isinstance(event, SearchEnded):
            self.sessions[-1].search_ended_at = stored.at
        elif isinstance(event, SessionFinished):
            self.sessions[-1].finished = event
        elif isinstance(event, Drafted):
            self.drafts[event.key] = event
            self.first_drafts.setdefault(event.kernel_id, event)
        elif isinstance(event, Fault):
            self.faults += 1
        elif isinstance(event, ForecastMade):
            self.forecasts.append(event)
        elif isinstance(event, IdeaEvent):
            self.ideas.append(event)
        elif isinstance(event, Injected):
            self.injected.append(event)
        elif isinstance(event, TaskKept):
            self.task = event
        elif isinstance(event, Paused):
            self.sessions[-1].paused_at = stored.at
        elif isinstance(event, WentOn):
            self.sessions[-1].go_on(stored.at)
        elif isinstance(event, Distilled):
            self.distilled.append(event)
            self.calls.forget(f"d{event.number}/")
        elif isinstance(event, CallEvent):
            self.calls.take(event)
        elif isinstance(event, CycleStarted):
            self.cycles.append(event)
        elif isinstance(event, CycleFinished):
            self.calls.forget(f"{event.key}/")
        elif isinstance(event, Evaluated):
            self.sessions[-1].evaluated += 1
            self.sessions[-1].device_s += event.evaluation.seconds.get("device", 0.0)
            self.first_evaluated_at = self.first_evaluated_at or stored.at
            self.last_evaluated_at = stored.at
        elif isinstance(event, EpochStarted | Profiled | Probed | Contested | FinalMeasurement):
            self.sessions[-1].device_s += event.device_s
        if isinstance(event, ProbeEvent):
            self.probes.apply(event)
        if self.sessions:
            self.sessions[-1].ended_at = stored.at
        if isinstance(event, OWN):
            self._own.setdefault(event.island, []).append(event)
        elif isinstance(event, Learned):
            self._own.setdefault(event.island, []).append(self.scores.profiles[event.kernel_id])
        elif isinstance(event, ProbeHeard):
            self._own.setdefault(event.island, []).append(self.probes.answers[event.probe_id])
        elif isinstance(event, FindingsTold):
            told = next(one for one in self.distilled if one.number == event.number)
            self._own.setdefault(event.island, []).append(told)

    def _individuals(self, event: Event) -> tuple[Individual, ...]:
        """As they were first measured: an island hears of a new verdict by an event of its own."""
        if isinstance(event, Revised):
            drafted = self.first_drafts[event.kernel_id]
            return (drafted.individual(self.scores.verdict(event.kernel_id, event.number)),)
        if isinstance(event, Injected):
            return (self.individual(event.base_id),) if event.base_id else ()
        keys: Sequence[str] = ()
        if isinstance(event, Added):
            keys = (event.key,)
        elif isinstance(event, Migrated):
            keys = event.drafts
        elif isinstance(event, CycleStarted):
            keys = event.heard
        drafts = [self.drafts[key] for key in keys]
        return tuple(one.individual(self.scores.first(one.kernel_id)) for one in drafts)


def replay(path: Path) -> Replay:
    """Read a store. Raises StoreError."""
    events = iter(read_events(path))
    first = next(events, None)
    if first is None or not isinstance(first.event, CampaignStarted):
        raise StoreError(f"{path}: this store holds no campaign; start a new one")
    return _fold(Replay(first.event), events)


def _fold(whole: Replay, events: Iterable[Stored]) -> Replay:
    for stored in events:
        whole.apply(stored)
    return whole
