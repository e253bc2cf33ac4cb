"""Which known problem a task is, found from its arguments and confirmed by its reference."""

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from evaluators.tasks.arguments import Argument, Array, Workload
from evaluators.tasks.task import Task

Kind = Literal["gemm", "softmax", "sum", "transpose", "block_scaled_gemm"]

Techniques = Literal["all", "families", "generic"]
"""Which the catalogue uses: families of known problems, edits of any kernel, or both."""

MAX_BYTES = 1 << 22  # of inputs; the formula is tried on smaller tests only


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """A known problem. names: what the templates call an argument or dim -> the task's name."""

    kind: Kind
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pattern:
    """arguments: the pattern's own names with their shapes, inputs first, the output last; shapes
    that are computed from dims come after those dims. dtypes: where they are not float32.
    multiples: of what dims always are one.
    """

    kind: Kind
    arguments: Mapping[str, tuple[str, ...]]
    formula: Callable[..., Array]
    dtypes: Mapping[str, str] = field(default_factory=dict)
    multiples: Mapping[str, int] = field(default_factory=dict)


def _softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def _block_scaled(a: Array, b: Array, a_scale: Array, b_scale: Array) -> Array:
    across = np.repeat(np.repeat(b_scale, 128, axis=0), 128, axis=1)[:, : b.shape[1]]
    return np.asarray((a * np.repeat(a_scale, 128, axis=0)).T @ (b * across))


_PATTERNS = (
    _Pattern(
        kind="gemm",
        arguments={"a": ("M", "K"), "b": ("K", "N"), "c": ("M", "N")},
        formula=lambda a, b: a @ b,
    ),
    _Pattern(
        kind="transpose",
        arguments={"x": ("R", "C"), "y": ("C", "R")},
        formula=lambda x: x.T,
    ),
    _Pattern(
        kind="softmax",
        arguments={"x": ("R", "C"), "y": ("R", "C")},
        formula=_softmax,
    ),
    _Pattern(
        kind="sum",
        arguments={"x": ("N",), "out": ("1",)},
        formula=lambda x: x.sum(keepdims=True),
    ),
    _Pattern(
        kind="block_scaled_gemm",
        arguments={
            "a": ("K", "M"),
            "b": ("K", "N"),
            "a_scale": ("K // 128", "M"),
            "b_scale": ("K // 128", "ceil_div(N, 128)"),
            "c": ("M", "N"),
        },
        formula=_block_scaled,
        dtypes={"a": "float8_e4m3fnuz", "b": "float8_e4m3fnuz", "c": "bfloat16"},
        multiples={"M": 16, "N": 16, "K": 128},
    ),
)

_FOUND: dict[str, Structure | None] = {}


def structure(task: Task) -> Structure | None:
    """The known problem that a task is, or None. Costs the reference on small tests, once.

    Arguments must have the dtypes and shapes of a pattern under any names, and the task's own
    reference must agree with the pattern's formula: shapes alone can't tell a softmax from a layer
    normalisation.
    """
    if task.hash not in _FOUND:
        _FOUND[task.hash] = next(
            (
                Structure(kind=pattern.kind, names=names)
                for pattern in _PATTERNS
                if (names := _names(task, pattern)) is not None and _agrees(task, pattern, names)
            ),
            None,
        )
    return _FOUND[task.hash]


def tests(task: Task) -> tuple[Workload, ...]:
    """The test shapes of every backend."""
    return tuple(workload for shapes in task.suites["tests"].values() for workload in shapes)


def _names(task: Task, pattern: _Pattern) -> dict[str, str] | None:
    """The pattern's names -> the task's, where the arguments fit, and nothing beside them."""
    if task.dtypes or task.own.check is not None or task.own.epilogue is not None or task.makes:
        return None
    if any(argument.optional or argument.strides is not None for argument in task.arguments):
        return None
    inputs = [a for a in task.arguments if a.role in ("in", "constant")]
    outputs = [a for a in task.arguments if a.role == "out"]
    ordered = [*inputs, *outputs]
    if (
        len(ordered) != len(task.arguments)
        or len(ordered) != len(pattern.arguments)
        or len(outputs) != 1
    ):
        return None
    names: dict[str, str] = {}
    for argument, (name, shape) in zip(ordered, pattern.arguments.items(), strict=True):
        dtype = pattern.dtypes.get(name, "float32")
        if argument.dtype != dtype or not _bind(names, argument, shape):
            return None
        names[name] = argument.name
    dims = {name for name in names.values() if name in task.dims}
    stated = [one for suite in task.suites.values() for shapes in suite.values() for one in shapes]
    fits = all(
        math.gcd(*(one.dims[names[dim]] for one in stated)) % multiple == 0
        for dim, multiple in pattern.multiples.items()
    )
    return names if fits and dims == set(task.dims) else None


def _bind(names: dict[str, str], argument: Argument, shape: tuple[str, ...]) -> bool:
    """Fit one shape; every pattern dim stands for one dim of the task, and no two for the same."""
    if len(argument.dimensions) != len(shape):
        return False
    for expression, dim in zip(argument.dimensions, shape, strict=True):
        text = expression.text.strip()
        if not dim.isidentifier():
            if not _is_same(dim, text, names):
                return False
        elif dim in names:
            if names[dim] != text:
                return False
        elif text in names.values() or expression.names != {text}:
            return False
        else:
            names[dim] = text
    return True


def _is_same(wanted: str, text: str, names: Mapping[str, str]) -> bool:
    """Whether a number, or an expression of dims, is the pattern's in the task's names."""
    tree = ast.parse(wanted, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return ast.dump(tree) == ast.dump(ast.parse(text, mode="eval"))


def _agrees(task: Task, pattern: _Pattern, names: Mapping[str, str]) -> bool:
    *inputs, output = (names[name] for name in pattern.arguments)
    tried = 0
    for workload in tests(task):
        if task.nbytes(workload) > MAX_BYTES:
            continue
        drawn = task.inputs(workload, seed=1)
        expected = pattern.formula(*(drawn[name].astype(np.float64) for name in inputs))
        if not np.allclose(task.reference(workload, drawn)[output], expected, rtol=1e-6):
            return False
        tried += 1
    return tried > 0
