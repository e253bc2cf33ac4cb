"""A campaign's log followed as it grows, to tell when a target is reached."""

import time
from collections.abc import Callable
from pathlib import Path

from engine.stopping.config import Stop
from engine.stopping.targets import lack_of_light, reached
from engine.store.kinds.sessions import CampaignStarted
from engine.store.replay import Replay
from engine.store.store import read_events

LOOK_EVERY_S = 1.0

MORE_EVALUATIONS = 16
"""That an end which is due waits, at most, for contests under way to be decided."""


class TargetWatch:
    """Reads what a resumption reads, so that both tell the same."""

    def __init__(
        self, stop: Stop, store: Path, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stop, self._store, self._clock = stop, store, clock
        self._whole: Replay | None = None
        self._seq = 0
        self._looked_at = -LOOK_EVERY_S
        self._due_at: int | None = None  # evaluations when an end was due first

    def look(self, contesting: int) -> str:
        """Why the campaign is to end; empty while it is not. contesting: kernels whose contest
        against the best is not decided."""
        if not self._stop.ends_early or self._clock() - self._looked_at < LOOK_EVERY_S:
            return ""
        self._looked_at = self._clock()
        whole = self._read()
        found = reached(whole, self._stop) if whole is not None else None
        if whole is None or found is None:
            self._due_at = None
            return ""
        if self._due_at is None:
            self._due_at = whole.scores.asked
        waited = whole.scores.asked - self._due_at
        return "" if contesting and waited < MORE_EVALUATIONS else found.reason

    def lack(self) -> str:
        """What can't be told of the targets, once the naive seed is measured; else empty."""
        whole = self._read() if self._stop.ends_early else None
        return lack_of_light(whole, self._stop) if whole is not None else ""

    def _read(self) -> Replay | None:
        for stored in read_events(self._store, after=self._seq):
            self._seq = stored.seq
            if self._whole is not None:
                self._whole.apply(stored)
            elif isinstance(stored.event, CampaignStarted):
                self._whole = Replay(stored.event)
        return self._whole
