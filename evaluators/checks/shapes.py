"""The shapes that a kernel is checked on: those that its task states, and those derived for it."""

import functools
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evaluators.checks.disclosure import on
from evaluators.checks.windows import Windows, find_windows
from evaluators.device_info import target_of
from evaluators.evaluation import Rejected
from evaluators.kernel.plan import Defines, Symbol
from evaluators.kernel.planner import spelled_in_cpp
from evaluators.kernel.seeds import naive_of, seeds_for
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks import covering
from evaluators.tasks.arguments import SUITES, Suite, TaskError, Workload
from evaluators.tasks.covering import above, below, covering_shapes
from evaluators.tasks.relations import related
from evaluators.tasks.task import Task, TaskContent
from evaluators.weights import weights_of

SMALL_BYTES = 1 << 18
"""Of all arguments of a small derived shape."""
LARGE_BYTES = 1 << 23
"""Of one derived from the smallest benchmark."""
LARGER_BYTES, LARGER_TIMES = 1 << 26, 4
"""Of one derived from the largest benchmark; times this one's bytes and work at most."""
WINDOW_BYTES = 1 << 25
"""Of one on which a condition of the kernel holds that holds on no other."""
SWEPT, SWEPT_BYTES, SWEPT_FLOPS = 96, 1 << 20, 8e6
"""Random shapes of one evaluation, and what each is of at most."""
SHOWN: tuple[Suite, ...] = ("tests", "benchmarks")
EMULATED_BYTES = 1 << 20
"""Of all arguments of an emulated shape."""
EMULATED_FLOPS = 4e7
"""Of its arithmetic, where the task tells it: the naive seed takes millions of instructions."""
LEAST_SIZE = 64
"""No size of a benchmark shape is halved below it."""
FURTHER_BUILDS = 2
"""Derived shapes for which a kernel that has sizes compiled in is compiled once more."""


def shapes_for(
    kernel: KernelSource, task: Task, suite: Suite, backend: str
) -> tuple[Workload, ...]:
    """A suite's shapes as the task states them; beside held-out ones those that are derived, and
    those on which a condition of the kernel's own holds that holds nowhere else.

    Raises Rejected(INVALID): what a kernel does on one of them makes no sense.
    """
    if suite != "held_out":
        return task.workloads(suite, backend)
    windows = _windows(kernel.text, TaskContent(task), backend)
    return (*_held_out(kernel, task, backend), *windows.shapes)


def unmet_conditions(kernel: KernelSource, task: Task, backend: str) -> tuple[str, ...]:
    """What no shape asks for that a kernel's author may know or that was looked for; nothing is
    said of held-out shapes. Raises Rejected(INVALID)."""
    return _windows(kernel.text, TaskContent(task), backend).unmet


def _held_out(kernel: KernelSource, task: Task, backend: str) -> tuple[Workload, ...]:
    """Those stated and derived: of these a kernel that is compiled for each size anew meets
    FURTHER_BUILDS only, which nobody can tell beforehand."""
    known = {_defines(kernel, w, backend) for one in SUITES for w in task.workloads(one, backend)}
    met: list[Workload] = []
    unmet: list[Workload] = []
    for workload in derived_shapes(task, backend):
        (met if _defines(kernel, workload, backend) in known else unmet).append(workload)
    unmet.sort(key=lambda w: hashlib.sha256(f"{kernel.id} {w.label}".encode()).digest())
    return (*task.workloads("held_out", backend), *met, *unmet[:FURTHER_BUILDS])


@functools.lru_cache(maxsize=64)
def _windows(text: str, content: TaskContent, backend: str) -> Windows:
    """Nothing for a task whose shapes are what it states."""
    task, kernel = content.task, parse_kernel(text)
    if not derived_shapes(task, backend):
        return Windows()
    shown = [w for suite in SHOWN for w in task.workloads(suite, backend)]

    def admits(workload: Workload) -> bool:
        return related(workload, shown) and _takes(task, workload, WINDOW_BYTES, backend)

    hidden = _held_out(kernel, task, backend)
    return find_windows(kernel, task, shown, hidden, admits, target_of(backend))


def swept_shapes(
    kernel: KernelSource, task: Task, backend: str, rng: np.random.Generator
) -> tuple[Workload, ...]:
    """Random held-out shapes, none known before, for which neither the kernel nor the naive seed
    must be compiled once more; none for a task whose shapes are what it states.

    Raises Rejected: the kernel can't be planned on one of them.
    """
    if not derived_shapes(task, backend):
        return ()
    naive, target = parse_kernel(naive_of(task, backend)), target_of(backend)
    known = _shapes(kernel, task, backend)
    labels = {workload.label for workload in known}
    built, naive_built = (compiled_for(one, task, backend) for one in (kernel, naive))

    def admits(workload: Workload) -> bool:
        if workload.label in labels or not _is_quick(task, workload, backend):
            return False
        if not naive_built.issuperset(naive.plan(task, workload, target).symbols):
            return False
        with on(workload):
            return built.issuperset(kernel.plan(task, workload, target).symbols)

    stated = [w for suite in SUITES for w in task.workloads(suite, backend)]
    sizes = [name for name in kernel.specialize if name in task.dims]
    pinned = [{name: w.dims[name] for name in sizes} for w in known]
    return tuple(covering.swept_shapes(stated, rng, admits, count=SWEPT, pinned=pinned))


def compiled_for(kernel: KernelSource, task: Task, backend: str) -> frozenset[Symbol]:
    """What of a kernel is compiled, for the shapes of all suites. Raises Rejected."""
    shapes = _shapes(kernel, task, backend)
    plans = [kernel.plan(task, workload, target_of(backend)) for workload in shapes]
    return frozenset(symbol for plan in plans for symbol in plan.symbols)


def _shapes(kernel: KernelSource, task: Task, backend: str) -> list[Workload]:
    return [w for suite in SUITES for w in shapes_for(kernel, task, suite, backend)]


def _is_quick(task: Task, workload: Workload, backend: str) -> bool:
    """Whether the task takes it, and takes little for it."""
    return _takes(task, workload, SWEPT_BYTES, backend) and _flops(task, workload) <= SWEPT_FLOPS


def _flops(task: Task, workload: Workload) -> float:
    """Zero where the task does not say."""
    return float(task.flops.evaluate(workload.env)) if task.flops else 0.0


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
        return _takes(task, workload, SMALL_BYTES, backend) and _has_reference(task, workload)

    def large(workload: Workload) -> bool:
        return _takes(task, workload, LARGE_BYTES, backend)

    largest = max(benchmarks, key=task.nbytes)

    def larger(workload: Workload) -> bool:
        least_bytes = task.nbytes(largest)
        return (
            task.nbytes(workload) > least_bytes
            and _takes(task, workload, min(LARGER_BYTES, LARGER_TIMES * least_bytes), backend)
            and _flops(task, workload) <= LARGER_TIMES * _flops(task, largest)
        )

    made = covering_shapes(stated, small)
    if not made:  # the task's shapes are what it states
        return ()
    known = {workload.label for workload in (*stated, *made)}
    smallest = min(benchmarks, key=task.nbytes)
    further = (*below(smallest, stated, large), *above(largest, stated, larger))
    return (*made, *(w for w in further if w.label not in known))


def _takes(task: Task, workload: Workload, most_bytes: int, backend: str) -> bool:
    """Whether the task's formulas hold, within so many bytes, and every seed of the backend can be
    planned."""
    try:
        if not task.holds(workload) or task.nbytes(workload) > most_bytes:
            return False
        for text in seeds_for(task, backend).values():
            parse_kernel(text).plan(task, workload, target_of(backend))
    except (Rejected, TaskError):
        return False
    return True


def _has_reference(task: Task, workload: Workload) -> bool:
    try:
        task.reference(workload, task.inputs(workload, seed=0))
    except TaskError:
        return False
    return True


def _defines(kernel: KernelSource, workload: Workload, backend: str) -> Defines:
    with on(workload):
        params = kernel.params_for(workload, target_of(backend))
    known = {**spelled_in_cpp(workload.setting), **workload.dims}
    compiled_in = {name: known[name] for name in kernel.specialize if name in known}
    return tuple(sorted({**params, **compiled_in}.items()))


class Split(NamedTuple):
    """Shapes that are emulated, and those that are not."""

    run: tuple[Workload, ...]
    left_out: tuple[Workload, ...]


def split(task: Task, workloads: Sequence[Workload]) -> Split:
    """By bytes and by arithmetic."""
    run = tuple(one for one in workloads if _is_small(task, one))
    return Split(run, tuple(one for one in workloads if one not in run))


def _is_small(task: Task, workload: Workload) -> bool:
    return task.nbytes(workload) <= EMULATED_BYTES and _flops(task, workload) <= EMULATED_FLOPS


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
        steps = {name: math.gcd(*(w.dims[name] for w in shown)) for name in task.dims}
        for one in (_halved(task, benchmark, steps) for benchmark in benchmarks):
            if one and _takes(task, one, EMULATED_BYTES, backend) and related(one, shown):
                # Weights add up where two benchmarks become one shape, if any are stated.
                known = found.get(one.label) if weights_of(benchmarks) else None
                weight = one.weight + (known.weight if known else 0.0)
                found[one.label] = replace(one, weight=weight)
    if not found:
        stated = (*benchmarks, *task.workloads("tests", backend))
        found = {one.label: one for one in split(task, stated).run[-3:]}
    return tuple(found.values())


def _halved(task: Task, workload: Workload, steps: Mapping[str, int]) -> Workload | None:
    """steps: of which its dims stay multiples. None: it does not become small."""
    while not _is_small(task, workload):
        dims = _halves(workload.dims, steps)
        if dims == workload.dims:
            return None
        workload = replace(workload, dims=dims)
        if not task.holds(workload):
            return None
    return workload


def _halves(dims: Mapping[str, int], steps: Mapping[str, int]) -> dict[str, int]:
    return {
        name: size // 2 // steps[name] * steps[name]
        if size >= 2 * max(LEAST_SIZE, steps[name])
        else size
        for name, size in dims.items()
    }
