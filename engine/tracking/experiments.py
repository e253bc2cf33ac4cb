"""An experiment in MLflow for each task: it opens on its runs, and shows their figures."""

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlflow import MlflowClient

NOTE = "mlflow.note.content"
"""The tag that MLflow shows as a description, in Markdown."""

KIND, TRAINING = "mlflow.experimentKind", "custom_model_development"
"""By this tag MLflow's pages open on runs, and not on traces of a chat application."""

TASK_TAG = "kernel_scientist.task"
"""On every experiment that campaigns are in."""

VIEW = "campaigns"
"""The name under which MLflow finds the table's columns."""

SECTION = "search"

CHARTS = (
    "best_speedup",
    "best_speedup_low",
    "diversity",
    "evaluations_per_s",
    "device_busy_fraction",
)
"""Over evaluations, before those that MLflow makes of every metric."""

MACHINE_LEARNING = "workflowType=machine_learning"
"""In an address: without it, a browser that was here never opens with the menus for chats."""

COLUMNS = (
    "metrics.`best_speedup`",
    "metrics.`best_speedup_low`",
    "metrics.`evaluations`",
    "tags.`state`",
    "tags.`seed`",
    "tags.`config_hash`",
    "tags.`device`",
)


def page_of(experiment: str, run: str) -> str:
    """A campaign's own page, after a server's address."""
    return f"/#/experiments/{experiment}/runs/{run}?{MACHINE_LEARNING}"


def table_of(experiment: str) -> str:
    """The table of a task's campaigns with their figures, after a server's address."""
    return f"/#/experiments/{experiment}/runs?viewStateShareKey={VIEW}&{MACHINE_LEARNING}"


def find_or_make(client: "MlflowClient", name: str, task: str, artifacts: str | None) -> str:
    """Its id. artifacts: where they go; None: as the server has it."""
    known = client.get_experiment_by_name(name)
    made = known is None
    experiment = (
        str(client.create_experiment(name, artifact_location=artifacts))
        if known is None
        else str(known.experiment_id)
    )
    has: Mapping[str, str] = {} if known is None else known.tags
    for key, value in _tags(experiment, task).items():
        # What a person wrote there stays.
        if made or key not in has:
            client.set_experiment_tag(experiment, key, value)
    return experiment


def _tags(experiment: str, task: str) -> dict[str, str]:
    return {
        KIND: TRAINING,
        TASK_TAG: task,
        "mlflow.experiment.primaryMetric.name": "best_speedup",
        f"mlflow.sharedViewState.{VIEW}": _view(),
        NOTE: (
            f"Campaigns that search for faster kernels of the task **{task}**; below each, its "
            f"islands. [The campaigns with their figures]({table_of(experiment)[1:]}). Speedups "
            "are over the task's naive seed. `mlflow/README.md` says what is recorded."
        ),
    }


def _view() -> str:
    """As MLflow's own menu of views stores one, and lists it by its name."""
    state = {
        "selectedColumns": [*COLUMNS],
        "searchFilter": "tags.`kernel_scientist.island` = 'all'",
        "orderByKey": "attributes.start_time",
        "orderByAsc": False,
        "compareRunSections": [
            {"uuid": SECTION, "name": "The search", "display": True, "isReordered": False}
        ],
        "compareRunCharts": [_line(name) for name in CHARTS],
        "isAccordionReordered": True,  # else the sections are sorted by name
    }
    now_ms = int(time.time() * 1000)
    named = {"name": "Campaigns", "createdAt": now_ms, "updatedAt": now_ms}
    return json.dumps({**named, "state": json.dumps(state)})


def _line(metric: str) -> dict[str, object]:
    return {
        "type": "LINE",
        "uuid": f"{SECTION}-{metric}",
        "metricSectionId": SECTION,
        "metricKey": metric,
        "selectedMetricKeys": [metric],
        "xAxisKey": "step",
        "selectedXAxisMetricKey": "",
        "xAxisScaleType": "linear",
        "scaleType": "linear",
        "range": {},
        "lineSmoothness": 0,
        "yAxisKey": "metric",
        "yAxisExpressions": [],
        "ignoreOutliers": False,
        "useGlobalXaxisKey": True,
        "useGlobalLineSmoothing": True,
        "runsCountToCompare": 10,
        "deleted": False,
        "isGenerated": False,
    }
