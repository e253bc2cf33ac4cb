"""Campaigns that MLflow takes for running, and whose process was killed: found, and marked."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from engine.store.kinds.sessions import SessionFinished
from engine.store.run_folder import STORE
from engine.store.store import Stored, StoreError, is_driven, read_events
from engine.tracking.experiments import TASK_TAG

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

CAMPAIGN_TAG = "kernel_scientist.campaign"
"""The folder's name and when the campaign began, in milliseconds since 1970."""

ISLAND_TAG = "kernel_scientist.island"

MOST_LOOKED_AT = 100


def terminal_status(last: SessionFinished | None) -> tuple[str, str]:
    """MLflow's status of a campaign that no process runs, and our word for it."""
    if last is None:
        return "KILLED", "killed"
    return ("FAILED" if last.reason.startswith("failed:") else "FINISHED"), "ended"


def mark_killed(client: "MlflowClient", runs_dir: Path) -> None:
    """Of the campaigns in that folder. Those of other folders, or other machines, stay."""
    for run in _said_to_run(client):
        name, _, began_ms = run.data.tags[CAMPAIGN_TAG].rpartition("/")
        store = runs_dir / name / STORE
        if Path(name).name != name or not store.is_file() or is_driven(store):
            continue
        ends = _ends(store)
        if ends is None or str(int(ends[0].at * 1000)) != began_ms:
            continue  # another campaign of that name
        last = ends[1].event if isinstance(ends[1].event, SessionFinished) else None
        status, state = terminal_status(last)
        for one in (run, *_islands_of(client, run)):
            client.set_terminated(one.info.run_id, status, int(ends[1].at * 1000))
        client.set_tag(run.info.run_id, "state", state)
        client.set_tag(run.info.run_id, "ended", last.reason if last else "killed")


def _said_to_run(client: "MlflowClient") -> Iterator["Run"]:
    ours = client.search_experiments(filter_string=f"tags.`{TASK_TAG}` != ''", max_results=1000)
    wanted = f"attributes.status = 'RUNNING' and tags.`{ISLAND_TAG}` = 'all'"
    ids = [str(one.experiment_id) for one in ours]
    if ids:
        yield from client.search_runs(ids, wanted, max_results=MOST_LOOKED_AT)


def _islands_of(client: "MlflowClient", run: "Run") -> Iterator["Run"]:
    wanted = f"tags.`mlflow.parentRunId` = '{run.info.run_id}'"
    yield from client.search_runs([run.info.experiment_id], wanted)


def _ends(store: Path) -> tuple[Stored, Stored] | None:
    """The first and the last event; None where that is no store."""
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
            newest = connection.execute("SELECT max(seq) FROM events").fetchone()[0]
        connection.close()
        if not newest:
            return None
        return next(iter(read_events(store))), next(iter(read_events(store, newest - 1)))
    except (sqlite3.Error, StoreError):
        return None
