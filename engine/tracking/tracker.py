"""The view of a campaign in MLflow, rebuilt from its store."""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from engine.config import CampaignConfig, parse_config
from engine.store.kinds.sessions import CampaignStarted, SessionFinished
from engine.store.lineage import lineage_json, lineage_text
from engine.store.replay import Replay
from engine.store.run_folder import STORE
from engine.store.store import Stored, StoreError, is_driven
from engine.tracking.description import description
from engine.tracking.files import RunFiles
from engine.tracking.killed import terminal_status
from engine.tracking.runs import _Runs, _Unreachable
from engine.tracking.samples import Point, Sampler
from engine.tracking.tags import session_tags
from engine.tracking.traces import CallTraces

LAST_TRACES_S = 20.0


TELL_EVERY_S = 2.0

DESCRIBE_EVERY_S = 60.0
"""The description and the files that the campaign writes for people."""

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
        self._finished: SessionFinished | None = None  # where the last session ended in order
        self._runs: _Runs | None = None
        self._files = RunFiles(run_dir)
        self._best_id = ""
        self._next_at = self._describe_at = 0.0

    @property
    def page(self) -> str:
        """The campaign's in MLflow, after the server's address; empty when none was reached."""
        return self._runs.page if self._runs is not None else ""

    def record(self, events: Sequence[Stored]) -> None:
        """Take the next events in; tell MLflow of them, unless it was told a moment ago."""
        for stored in events:
            self._read(stored)
        if time.monotonic() >= self._next_at:
            self._attempt(self._tell)

    def finish(self) -> None:
        """Add the files and the description, and end the runs unless the campaign still runs."""
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
        self._finished = stored.event if isinstance(stored.event, SessionFinished) else None
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
            # So named, MLflow's pages show it.
            self._runs.texts({"best.hip.txt": source})
            self._best_id = best.kernel_id
        if time.monotonic() >= self._describe_at:
            self._describe(self._runs, replay, "running")

    def _describe(self, runs: _Runs, replay: Replay, state: str) -> None:
        self._describe_at = time.monotonic() + DESCRIBE_EVERY_S
        note = description(replay, self._run_dir, state=state, experiment=runs.experiment)
        runs.describe(note)
        runs.tags(session_tags(replay))
        runs.files(self._files.changed())

    def _tell_end(self) -> None:
        self._tell()
        if self._sampler is None or self._runs is None or self._config is None:
            return
        replay, runs = self._sampler.replay, self._runs
        running = self._finished is None and is_driven(self._run_dir / STORE)
        status, state = terminal_status(self._finished)
        texts = {"config.yaml": _as_given(self._config)}
        best = replay.scores.best
        if best is not None:
            steps = lineage_json(replay, best.kernel_id)
            texts["lineage.json"] = json.dumps(steps, indent=2) + "\n"
            texts["lineage.txt"] = lineage_text(replay, best.kernel_id)
        if replay.probes.answers:
            told = sorted(replay.probes.answers.values(), key=lambda one: one.shipped)
            texts["probes.txt"] = "".join(f"{one.told}\n" for one in told)
        runs.texts(texts)
        self._describe(runs, replay, "running" if running else state)
        until = time.monotonic() + LAST_TRACES_S
        while runs.trace(self._calls) and time.monotonic() < until:
            pass
        if running:
            return
        last = replay.sessions[-1] if replay.sessions else None
        runs.tags({"state": state, "ended": replay.ended})
        runs.end(status=status, ended_ms=int(last.ended_at * 1000) if last else self._began_ms)


def _as_given(config: CampaignConfig) -> str:
    """A configuration's file that starts such a campaign again: what differs from defaults."""
    values: dict[str, Any] = config.model_dump(mode="json", exclude_defaults=True)
    for key in ("name", "runs_dir"):
        values.pop(key, None)
    return yaml.safe_dump(values, sort_keys=False)
