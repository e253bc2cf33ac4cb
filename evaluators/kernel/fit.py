"""Whether a kernel file fits a task, as far as no compiler is needed to say."""

from pathlib import Path

from evaluators.device_info import target_of
from evaluators.evaluation import Rejected
from evaluators.kernel.seeds import seeds_for
from evaluators.kernel.source import parse_kernel
from evaluators.kernel.source_check import check_source
from evaluators.tasks.arguments import SUITES, Suite
from evaluators.tasks.task import Task, TaskError

SHOWN_SUITES: tuple[Suite, ...] = ("tests", "benchmarks")
"""Whoever writes kernels may not learn the held-out shapes."""


def check_fit(source: str, task: Task, backend: str) -> None:
    """Whether it can be read, holds nothing that is refused, and says what to launch on every
    shape that is shown. Raises Rejected."""
    kernel, target = parse_kernel(source), target_of(backend)
    check_source(kernel.code, first_line=kernel.code_line)
    for suite in SHOWN_SUITES:
        for workload in task.workloads(suite, backend):
            kernel.plan(task, workload, target)


def check_seeds(task: Task, backend: str) -> None:
    """Whether every seed that is for the backend says what to launch on every shape there; compiles
    nothing.

    Raises TaskError: which file, which line, on which shape, why.
    """
    for name, text in seeds_for(task, backend).items():
        path = task.folder / "seeds" / f"{name}.hip"
        try:
            kernel = parse_kernel(text)
        except Rejected as rejected:
            raise _bad(path, rejected, "") from None
        for suite in SUITES:
            for workload in task.workloads(suite, backend):
                try:
                    kernel.plan(task, workload, target_of(backend))
                except Rejected as rejected:
                    raise _bad(path, rejected, f" on {workload.label}") from None


def _bad(path: Path, rejected: Rejected, where: str) -> TaskError:
    return TaskError(f"{path}{where}: {rejected.reason}; mend this seed of the task")
