"""Builds: the sets of defines with which a kernel file was compiled, and when each one serves."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluators.expression import Expression
from evaluators.kernel.planner import holds
from evaluators.kernel.source import KernelSource
from evaluators.tasks.arguments import SUITES
from evaluators.tasks.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One compilation of the code.

    variant: which of the file's variants chose the params; None: none of them, so its params.
    specialised: sizes that are compiled in. defines: params and specialised sizes.
    """

    variant: int | None
    specialised: Mapping[str, int]
    defines: Mapping[str, int]


def builds_of(kernel: KernelSource, task: Task, backend: str) -> tuple[Build, ...]:
    """What is compiled for the task's shapes on a backend, each once; all that was ever checked.

    Raises Rejected(INVALID): a shape that the file can't be planned on.
    """
    found: dict[tuple[int | None, tuple[tuple[str, int], ...]], Build] = {}
    for dims in _shapes(task, backend):
        kernel.plan(task, dims)
        variant = chosen_variant(kernel, dims)
        specialised = {name: dims[name] for name in kernel.specialize}
        key = variant, tuple(sorted(specialised.items()))
        defines = dict(sorted({**kernel.params_for(dims), **specialised}.items()))
        found.setdefault(key, Build(variant=variant, specialised=specialised, defines=defines))
    return tuple(found.values())


def chosen_variant(kernel: KernelSource, dims: Mapping[str, int]) -> int | None:
    """The number of the first variant whose condition holds; see planner.params_for."""
    for number, variant in enumerate(kernel.variants):
        if holds(variant.when, {**dims, **kernel.params}, variant.line):
            return number
    return None


def conditions(kernel: KernelSource) -> tuple[Expression, ...]:
    """Of the variants, in the order in which they are tried."""
    return tuple(variant.when for variant in kernel.variants)


def _shapes(task: Task, backend: str) -> Iterator[Mapping[str, int]]:
    for suite in SUITES:
        for workload in task.workloads(suite, backend):
            yield workload.dims
