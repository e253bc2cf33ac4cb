"""Builds: the sets of defines with which a kernel file was compiled, and when each one serves."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluators.device_info import target_of
from evaluators.expression import Env, Expression
from evaluators.kernel.planner import env_for, holds, specialised
from evaluators.kernel.source import KernelSource
from evaluators.tasks.arguments import SUITES, Workload
from evaluators.tasks.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One compilation of the code.

    variant: which of the file's variants chose the params; None: none of them, so its params.
    specialised: sizes that are compiled in. defines: params and specialised sizes.
    """

    variant: int | None
    specialised: Mapping[str, int | str]
    defines: Mapping[str, int | str]


def builds_of(kernel: KernelSource, task: Task, backend: str) -> tuple[Build, ...]:
    """What is compiled for the task's shapes on a backend, each once; all that was ever checked.

    Raises Rejected(INVALID): a shape that the file can't be planned on.
    """
    found: dict[tuple[int | None, tuple[tuple[str, int | str], ...]], Build] = {}
    target = target_of(backend)
    for workload in _shapes(task, backend):
        kernel.plan(task, workload, target)
        variant = chosen_variant(kernel, env_for(workload, target))
        compiled_in = specialised(kernel.front, task, workload)
        key = variant, tuple(sorted(compiled_in.items()))
        defines = dict(sorted({**kernel.params_for(workload, target), **compiled_in}.items()))
        found.setdefault(key, Build(variant=variant, specialised=compiled_in, defines=defines))
    return tuple(found.values())


def chosen_variant(kernel: KernelSource, env: Env) -> int | None:
    """The number of the first variant whose condition holds; see planner.params_for."""
    for number, variant in enumerate(kernel.variants):
        if holds(variant.when, {**env, **kernel.params}, variant.line):
            return number
    return None


def conditions(kernel: KernelSource) -> tuple[Expression, ...]:
    """Of the variants, in the order in which they are tried."""
    return tuple(variant.when for variant in kernel.variants)


def _shapes(task: Task, backend: str) -> Iterator[Workload]:
    for suite in SUITES:
        yield from task.workloads(suite, backend)
