"""The shapes that a kernel is checked on: those that its task states, and those derived for it."""

import functools
import hashlib

from evaluators.checks.disclosure import on
from evaluators.evaluation import Rejected
from evaluators.kernel.plan import Defines
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.arguments import SUITES, Suite, TaskError, Workload
from evaluators.tasks.covering import below, covering_shapes
from evaluators.tasks.task import Task, TaskContent

SMALL_BYTES = 1 << 18
"""Of all arguments of a small derived shape."""
LARGE_BYTES = 1 << 23
"""Of one derived from the smallest benchmark."""
FURTHER_BUILDS = 2
"""Derived shapes for which a kernel that has sizes compiled in is compiled once more."""


def shapes_for(
    kernel: KernelSource, task: Task, suite: Suite, backend: str
) -> tuple[Workload, ...]:
    """A suite's shapes as the task states them; beside held-out ones those that are derived.

    Of these a kernel that is compiled for each size anew meets FURTHER_BUILDS only, which nobody
    can tell beforehand. Raises Rejected(INVALID): what a kernel does on one of them makes no sense.
    """
    stated = task.workloads(suite, backend)
    if suite != "held_out":
        return stated
    known = {_defines(kernel, w) for one in SUITES for w in task.workloads(one, backend)}
    met: list[Workload] = []
    unmet: list[Workload] = []
    for workload in derived_shapes(task, backend):
        (met if _defines(kernel, workload) in known else unmet).append(workload)
    unmet.sort(key=lambda w: hashlib.sha256(f"{kernel.id} {w.label}".encode()).digest())
    return (*stated, *met, *unmet[:FURTHER_BUILDS])


def derived_shapes(task: Task, backend: str) -> tuple[Workload, ...]:
    """Held-out shapes beside the stated ones: no seed of the task and no formula refuses them."""
    return _derived(TaskContent(task), backend)


@functools.lru_cache(maxsize=64)
def _derived(content: TaskContent, backend: str) -> tuple[Workload, ...]:
    task = content.task
    stated = [w for suite in SUITES for w in task.workloads(suite, backend)]
    benchmarks = task.workloads("benchmarks", backend)
    if not stated or not benchmarks:
        return ()

    def small(workload: Workload) -> bool:
        return _takes(task, workload, SMALL_BYTES) and _has_reference(task, workload)

    def large(workload: Workload) -> bool:
        return _takes(task, workload, LARGE_BYTES)

    made = covering_shapes(stated, small)
    if not made:  # the task's shapes are what it states
        return ()
    known = {workload.label for workload in (*stated, *made)}
    smallest = min(benchmarks, key=task.nbytes)
    return (*made, *(w for w in below(smallest, stated, large) if w.label not in known))


def _takes(task: Task, workload: Workload, most_bytes: int) -> bool:
    """Whether the task's formulas hold, within so many bytes, and every seed can be planned."""
    try:
        if not task.holds(workload) or task.nbytes(workload) > most_bytes:
            return False
        for text in task.seeds.values():
            parse_kernel(text).plan(task, workload.dims)
    except Rejected:
        return False
    return True


def _has_reference(task: Task, workload: Workload) -> bool:
    try:
        task.reference(workload, task.inputs(workload, seed=0))
    except TaskError:
        return False
    return True


def _defines(kernel: KernelSource, workload: Workload) -> Defines:
    with on(workload):
        params = kernel.params_for(workload.dims)
    sizes = {name: workload.dims[name] for name in kernel.specialize if name in workload.dims}
    return tuple(sorted({**params, **sizes}.items()))
