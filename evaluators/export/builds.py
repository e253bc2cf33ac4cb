"""Builds: the sets of defines with which a kernel file was compiled, and when each one serves."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluators.device_info import target_of
from evaluators.dtypes import Value
from evaluators.expression import Env, Expression
from evaluators.kernel.front_matter import Arg, Launch, StructArg, ValueArg
from evaluators.kernel.planner import env_for, holds, specialised, spelled_in_cpp
from evaluators.kernel.source import KernelSource
from evaluators.tasks.arguments import SUITES, Workload
from evaluators.tasks.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One compilation of the code.

    variant: which of the file's variants chose the params; None: none of them, so its params.
    pinned: sizes, attributes and dtypes that it is for alone, by name. defines: params and what is
    specialised. spelled: what a kernel's name may hold, as C++ writes it.
    """

    variant: int | None
    pinned: Mapping[str, Value | str]
    defines: Mapping[str, int | str]
    spelled: Mapping[str, int | str]


def builds_of(kernel: KernelSource, task: Task, backend: str) -> tuple[Build, ...]:
    """What is compiled for the task's shapes on a backend, each once; all that was ever checked.

    Raises Rejected(INVALID): a shape that the file can't be planned on.
    """
    found: dict[tuple[object, ...], Build] = {}
    target, names = target_of(backend), pinning(kernel)
    for workload in _shapes(task, backend):
        kernel.plan(task, workload, target)
        variant = chosen_variant(kernel, env_for(workload, target))
        known = {**workload.setting.values, **workload.dims}
        pinned = {name: known[name] for name in sorted(names) if name in known}
        compiled_in = specialised(kernel.front, task, workload)
        defines = dict(sorted({**kernel.params_for(workload, target), **compiled_in}.items()))
        build = Build(
            variant=variant,
            pinned=pinned,
            defines=defines,
            spelled={**spelled_in_cpp(workload.setting), **defines},
        )
        found.setdefault((variant, *pinned.items()), build)
    return tuple(found.values())


def pinning(kernel: KernelSource) -> frozenset[str]:
    """Names on which what is compiled, or passed, depends by its type."""
    steps = (*kernel.launches, *kernel.prepare)
    launches = [step for step in steps if isinstance(step, Launch)]
    named = {
        name
        for launch in launches
        for name in re.findall(r"[A-Za-z_]\w*", launch.kernel.partition("<")[2])
    }
    types = {name for launch in launches for arg in launch.args for name in _types(arg)}
    return frozenset({*kernel.specialize, *named, *types})


def _types(arg: Arg) -> Iterator[str]:
    match arg:
        case ValueArg():
            yield arg.type
        case StructArg():
            for field in arg.fields:
                yield from _types(field)


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
