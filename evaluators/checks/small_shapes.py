"""Which shapes kernels are checked on where a device is emulated: those that take little."""

import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evaluators.checks.shapes import derived_shapes, flops_of, takes
from evaluators.tasks.arguments import SUITES, Workload
from evaluators.tasks.covering import related
from evaluators.tasks.task import Task, TaskContent

MOST_BYTES = 1 << 20
"""Of all arguments of an emulated shape."""
MOST_FLOPS = 4e7
"""Of its arithmetic, where the task tells it: the naive seed takes millions of instructions."""
LEAST_SIZE = 64
"""No size of a benchmark shape is halved below it."""


class Split(NamedTuple):
    """Shapes that are emulated, and those that are not."""

    run: tuple[Workload, ...]
    left_out: tuple[Workload, ...]


def split(task: Task, workloads: Sequence[Workload]) -> Split:
    """By bytes and by arithmetic."""
    run = tuple(one for one in workloads if _is_small(task, one))
    return Split(run, tuple(one for one in workloads if one not in run))


def _is_small(task: Task, workload: Workload) -> bool:
    return task.nbytes(workload) <= MOST_BYTES and flops_of(task, workload) <= MOST_FLOPS


def costed(task: Task, backend: str) -> tuple[Workload, ...]:
    """Shapes on which instructions are counted: the benchmarks' with their sizes halved until they
    are small; where the task takes no other shapes than it states, its small stated ones."""
    return _costed(TaskContent(task), backend)


@functools.lru_cache(maxsize=64)
def _costed(content: TaskContent, backend: str) -> tuple[Workload, ...]:
    task = content.task
    benchmarks = task.workloads("benchmarks", backend)
    found: dict[str, Workload] = {}
    if derived_shapes(task, backend):
        shown = [w for suite in SUITES for w in task.workloads(suite, backend)]
        for one in (_halved(task, benchmark) for benchmark in benchmarks):
            if one and takes(task, one, MOST_BYTES) and related(one, shown):
                found.setdefault(one.label, one)
    if not found:
        stated = (*benchmarks, *task.workloads("tests", backend))
        found = {one.label: one for one in split(task, stated).run[-3:]}
    return tuple(found.values())


def _halved(task: Task, workload: Workload) -> Workload | None:
    """None: it does not become small."""
    while not _is_small(task, workload):
        dims = _halves(workload.dims)
        if dims == workload.dims:
            return None
        workload = Workload(dims=dims, suite="benchmarks")
        if not task.holds(workload):
            return None
    return workload


def _halves(dims: Mapping[str, int]) -> dict[str, int]:
    return {name: size // 2 if size >= 2 * LEAST_SIZE else size for name, size in dims.items()}
