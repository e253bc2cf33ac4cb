"""Shapes that a kernel's own conditions tell apart: its variants, and launches with a `when`."""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evaluators.device_info import Target
from evaluators.evaluation import Rejected
from evaluators.expression import Expression
from evaluators.kernel.planner import Planner, env_for, holds
from evaluators.kernel.source import KernelSource
from evaluators.tasks.arguments import Workload
from evaluators.tasks.covering import between, ragged
from evaluators.tasks.task import Task

TRIES = 500
FURTHER_SHAPES = 2
"""For one kernel."""

Case = tuple[str, int, bool]
"""A variant that is chosen, or a launch that is made or left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """shapes: on which cases occur that occur on no shape known before, FURTHER_SHAPES at most.

    unmet: conditions that hold on no shape that a kernel's author may know, nor on any tried.
    """

    shapes: tuple[Workload, ...] = ()
    unmet: tuple[str, ...] = ()


def find_windows(
    kernel: KernelSource,
    task: Task,
    shown: Sequence[Workload],
    hidden: Sequence[Workload],
    admits: Callable[[Workload], bool],
    target: Target,
) -> Windows:
    """shown: the shapes that are told to a kernel's author; hidden: others that it is checked on.

    Tried are shapes between the shown ones, the same ones for the same kernel, of which the ragged
    and small ones are preferred; admits: what the task takes. Raises Rejected(INVALID): a condition
    makes no sense on a shown shape.
    """
    conditions = dict(_conditions(kernel))
    if not conditions:
        return Windows()
    told = {case for shape in shown for case in _met(kernel, task, shape, target)}
    known = told.union(*(_met_or_none(kernel, task, shape, target) for shape in hidden))
    wanted = {(kind, i, yes) for kind, i in conditions for yes in (True, False)}
    tried = _tried(kernel, task, shown, wanted - told, admits, target)
    chosen: list[Workload] = []
    for shape, cases in tried:
        if len(chosen) < FURTHER_SHAPES and not cases <= known:
            chosen.append(shape)
            known |= cases
    met = told.union(*(cases for _, cases in tried))
    unmet = [text for key, text in conditions.items() if (*key, True) not in met]
    return Windows(shapes=tuple(chosen), unmet=tuple(unmet))


def _tried(
    kernel: KernelSource,
    task: Task,
    shown: Sequence[Workload],
    wanted: set[Case],
    admits: Callable[[Workload], bool],
    target: Target,
) -> list[tuple[Workload, set[Case]]]:
    """Shapes with wanted cases and those, the best first; none where nothing is wanted."""
    rng = np.random.default_rng(int(kernel.id, 16))
    found: dict[str, tuple[Workload, set[Case]]] = {}
    for _ in range(TRIES if wanted else 0):
        shape = between(shown, rng, _numbers(kernel))
        cases = _met_or_none(kernel, task, shape, target) & wanted
        if cases and admits(shape):
            found[shape.label] = shape, cases
    return sorted(found.values(), key=lambda one: (not ragged(one[0], shown), task.nbytes(one[0])))


def _conditions(kernel: KernelSource) -> Iterator[tuple[tuple[str, int], str]]:
    """Those that name anything, with the words in which they are told."""
    for i, variant in enumerate(kernel.variants):
        yield ("variant", i), f"the variant for {variant.when.text!r}"
    for i, launch in enumerate((*kernel.prepare, *kernel.launches)):
        if launch.when.names:
            yield ("launch", i), f"what is launched when {launch.when.text!r}"


def _met(kernel: KernelSource, task: Task, shape: Workload, target: Target) -> set[Case]:
    """Raises Rejected(INVALID)."""
    planner = Planner(kernel.front, task, shape, target)
    known = {**env_for(shape, target), **kernel.params}
    cases: set[Case] = set()
    chosen = False
    for i, variant in enumerate(kernel.variants):
        chosen_now = not chosen and holds(variant.when, known, variant.line)
        cases.add(("variant", i, chosen_now))
        chosen |= chosen_now
    for i, launch in enumerate((*kernel.prepare, *kernel.launches)):
        if launch.when.names:
            rounds = planner.rounds(launch)
            cases |= {("launch", i, holds(launch.when, env, launch.line)) for env in rounds}
    return cases


def _met_or_none(kernel: KernelSource, task: Task, shape: Workload, target: Target) -> set[Case]:
    try:
        return _met(kernel, task, shape, target)
    except Rejected:
        return set()


def _numbers(kernel: KernelSource) -> list[int]:
    """Those in the conditions: something may change there."""
    conditions: list[Expression] = [variant.when for variant in kernel.variants]
    conditions += [launch.when for launch in (*kernel.prepare, *kernel.launches)]
    nodes = [node for one in conditions for node in ast.walk(one.tree)]
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return sorted({value for value in values if isinstance(value, int)})
