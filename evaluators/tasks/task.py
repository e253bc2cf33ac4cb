"""Task: what a kernel must compute, on which shapes, how exactly."""

import functools
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.dtypes import Value, given_as
from evaluators.expression import Expression, ExpressionError
from evaluators.tasks.arguments import (
    UNSAID,
    Argument,
    Array,
    Distribution,
    Suite,
    TaskError,
    Workload,
    check_steps,
)
from evaluators.tasks.baselines import Baseline
from evaluators.tasks.distribution import UNSTATED
from evaluators.tasks.reference_calls import made_by, referred_to
from evaluators.tasks.reference_file import ReferenceFile, load_reference, read_text

__all__ = [
    "Argument",
    "Array",
    "Distribution",
    "Suite",
    "Task",
    "TaskError",
    "Workload",
    "load_reference",
    "read_text",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A kernel problem. hash changes when task.yaml or reference.py does, but for operations and
    baselines.

    attributes: the defaults of what a workload may set that is no size. dtypes: by dtype parameter
    what it may be, the default first.
    compute_dtype: whose peak bounds it; "" where it doesn't say. operations: how many of those that
    cost more than one flop (OPERATION_FLOPS), which flops don't count.
    values: the classes of values that it states; None where it says nothing.
    derives_held_out: its held-out shapes are made from its benchmarks, it states none itself.
    backend: that its seeds are for; "" where they are for several.
    """

    name: str
    hash: str
    folder: Path
    description: str
    dims: tuple[str, ...]
    arguments: tuple[Argument, ...]
    flops: Expression | None
    bytes: Expression | None
    compute_dtype: str
    suites: Mapping[Suite, Mapping[str, tuple[Workload, ...]]]
    seeds: Mapping[str, str]
    attributes: Mapping[str, Value] = field(default_factory=dict)
    dtypes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    operations: Mapping[str, Expression] = field(default_factory=dict)
    values: tuple[str, ...] | None = None
    derives_held_out: bool = False
    reference_text: str = ""  # of reference.py
    backend: str = ""
    baselines: tuple[Baseline, ...] = ()  # beside the naive seed; no part of the hash
    whole: "Task | None" = field(default=None, compare=False, repr=False)  # where on() made it

    def on(self, workload: Workload) -> "Task":
        """The task as a workload has it: its arguments' dtypes, and none that is null there."""
        setting, whole = workload.setting, self.whole or self
        arguments = tuple(
            argument.on(setting)
            for argument in whole.arguments
            if not setting.nulls.get(argument.name, False)
        )
        same = len(arguments) == len(whole.arguments) and all(map(_is, arguments, whole.arguments))
        return whole if same else replace(whole, arguments=arguments, whole=whole)

    @property
    def naive(self) -> str:
        """The text of the seed named naive, else of the first by name; where seeds may be for
        other backends see kernel.seeds.naive_of()."""
        return self.seeds.get("naive") or self.seeds[min(self.seeds)]

    @property
    def outputs(self) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if argument.written)

    @property
    def own(self) -> ReferenceFile:
        """The functions in its reference.py, as the task was loaded. Raises TaskError."""
        return load_reference(self.folder / "reference.py", self.reference_text)

    @property
    def makes(self) -> frozenset[str]:
        """Names of the inputs that its own inputs() makes. Raises TaskError."""
        return _makes(TaskContent(self.whole or self))

    @property
    def compares(self) -> frozenset[str]:
        """Names of the outputs that reference() returns; all others are left to its own check().
        Raises TaskError."""
        return _compares(TaskContent(self.whole or self))

    def unusual(self) -> dict[str, tuple[Argument, ...]]:
        """By class of values that kernels are tried with, the inputs that then hold such values:
        every one that is drawn, floating and no constant; if nothing is said, those drawn from a
        normal distribution."""
        kinds = ("normal",) if self.values is None else ("normal", "uniform")
        made = self.makes
        varied = tuple(
            a
            for a in self.arguments
            if a.role in ("in", "inout")
            and a.floating
            and a.distribution.kind in kinds
            and a.name not in made
        )
        classes = UNSAID if self.values is None else self.values
        return dict.fromkeys(classes, varied) if varied else {}

    def workloads(self, suite: Suite, backend: str) -> tuple[Workload, ...]:
        """The shapes of a suite on a backend: its own list, else the default one."""
        by_backend = self.suites[suite]
        return by_backend.get(backend, by_backend.get("default", ()))

    def nbytes(self, workload: Workload) -> int:
        """Of all arguments."""
        return sum(argument.nbytes(workload.env) for argument in self.on(workload).arguments)

    def holds(self, workload: Workload) -> bool:
        """Whether its formulas make sense on a shape that no file states."""
        env, arguments = workload.env, self.on(workload).arguments
        try:
            sizes = [size for a in arguments for size in a.shape(env)]
            limits = [limit for a in arguments for limit in (a.rtol(env), a.atol(env))]
            for argument in arguments:
                steps = argument.steps(env)
                sizes += steps or ()
                check_steps(argument.shape(env), steps)
                argument.distribution.check(env, argument.np_dtype)
            for formula in (self.flops, self.bytes, *self.operations.values()):
                if formula is not None:
                    formula.evaluate(env)
        except ExpressionError:
            return False
        return min(sizes) > 0 and min(limits) >= 0

    def names(self, workload: Workload, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """What functions of reference.py are given by name: the arrays, None for what is null,
        dims, attributes and dtypes."""
        setting = workload.setting
        nulls = {name: None for name, null in setting.nulls.items() if null}
        return {**nulls, **arrays, **workload.dims, **setting.values}

    def inputs(self, workload: Workload, seed: int) -> dict[str, Array]:
        """Every in, inout and constant argument in its own dtype, drawn from the seed or made by
        the task's own inputs(). Raises TaskError."""
        made = self.made(workload, seed)
        rng = np.random.default_rng(_seeded(workload, seed))
        return {
            argument.name: made[argument.name]
            if argument.name in made
            else self._drawn(argument, rng, workload)
            for argument in self.on(workload).arguments
            if argument.role != "out"
        }

    def _drawn(self, argument: Argument, rng: np.random.Generator, workload: Workload) -> Array:
        if argument.distribution.kind == UNSTATED:
            raise TaskError(
                f"{self.folder / 'task.yaml'}: {argument.name} has no distribution, and inputs() "
                "does not return it; an integer input is drawn from 'integers', zeros or ones"
            )
        return argument.draw(rng, workload.env)

    def made(self, workload: Workload, seed: int) -> dict[str, Array]:
        """What the task's own inputs() returns, in its own dtypes. Raises TaskError."""
        if self.own.inputs is None:
            return {}
        found = self._made(workload, seed)
        expected = self.makes - {name for name, null in workload.setting.nulls.items() if null}
        if found.keys() != expected:
            raise TaskError(
                f"{self.own.path}: inputs() on {workload.label} returned {_list(found)}, elsewhere "
                f"{_list(expected)}; it must return the same names for each workload"
            )
        return found

    def _made(self, workload: Workload, seed: int) -> dict[str, Array]:
        concrete, root = self.on(workload), [*_seeded(workload, seed), 1]
        return made_by(
            self.own,
            self.names(workload, {}),
            np.random.default_rng(root),
            {a.name: a for a in concrete.arguments if a.role != "out"},
            workload,
        )

    def reference(self, workload: Workload, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """What reference.py says, by output name: float64, or int64 for integer outputs, uint64 for
        uint64; without those that only check() judges.

        Inputs that are as wide already are not copied: it may write into them. Raises TaskError
        when it raises, or does not return an output in its shape (of an epilogue it may be another)
        and as numbers of its kind.
        """
        if self.own.reference is None:
            return {}
        wider = {
            name: array.astype(given_as(array.dtype), copy=False) for name, array in inputs.items()
        }
        names = self.names(workload, wider)
        return referred_to(self.own, names, self.on(workload).outputs, workload)


def _is(a: object, b: object) -> bool:
    return a is b


def _list(names: Any) -> str:
    return ", ".join(sorted(names)) or "nothing"


def _seeded(workload: Workload, seed: int) -> list[int]:
    return [seed, zlib.crc32(workload.label.encode())]


class TaskContent:
    """A task by its content, as a key: equal ones are made of the same files."""

    def __init__(self, task: Task) -> None:
        self.task = task
        seeds, suites, operations = task.seeds.values(), str(task.suites), str(task.operations)
        dtypes = tuple((argument.name, argument.dtype) for argument in task.arguments)
        self._content = task.hash, tuple(seeds), suites, operations, dtypes

    def __hash__(self) -> int:
        return hash(self._content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TaskContent) and self._content == other._content


@functools.lru_cache(maxsize=64)
def _makes(content: TaskContent) -> frozenset[str]:
    """As inputs() does on the smallest shape."""
    task = content.task
    if not (task.folder / "reference.py").is_file() or task.own.inputs is None:
        return frozenset()
    workload = smallest_stated(task)
    return frozenset(task._made(workload, 0)) if workload is not None else frozenset()


@functools.lru_cache(maxsize=64)
def _compares(content: TaskContent) -> frozenset[str]:
    """As reference() does on the smallest shape."""
    task = content.task
    every = frozenset(output.name for output in task.outputs)
    if not (task.folder / "reference.py").is_file() or task.own.check is None:
        return every
    workload = smallest_stated(task)
    if workload is None:
        return every
    return frozenset(task.reference(workload, task.inputs(workload, seed=0)))


def smallest_stated(task: Task) -> Workload | None:
    """Of all its shapes, on any backend, by the bytes of its arguments; of those in which nothing
    is null, where there are any."""
    shapes = [one for by in task.suites.values() for some in by.values() for one in some]
    return min(
        shapes,
        key=lambda one: (any(one.setting.nulls.values()), task.nbytes(one)),
        default=None,
    )
