"""A campaign's task as the dataset that its run in MLflow takes in."""

import json
from typing import TYPE_CHECKING

from engine.config import CampaignConfig
from engine.tracking.parameters import task_name
from evaluators.tasks.task import Task, TaskError
from evaluators.tasks.task_file import load_task

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput

DIGEST_CHARACTERS = 36


def task_input(config: CampaignConfig, task_hash: str) -> "DatasetInput":
    """With arguments and workloads, unless the task is gone, or changed since."""
    from mlflow.entities import Dataset, DatasetInput, InputTag

    task = _as_it_was(config.task, task_hash)
    return DatasetInput(
        Dataset(
            name=task_name(config),
            digest=task_hash[:DIGEST_CHARACTERS],
            source_type="task",
            source=json.dumps({"task": task_name(config), "hash": task_hash}),
            schema=_schema(task) if task else None,
            profile=_profile(task, config.backend) if task else None,
        ),
        [InputTag("mlflow.data.context", "task")],
    )


def _as_it_was(name: str, task_hash: str) -> Task | None:
    try:
        task = load_task(name)
    except TaskError:
        return None
    return task if task.hash == task_hash else None


def _schema(task: Task) -> str:
    """In the form that MLflow's pages show as a table of names and types."""
    return json.dumps(
        {
            "mlflow_colspec": [
                {
                    "name": f"{one.name} ({one.role})",
                    "type": f"{one.dtype}[{', '.join(size.text for size in one.dimensions)}]",
                    "required": True,
                }
                for one in task.arguments
            ]
        }
    )


def _profile(task: Task, backend: str) -> str:
    """How many shapes, and not which: those that are held out stay so."""
    return json.dumps({suite: len(task.workloads(suite, backend)) for suite in task.suites})
