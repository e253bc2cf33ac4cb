"""Files added to the run that MLflow has of a campaign."""

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from engine.tracking.client import client_of
from engine.tracking.killed import CAMPAIGN_TAG, ISLAND_TAG
from engine.tracking.runs import _complaint

if TYPE_CHECKING:
    from mlflow import MlflowClient


def upload(folder: Path, *, uri: str, experiment: str, campaign: str, under: str) -> str:
    """Put a folder's files into the campaign's run, under that path among its artifacts.

    campaign: its tag, NAME/BEGAN_MS. What is wrong, in one sentence; empty when they are there.
    """
    local = uri.removeprefix("sqlite:///")
    if local != uri and not Path(local).is_file():
        return f"there is no {local}; 'kernel-scientist track' makes it"
    # A file of so many bytes shows a bar of its own progress.
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    from mlflow.exceptions import MlflowException

    try:
        client = client_of(uri)
        logging.getLogger("mlflow").setLevel(logging.ERROR)
        run_id = _run_of(client, experiment, campaign)
        if run_id is None:
            return f"MLflow at {uri} knows no such campaign; tell it with 'kernel-scientist track'"
        client.log_artifacts(run_id, str(folder), artifact_path=under)
    except (MlflowException, OSError) as error:
        return f"MLflow at {uri} {_complaint(error)}"
    return ""


def _run_of(client: "MlflowClient", experiment: str, campaign: str) -> str | None:
    known = client.get_experiment_by_name(experiment)
    if known is None:
        return None
    wanted = f"tags.`{CAMPAIGN_TAG}` = '{campaign}' and tags.`{ISLAND_TAG}` = 'all'"
    found = client.search_runs([known.experiment_id], wanted, max_results=1)
    return str(found[0].info.run_id) if found else None
