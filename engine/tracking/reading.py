"""Campaigns read back from MLflow: their parameters, tags and metrics over time."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.tracking.client import client_of, local_database
from engine.tracking.killed import CAMPAIGN_TAG, ISLAND_TAG

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

RUNS_A_PAGE = 1000
BEST_FILES = ("best.hip.txt", "best.hip")
"""The artifact that holds the best kernel, by the versions that wrote it."""


class TrackingError(Exception):
    """What can't be read from MLflow. One sentence: where, what, what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One value of a metric. at_ms: milliseconds since 1970."""

    step: int
    at_ms: int
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedCampaign:
    """A campaign's own run. identity: of the campaign; status: as MLflow knows it.

    metrics: by name, in the order of time; those asked for.
    """

    run_id: str
    name: str
    identity: str
    status: str
    began_ms: int
    params: Mapping[str, str]
    tags: Mapping[str, str]
    metrics: Mapping[str, Sequence[Measured]]


def read_campaigns(
    uri: str, experiment: str, wanted: str, metrics: Sequence[str]
) -> list[TrackedCampaign]:
    """Of an experiment, the oldest first. wanted: a search as MLflow takes it, or empty.

    Raises TrackingError.
    """
    _require_database(uri)
    with _asking(uri, wanted):
        client = client_of(uri)
        known = client.get_experiment_by_name(experiment)
        if known is None:
            named = ", ".join(sorted(one.name for one in client.search_experiments()))
            raise TrackingError(
                f"MLflow at {uri} has no experiment {experiment!r}; it has: {named or 'none'}"
            )
        search = f"tags.`{ISLAND_TAG}` = 'all'" + (f" and {wanted}" if wanted.strip() else "")
        runs = _all_runs(client, known.experiment_id, search)
        return [_campaign(client, run, metrics) for run in runs]


def read_best(uri: str, run_id: str) -> str:
    """The text of a campaign's best kernel. Raises TrackingError."""
    with _asking(uri, ""), tempfile.TemporaryDirectory() as folder:
        client = client_of(uri)
        there = {one.path for one in client.list_artifacts(run_id)}
        name = next((one for one in BEST_FILES if one in there), None)
        if name is None:
            raise TrackingError(
                f"MLflow at {uri}: run {run_id} has no {BEST_FILES[0]}; bring it up to date with "
                "kernel-scientist track"
            )
        return Path(client.download_artifacts(run_id, name, folder)).read_text(encoding="utf-8")


def _all_runs(client: "MlflowClient", experiment: str, search: str) -> Iterator["Run"]:
    token = None
    while True:
        page = client.search_runs(
            [experiment],
            search,
            max_results=RUNS_A_PAGE,
            order_by=["start_time ASC"],
            page_token=token,
        )
        yield from page
        token = page.token
        if not token:
            return


def _campaign(client: "MlflowClient", run: "Run", metrics: Sequence[str]) -> TrackedCampaign:
    return TrackedCampaign(
        run_id=run.info.run_id,
        name=str(run.info.run_name),
        identity=run.data.tags[CAMPAIGN_TAG],
        status=run.info.status,
        began_ms=int(run.info.start_time),
        params=dict(run.data.params),
        tags=dict(run.data.tags),
        metrics={name: _history(client, run, name) for name in metrics if name in run.data.metrics},
    )


def _history(client: "MlflowClient", run: "Run", name: str) -> list[Measured]:
    found = client.get_metric_history(run.info.run_id, name)
    values = [Measured(step=one.step, at_ms=one.timestamp, value=one.value) for one in found]
    return sorted(values, key=lambda one: (one.at_ms, one.step))


def _require_database(uri: str) -> None:
    """A database that is not there would be made."""
    file = local_database(uri)
    if file is not None and not file.is_file():
        raise TrackingError(f"MLflow at {uri}: no such database; name another by --uri")


@contextmanager
def _asking(uri: str, wanted: str) -> Iterator[None]:
    """MLflow wraps what goes wrong at a server or a database into exceptions of its own."""
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (MlflowException, SQLAlchemyError, OSError) as error:
        if isinstance(error.__context__, OSError):  # what requests raises for a connection
            raise TrackingError(
                f"MLflow at {uri} does not answer; start it, or name another"
            ) from error
        said = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        if wanted and getattr(error, "error_code", "") == "INVALID_PARAMETER_VALUE":
            raise TrackingError(
                f"--filter {wanted}: MLflow does not take it ({said}); write a search such as "
                "params.task = 'sgemm' and metrics.best_speedup > 2"
            ) from error
        raise TrackingError(f"MLflow at {uri} can't be read: {said}") from error
