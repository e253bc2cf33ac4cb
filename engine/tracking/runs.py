"""A campaign's runs in MLflow: found or made, logged to, ended."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from engine.config import CampaignConfig
from engine.store.kinds.sessions import CampaignStarted
from engine.tracking.client import client_of
from engine.tracking.experiments import NOTE, find_or_make, page_of
from engine.tracking.killed import CAMPAIGN_TAG, ISLAND_TAG, mark_killed
from engine.tracking.parameters import parameters, task_name
from engine.tracking.samples import Point
from engine.tracking.tags import campaign_tags
from engine.tracking.task_input import task_input
from engine.tracking.traces import CallTraces

if TYPE_CHECKING:
    from mlflow.entities import Run


CURSOR_TAG = "kernel_scientist.seq"
"""Up to which event of the store the runs are complete; set with the last of the metrics."""


TRACE_CURSOR_TAG = "kernel_scientist.traces_seq"
"""Up to which event model calls have become traces."""


BATCH = 1000
"""Metrics that MLflow takes in one call."""

PARAMS_BATCH = 100


class _Unreachable(Exception):
    """MLflow can't be written to. One sentence: where, and what it said."""


class _Runs:
    """The campaign's run in MLflow, and one child run for each island. Raises _Unreachable."""

    def __init__(self, uri: str, experiment: str, run_dir: Path, config: CampaignConfig) -> None:
        self._uri, self._experiment, self._run_dir = uri, experiment, run_dir
        self._config = config
        with self._telling():
            self._client = client_of(uri)
        self._cursor = self._traced = 0
        self._experiment_of_runs = ""
        self._ids: dict[int | None, str] = {}  # by island; None: the campaign's

    def open(self, campaign: CampaignStarted, began_ms: int) -> None:
        """Find the runs of this campaign, or make them."""
        name = self._run_dir.name
        identity = {CAMPAIGN_TAG: f"{name}/{began_ms}"}
        with self._telling():
            experiment = find_or_make(
                self._client, self._experiment, task_name(self._config), self._artifacts()
            )
            mark_killed(self._client, self._run_dir.resolve().parent)
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

    def texts(self, texts: Mapping[str, str]) -> None:
        """Artifacts of the campaign's run, by name."""
        with self._telling():
            for name, text in texts.items():
                self._client.log_text(self._ids[None], text, name)

    def files(self, files: Iterable[tuple[Path, str | None]]) -> None:
        """Artifacts too; each with the folder that it belongs in."""
        with self._telling():
            for path, folder in files:
                self._client.log_artifact(self._ids[None], str(path), folder)

    def describe(self, note: str) -> None:
        """The description, which is Markdown."""
        self.tags({NOTE: note})

    def tags(self, tags: Mapping[str, str]) -> None:
        from mlflow.entities import RunTag

        with self._telling():
            self._client.log_batch(
                self._ids[None], tags=[RunTag(key, value) for key, value in tags.items()]
            )

    def end(self, *, status: str, ended_ms: int) -> None:
        with self._telling():
            for run_id in self._ids.values():
                self._client.set_terminated(run_id, status, ended_ms)

    @property
    def experiment(self) -> str:
        """Its id; empty before MLflow was reached."""
        return self._experiment_of_runs

    @property
    def page(self) -> str:
        """The campaign's, after the server's address; empty before MLflow was reached."""
        return page_of(self.experiment, self._ids[None]) if None in self._ids else ""

    def _artifacts(self) -> str | None:
        """By itself MLflow would put a local database's under the current folder."""
        local = self._uri.startswith("sqlite:")
        return (self._run_dir.resolve().parent / "mlartifacts").as_uri() if local else None

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

        run_id, known = run.info.run_id, run.data.params
        # They are written once: what a resumption changes, its budgets, is in tags and metrics.
        new = [
            Param(key, value) for key, value in parameters(self._config).items() if key not in known
        ]
        for start in range(0, len(new), PARAMS_BATCH):
            self._client.log_batch(run_id, params=new[start : start + PARAMS_BATCH])
        tags = campaign_tags(campaign, self._config)
        self._client.log_batch(run_id, tags=[RunTag(key, value) for key, value in tags.items()])
        if run.inputs is None or not run.inputs.dataset_inputs:
            self._client.log_inputs(run_id, [task_input(self._config, campaign.task_hash)])

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """MLflow wraps what goes wrong at a server or a database into exceptions of its own."""
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError

        try:
            yield
        # Not wrapped: what goes wrong as tables are made, such as by two campaigns at once.
        except (MlflowException, SQLAlchemyError, OSError) as error:
            raise _Unreachable(f"MLflow at {self._uri} {_complaint(error)}") from error


def _complaint(error: Exception) -> str:
    if isinstance(error.__context__, OSError):  # what requests raises for a connection
        return "does not answer"
    said = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return f"can't be written to: {said[:200]}"
