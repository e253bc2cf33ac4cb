"""A campaign's runs in MLflow: found or made, logged to, ended."""

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from engine.config import CampaignConfig
from engine.store.sessions import CampaignStarted
from engine.tracking.samples import Point, flatten
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


BATCH = 1000
"""Metrics that MLflow takes in one call."""


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
