"""A task's reference tried on its smallest shape, before anything is built on it."""

from collections.abc import Sequence

from evaluators.tasks.arguments import SUITES, Suite, Workload
from evaluators.tasks.task import Task


def check_reference(task: Task, backend: str) -> None:
    """Raises TaskError when reference() raises, or returns what task.yaml does not say; inputs()
    likewise."""
    workload = smallest(task, backend)
    if workload is not None:
        task.reference(workload, task.inputs(workload, seed=0))
        _ = task.compares


def smallest(task: Task, backend: str, suites: Sequence[Suite] = SUITES) -> Workload | None:
    """Of the suites, by the bytes of its arguments; None where the backend has none."""
    shapes = [one for suite in suites for one in task.workloads(suite, backend)]
    return min(shapes, key=task.nbytes, default=None)
