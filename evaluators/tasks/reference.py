"""A task's reference tried on its smallest shape, before anything is built on it."""

from evaluators.tasks.arguments import SUITES, Workload
from evaluators.tasks.task import Task


def check_reference(task: Task, backend: str) -> None:
    """Raises TaskError when reference() raises, or returns what task.yaml does not say."""
    workload = smallest(task, backend)
    if workload is not None:
        task.reference(workload, task.inputs(workload, seed=0))


def smallest(task: Task, backend: str) -> Workload | None:
    """Of all suites, by the bytes of its arguments; None where the backend has none."""
    shapes = [one for suite in SUITES for one in task.workloads(suite, backend)]
    return min(
        shapes,
        key=lambda one: sum(argument.nbytes(one.dims) for argument in task.arguments),
        default=None,
    )
