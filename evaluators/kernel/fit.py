"""Whether a kernel file can be a candidate for a task, as far as no compiler is needed to say."""

from evaluators.kernel.source import parse_kernel
from evaluators.kernel.source_check import check_source
from evaluators.tasks.arguments import Suite
from evaluators.tasks.task import Task

SHOWN_SUITES: tuple[Suite, ...] = ("tests", "benchmarks")
"""Whoever writes kernels may not learn the held-out shapes."""


def check_fit(source: str, task: Task, backend: str) -> None:
    """Whether it can be read, holds nothing that is refused, and says what to launch on every
    shape that is shown. Raises Rejected."""
    kernel = parse_kernel(source)
    check_source(kernel.code, first_line=kernel.code_line)
    for suite in SHOWN_SUITES:
        for workload in task.workloads(suite, backend):
            kernel.plan(task, workload.dims)
