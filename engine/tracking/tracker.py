"""The view of a campaign in MLflow, rebuilt from its store."""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.config import CampaignConfig, parse_config
from engine.store.lineage import lineage_json, lineage_text
from engine.store.replay import Replay
from engine.store.sessions import CampaignStarted, SessionFinished
from engine.store.store import Stored, StoreError
from engine.tracking.runs import _Runs, _Unreachable
from engine.tracking.samples import Point, Sampler, session_tags
from engine.tracking.traces import CallTraces

if TYPE_CHECKING:
    pass


LAST_TRACES_S = 20.0


TELL_EVERY_S = 2.0
PATIENCE_S = 10.0
"""A server that failed is left alone for so long."""


class Tracker:
    """Follows a campaign's log from its beginning, and tells MLflow what it does not know yet.

    A server that is away costs a sentence in `trouble`, and is told everything later.
    """

    def __init__(self, *, uri: str, experiment: str, run_dir: Path) -> None:
        self.position = 0
        """The last event recorded; further ones follow from there."""
        self.trouble = ""
        """What is wrong at present, in one sentence."""
        self._uri, self._experiment, self._run_dir = uri, experiment, run_dir
        self._pending: list[Point] = []
        self._calls = CallTraces()
        self._sampler: Sampler | None = None
        self._config: CampaignConfig | None = None
        self._began_ms = 0
        self._finished = False  # the last session so far ended in order
        self._runs: _Runs | None = None
        self._best_id = ""
        self._next_at = 0.0

    def record(self, events: Sequence[Stored]) -> None:
        """Take the next events in; tell MLflow of them, unless it was told a moment ago."""
        for stored in events:
            self._read(stored)
        if time.monotonic() >= self._next_at:
            self._attempt(self._tell)

    def finish(self) -> None:
        """Add the summary and the lineage, and end the runs."""
        self._attempt(self._tell_end)

    def _attempt(self, tell: Callable[[], None]) -> None:
        try:
            tell()
        except _Unreachable as error:
            self.trouble = str(error)
            self._next_at = time.monotonic() + PATIENCE_S
        else:
            self.trouble = ""
            self._next_at = time.monotonic() + TELL_EVERY_S

    def _read(self, stored: Stored) -> None:
        self._finished = isinstance(stored.event, SessionFinished)
        self._calls.feed(stored)
        if self._sampler is not None:
            self._pending += self._sampler.feed(stored)
        elif isinstance(stored.event, CampaignStarted):
            self._config = parse_config(dict(stored.event.config), where=str(self._run_dir))
            self._sampler = Sampler(Replay(stored.event), self._config)
            self._began_ms = int(stored.at * 1000)
        else:
            raise StoreError(f"{self._run_dir}: its store holds no campaign; start a new one")
        self.position = stored.seq

    def _tell(self) -> None:
        if self._sampler is None or self._config is None:
            return
        replay = self._sampler.replay
        if self._runs is None:
            runs = _Runs(self._uri, self._experiment, self._run_dir, self._config)
            runs.open(replay.campaign, self._began_ms)
            self._runs = runs
        self._runs.log(self._pending, self.position)
        self._pending.clear()
        self._runs.trace(self._calls)
        best = replay.scores.best
        if best is not None and best.kernel_id != self._best_id:
            source = replay.first_drafts[best.kernel_id].candidate.source
            self._runs.files({"best.hip": source})
            self._best_id = best.kernel_id

    def _tell_end(self) -> None:
        self._tell()
        if self._sampler is None or self._runs is None:
            return
        replay, files = self._sampler.replay, {}
        best = replay.scores.best
        if best is not None:
            steps = lineage_json(replay, best.kernel_id)
            files["lineage.json"] = json.dumps(steps, indent=2) + "\n"
            files["lineage.txt"] = lineage_text(replay, best.kernel_id)
        summary = self._run_dir / "summary.json"
        if summary.is_file():
            files["summary.json"] = summary.read_text()
        self._runs.files(files)
        until = time.monotonic() + LAST_TRACES_S
        while self._runs.trace(self._calls) and time.monotonic() < until:
            pass
        last = replay.sessions[-1] if replay.sessions else None
        self._runs.tags(session_tags(replay))
        self._runs.end(
            status="FINISHED" if self._finished else "KILLED",
            ended_ms=int(last.ended_at * 1000) if last else self._began_ms,
        )
