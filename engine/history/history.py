"""A campaign's log in one pass: what it amounts to, and when its best changed."""

from dataclasses import dataclass, field
from pathlib import Path

from engine.history.calls import CallsByRole
from engine.history.trajectory import Moment, Trajectory
from engine.store.events import Fault, Migrated
from engine.store.kinds.calls import CallEvent
from engine.store.kinds.contests import Contested, FinalMeasurement
from engine.store.kinds.profiles import Profiled
from engine.store.kinds.sessions import (
    CampaignStarted,
    DevicesWatched,
    NodesChanged,
    SearchEnded,
    SessionStarted,
)
from engine.store.replay import Replay
from engine.store.scoreboard import Best
from engine.store.store import Stored, StoreError, read_events


@dataclass(slots=True)
class History:
    """Told of every event in order, the campaign's start apart, which `replay` begins with.

    seq: of the last event; at: its time; began_at: the campaign's, both in seconds since 1970.
    devices: the last word of each session on what its devices waited for, by the session's number.
    nodes: what it had of a cluster, and since when.
    """

    replay: Replay
    seq: int = 0
    at: float = 0.0
    began_at: float = 0.0
    contests: list[Contested] = field(default_factory=list)
    migrations: list[Migrated] = field(default_factory=list)
    profiles: list[Profiled] = field(default_factory=list)
    devices: dict[int, DevicesWatched] = field(default_factory=dict)
    nodes: list[tuple[float, NodesChanged]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    calls: CallsByRole = field(default_factory=CallsByRole)
    _moments: list[Moment] = field(default_factory=list)
    _searched: Moment | None = None  # where the last search ended; None: it goes on
    _best: Best | None = None

    def apply(self, stored: Stored) -> None:
        self.replay.apply(stored)
        self.seq, self.at = stored.seq, stored.at
        match stored.event:
            case Contested() as contested:
                self.contests.append(contested)
            case Migrated() as migrated:
                self.migrations.append(migrated)
            case Profiled() as profiled:
                self.profiles.append(profiled)
            case DevicesWatched() as watched:
                self.devices[watched.number] = watched
            case NodesChanged() as changed:
                self.nodes.append((stored.at, changed))
            case Fault() as fault:
                self.faults.append(fault)
            case SessionStarted():
                self.calls.write_off()
                self._searched = None
            case event if isinstance(event, CallEvent):
                self.calls.take(event)
            case _:
                pass  # what counts of it is in the replay
        best = self.replay.scores.best
        if best != self._best and not isinstance(stored.event, FinalMeasurement):
            self._moments.append(self._moment(best))
        self._best = best
        # Contests that were left when the islands ended are of the search too.
        left = isinstance(stored.event, Contested) and self._searched is not None
        if left or isinstance(stored.event, SearchEnded):
            self._searched = self._moment(best)

    @property
    def trajectory(self) -> Trajectory:
        """Until now."""
        now = self._moment(self.replay.scores.best)
        return Trajectory(moments=tuple(self._moments), searched=self._searched or now, end=now)

    def _moment(self, best: Best | None) -> Moment:
        whole = self.replay
        spending = whole.calls.totals.spending()
        return Moment(
            seq=self.seq,
            at=self.at,
            best=best,
            evaluations=whole.scores.by_status.total(),
            device_s=sum(session.device_s for session in whole.sessions),
            searched_s=whole.searched_s,
            dollars=spending.dollars,
            tokens=spending.tokens,
        )


def read_history(store: Path) -> History:
    """Read a store, also while a campaign writes it. Raises StoreError."""
    events = iter(read_events(store))
    first = next(events, None)
    if first is None or not isinstance(first.event, CampaignStarted):
        raise StoreError(f"{store}: this store holds no campaign; start a new one")
    history = History(Replay(first.event), seq=first.seq, at=first.at, began_at=first.at)
    for stored in events:
        history.apply(stored)
    return history
