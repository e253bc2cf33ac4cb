"""A task's seeds looked at before anything starts: read, and planned on every shape."""

from pathlib import Path

from evaluators.evaluation import Rejected
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.arguments import SUITES
from evaluators.tasks.task import Task, TaskError


def check_seeds(task: Task, backend: str) -> None:
    """Whether every seed says what to launch on every shape of the backend; compiles nothing.

    Raises TaskError: which file, which line, on which shape, why.
    """
    for name, text in task.seeds.items():
        path = task.folder / "seeds" / f"{name}.hip"
        try:
            kernel = parse_kernel(text)
        except Rejected as rejected:
            raise _bad(path, rejected, "") from None
        for suite in SUITES:
            for workload in task.workloads(suite, backend):
                try:
                    kernel.plan(task, workload.dims)
                except Rejected as rejected:
                    raise _bad(path, rejected, f" on {workload.label}") from None


def _bad(path: Path, rejected: Rejected, where: str) -> TaskError:
    return TaskError(f"{path}{where}: {rejected.reason}; mend this seed of the task")
