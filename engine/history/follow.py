"""A campaign's store followed while another process writes it: read, never locked or written."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.history.campaigns import State, state_by
from engine.history.history import History
from engine.store.events import Added, CycleStarted, Evaluated, Fault, Migrated
from engine.store.kinds.sessions import CampaignStarted, SessionStarted
from engine.store.replay import Replay, Session
from engine.store.store import Stored, StoreError, read_events

WINDOW_S = 60.0
"""Rates are of so long."""


@dataclass(slots=True, kw_only=True)
class Island:
    """What an island's own events amount to. shares: credit's, as they were last
    drawn by. best: the fastest it knows, by the search."""

    cycle: int = 0
    evaluations: int = 0
    shares: dict[str, Mapping[str, float]] = field(default_factory=dict)
    best: float = 0.0


class Follower:
    """Takes in what is new at each look()."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.history: History | None = None  # until the campaign's start is stored
        self.islands: dict[int, Island] = {}
        self.fault: tuple[float, Fault] | None = None  # the last, and when, since 1970
        self._evaluated: deque[tuple[float, bool]] = deque()  # when; whether it was asked for

    def look(self) -> None:
        """Raises StoreError."""
        for stored in read_events(self.store, after=self.history.seq if self.history else 0):
            self._take(stored)

    @property
    def whole(self) -> Replay:
        """Once the campaign's start is stored."""
        assert self.history is not None
        return self.history.replay

    @property
    def session(self) -> Session | None:
        """The last one."""
        sessions = self.history.replay.sessions if self.history else []
        return sessions[-1] if sessions else None

    @property
    def state(self) -> State:
        session = self.session
        return state_by(
            self.store,
            last_at=session.ended_at if session else None,
            finished=bool(session and session.finished),
        )

    def searching_s(self, now: float) -> float:
        """For how long its search has gone on since the last event; 0 where there is none."""
        session = self.session
        if session is None or session.search_began_at is None or session.search_ended_at:
            return 0.0
        if session.paused_at is not None:
            return 0.0
        return max(0.0, now - session.ended_at) if self.state == "running" else 0.0

    def per_s(self, now: float, *, asked: bool = False) -> float | None:
        """Evaluations a second over the last minute, or over as much of it as was search.

        asked: without those of idle time. None where no search goes on.
        """
        session = self.session
        if session is None or session.search_began_at is None or session.search_ended_at:
            return None
        if self.state != "running":
            return None
        since = max(now - WINDOW_S, session.search_began_at)
        while self._evaluated and self._evaluated[0][0] < now - WINDOW_S:
            self._evaluated.popleft()
        count = sum(at >= since and (was_asked or not asked) for at, was_asked in self._evaluated)
        return count / (now - since) if now - since >= 1 else None

    def _take(self, stored: Stored) -> None:
        event = stored.event
        if self.history is None:
            if not isinstance(event, CampaignStarted):
                raise StoreError(f"{self.store}: this store holds no campaign; start a new one")
            self.history = History(Replay(event), seq=stored.seq, at=stored.at)
            return
        self.history.apply(stored)
        match event:
            case SessionStarted():
                self._evaluated.clear()
            case Evaluated():
                self._evaluated.append((stored.at, not event.tuning))
            case CycleStarted():
                self._island(event.island).cycle = event.cycle
                self._island(event.island).shares.update(event.shares)
            case Added():
                island = self._island(event.island)
                island.evaluations += 1
                self._meet(island, event.kernel_id)
            case Migrated():
                for key in event.drafts:
                    kernel_id = self.history.replay.drafts[key].kernel_id
                    self._meet(self._island(event.island), kernel_id)
            case Fault():
                self.fault = stored.at, event
            case _:
                pass  # what counts of it is in the history

    def _island(self, index: int) -> Island:
        return self.islands.setdefault(index, Island())

    def _meet(self, island: Island, kernel_id: str) -> None:
        assert self.history is not None
        speedup = self.history.replay.scores.evaluations[kernel_id].over_seed
        island.best = max(island.best, speedup or 0.0)
