"""The view of a campaign in MLflow, rebuilt from its store."""

import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from engine.config import CampaignConfig, parse_config
from engine.store.events import CampaignStarted, SessionFinished
from engine.store.lineage import lineage_json, lineage_text
from engine.store.replay import Replay
from engine.store.store import Stored, StoreError
from engine.tracking.samples import Point, Sampler, flatten, session_tags
from engine.tracking.traces import CallTraces

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

CAMPAIGN_TAG = "kernel_scientist.campaign"
ISLAND_TAG = "kernel_scientist.island"
CURSOR_TAG = "kernel_scientist.seq"
"""Up to which event of the store the runs are complete; set with the last of the metrics."""

TRACE_CURSOR_TAG = "kernel_scientist.traces_seq"
"""Up to which event model calls have become traces."""

LAST_TRACES_S = 20.0

BATCH = 1000
"""Metrics that MLflow takes in one call."""

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


class _Unreachable(Exception):
    """MLflow can't be written to. One sentence: where, and what it said."""


class _Runs:
    """The campaign's run in MLflow, and one child run for each island. Raises _Unreachable."""

    def __init__(self, uri: str, experiment: str, run_dir: Path, config: CampaignConfig) -> None:
        self._uri, self._experiment, self._run_dir = uri, experiment, run_dir
        self._config = config
        with self._telling():
            self._client = _client(uri)
        self._cursor = self._traced = 0
        self._experiment_of_runs = ""
        self._ids: dict[int | None, str] = {}  # by island; None: the campaign's

    def open(self, campaign: CampaignStarted, began_ms: int) -> None:
        """Find the runs of this campaign, or make them."""
        name = self._run_dir.name
        identity = {CAMPAIGN_TAG: f"{name}/{began_ms}"}
        with self._telling():
            experiment = self._experiment_id()
            run = self._find_or_make(experiment, name, {**identity, ISLAND_TAG: "all"}, began_ms)
            self._ids[None] = run.info.run_id
            self._cursor = int(run.data.tags.get(CURSOR_TAG, "0"))
            self._traced = int(run.data.tags.get(TRACE_CURSOR_TAG, "0"))
            self._experiment_of_runs = experiment
            self._describe(run, campaign)
            for index in range(self._config.islands.count):
                tags = {
                    **identity,
                    ISLAND_TAG: str(index),
                    "mlflow.parentRunId": run.info.run_id,
                }
                island = self._find_or_make(experiment, f"{name} island {index}", tags, began_ms)
                self._ids[index] = island.info.run_id

    def log(self, points: Sequence[Point], seen: int) -> None:
        """All points that follow from events up to `seen`; those already told are left out."""
        from mlflow.entities import Metric, RunTag

        new = [point for point in points if point.seq > self._cursor]
        with self._telling():
            # The campaign's own run is last: its cursor says that the islands' are complete too.
            for island in (*range(self._config.islands.count), None):
                metrics = [
                    Metric(point.name, point.value, point.at_ms, point.step)
                    for point in new
                    if point.island == island
                ]
                for start in range(0, len(metrics), BATCH):
                    self._client.log_batch(self._ids[island], metrics[start : start + BATCH])
            if seen > self._cursor:
                self._client.log_batch(self._ids[None], tags=[RunTag(CURSOR_TAG, str(seen))])
                self._cursor = seen

    def trace(self, calls: CallTraces) -> bool:
        """Tell of some model calls that were not told before; whether there were any."""
        with self._telling():
            seq = calls.tell(
                self._client,
                experiment_id=self._experiment_of_runs,
                run_ids=self._ids,
                after=self._traced,
            )
            if seq == self._traced:
                return False
            self._client.set_tag(self._ids[None], TRACE_CURSOR_TAG, str(seq))
            self._traced = seq
        return True

    def files(self, texts: Mapping[str, str]) -> None:
        """Artifacts of the campaign's run, by name."""
        with self._telling():
            for name, text in texts.items():
                self._client.log_text(self._ids[None], text, name)

    def tags(self, tags: Mapping[str, str]) -> None:
        with self._telling():
            for key, value in tags.items():
                self._client.set_tag(self._ids[None], key, value)

    def end(self, *, status: str, ended_ms: int) -> None:
        with self._telling():
            for run_id in self._ids.values():
                self._client.set_terminated(run_id, status, ended_ms)

    def _experiment_id(self) -> str:
        known = self._client.get_experiment_by_name(self._experiment)
        if known is not None:
            return str(known.experiment_id)
        # By itself MLflow would put a local database's artifacts under the current folder.
        local = self._uri.startswith("sqlite:")
        folder = (self._run_dir.resolve().parent / "mlartifacts").as_uri() if local else None
        return str(self._client.create_experiment(self._experiment, artifact_location=folder))

    def _find_or_make(
        self, experiment: str, name: str, tags: Mapping[str, str], began_ms: int
    ) -> "Run":
        wanted = " and ".join(f"tags.`{key}` = '{tags[key]}'" for key in (CAMPAIGN_TAG, ISLAND_TAG))
        found = self._client.search_runs([experiment], wanted, max_results=1)
        if found:
            self._client.update_run(found[0].info.run_id, status="RUNNING")
            return found[0]
        return self._client.create_run(
            experiment, start_time=began_ms, tags=dict(tags), run_name=name
        )

    def _describe(self, run: "Run", campaign: CampaignStarted) -> None:
        from mlflow.entities import Param, RunTag

        params = dict(flatten(self._config.model_dump(mode="json")))
        # A resumption may have other budgets; MLflow's parameters are written once.
        new = [Param(key, value) for key, value in params.items() if key not in run.data.params]
        tags = {
            "kernel_scientist.task_hash": campaign.task_hash,
            "kernel_scientist.baseline": campaign.baseline_id,
            **{f"version.{name}": value for name, value in campaign.versions.items()},
        }
        self._client.log_batch(
            run.info.run_id, params=new, tags=[RunTag(key, value) for key, value in tags.items()]
        )

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """MLflow wraps what goes wrong at a server or a database into exceptions of its own."""
        from mlflow.exceptions import MlflowException

        try:
            yield
        except (MlflowException, OSError) as error:
            raise _Unreachable(f"MLflow at {self._uri} {_complaint(error)}") from error


def _complaint(error: Exception) -> str:
    if isinstance(error.__context__, OSError):  # what requests raises for a connection
        return "does not answer"
    said = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return f"can't be written to: {said[:200]}"


def _client(uri: str) -> "MlflowClient":
    """A client that gives up soon: what a server missed, it is told later."""
    for name, value in (
        ("MLFLOW_DISABLE_TELEMETRY", "true"),
        ("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0"),
        ("MLFLOW_HTTP_REQUEST_TIMEOUT", "10"),
        ("MLFLOW_ENABLE_ASYNC_TRACE_LOGGING", "false"),
    ):
        os.environ.setdefault(name, value)
    import mlflow
    from mlflow import MlflowClient

    mlflow.set_tracking_uri(uri)  # traces go there, whatever the client says

    logging.getLogger("mlflow").setLevel(logging.WARNING)  # how it makes its tables
    return MlflowClient(uri)
