"""The report of a campaign that runs: written anew now and then, from what its log says so far."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from engine.history.campaigns import State
from engine.history.history import History
from engine.store.kinds.sessions import CampaignStarted
from engine.store.replay import Replay
from engine.store.store import Stored, StoreError

EVERY_S = 30.0
LEAST_REST = 20
"""After a report nothing is written for so many times as long as it took, at least."""


class Reporter:
    """Follows a campaign's log from its beginning. A report that can't be written costs a sentence
    in `trouble`."""

    def __init__(self, run_dir: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.position = 0
        """The last event taken in; further ones follow from there."""
        self.trouble = ""
        """What is wrong at present, in one sentence."""
        self._run_dir, self._clock = run_dir, clock
        self._history: History | None = None
        self._written = 0
        self._next_at = clock() + EVERY_S

    def record(self, events: Iterable[Stored]) -> None:
        """Take the next events in. Raises StoreError where they begin with no campaign."""
        for stored in events:
            if self._history is not None:
                self._history.apply(stored)
            elif isinstance(stored.event, CampaignStarted):
                self._history = History(Replay(stored.event), seq=stored.seq, at=stored.at)
            else:
                raise StoreError(f"{self._run_dir}: its store holds no campaign; start a new one")
            self.position = stored.seq

    def write_if_due(self) -> None:
        """Write it where there is news, and the last one was some time ago."""
        if self._clock() >= self._next_at and self.position > self._written:
            self.write()

    def write(self) -> None:
        if self._history is None:
            return
        began = self._clock()
        # Imported here: matplotlib takes a second of a core, and a campaign's start needs them all.
        from engine.report.report import write_report

        try:
            write_report(self._history, self._run_dir, state=_state(self._history))
        except OSError as error:
            self.trouble = f"the report can't be written to {self._run_dir} ({error.strerror})"
        else:
            self.trouble, self._written = "", self.position
        took_s = self._clock() - began
        self._next_at = self._clock() + max(EVERY_S, LEAST_REST * took_s)


def _state(history: History) -> State:
    """The campaign's driver lives, as this process does."""
    sessions = history.replay.sessions
    if not sessions:
        return "starting"
    return "ended" if sessions[-1].finished else "running"
