"""Traits: what a task's declaration says of the work that its kernels do."""

import ast
import builtins
from collections.abc import Iterator
from math import log2, prod
from typing import Literal, get_args

from evaluators.expression import Env, ExpressionError
from evaluators.tasks.arguments import Argument, Workload
from evaluators.tasks.task import Task

Trait = Literal[
    "any",  # every task
    "product",  # matrix products: more operations than elements, the more the larger the shape
    "reuse",  # each element is worked with often: products, all pairs, wide stencils
    "streaming",  # each element is worked with a few times: memory bounds it
    "movement",  # elements are moved as they are: transposes, gathers, sorts
    "reduction",  # many elements become one: sums, maxima, norms, scans, rows of a softmax
    "special",  # exponentials, logarithms, sines
    "low_precision",  # floating types of two bytes or one
    "fp8",  # those of one byte
    "small",  # a benchmark shape with few bytes, or few outputs of a product
]
TRAITS: tuple[Trait, ...] = get_args(Trait)

REUSED = 16.0
"""Operations for each element of the arguments, from which on elements are reused."""
SMALL_BYTES = 4 << 20
"""Of all arguments: at some TB/s not more than the microseconds that a launch takes."""
SMALL_OUTPUTS = 1 << 20
"""Of a product: 256 tiles of 64 x 64, about one for each compute unit of a large GPU."""
PRODUCTS = frozenset({"matmul", "dot", "einsum", "tensordot", "inner", "vdot"})
REDUCTIONS = frozenset(
    {
        *("sum", "mean", "max", "min", "amax", "amin", "prod", "var", "std", "norm", "any", "all"),
        *("argmax", "argmin", "cumsum", "cumprod", "accumulate", "reduce", "logsumexp", "softmax"),
        *("bincount", "histogram", "nansum", "median", "average", "count_nonzero", "trace"),
    }
)
SPECIAL = frozenset(
    {
        *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logsumexp", "softmax"),
        *("sin", "cos", "tan", "tanh", "sinh", "cosh", "arctan", "arctan2", "erf", "power"),
    }
)


def traits_of(task: Task, backend: str) -> frozenset[Trait]:
    """By its formulas, shapes, types and tolerances, and by what its reference calls.

    A name says nothing: a task that nobody has seen is judged as those that are shipped.
    """
    shapes = sorted(task.workloads("benchmarks", backend), key=task.nbytes)
    called = _called(task.reference_text)
    product = _multiplies(task, called, shapes)
    found: dict[Trait, bool] = {
        "any": True,
        "product": product,
        "reuse": product or _reuse(task, shapes) >= REUSED,
        "reduction": _reduces(task, called, product),
        "special": bool(task.operations or called & SPECIAL),
        "low_precision": _narrowest(task) < 4,
        "fp8": _narrowest(task) < 2,
        "small": any(_is_small(task, workload, product) for workload in shapes),
    }
    found["streaming"] = not found["reuse"]
    found["movement"] = found["streaming"] and not found["reduction"] and _exact(task, shapes)
    return frozenset(trait for trait, holds in found.items() if holds)


def _called(reference: str) -> frozenset[str]:
    """Names of the functions and methods that are called, and "matmul" for the operator @."""
    try:
        tree = ast.parse(reference)
    except (SyntaxError, ValueError):
        return frozenset()
    return frozenset(_names(tree))


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(op=ast.MatMult()) | ast.AugAssign(op=ast.MatMult()):
                yield "matmul"
            case ast.Call(func=ast.Attribute(attr=name)):
                yield name
            case ast.Call(func=ast.Name(id=name)) if not hasattr(builtins, name):
                yield name  # "from scipy.special import softmax"; max(a, b) reduces nothing


def _multiplies(task: Task, called: frozenset[str], shapes: list[Workload]) -> bool:
    """Matrices by matrices: a matrix by a vector grows as its elements do, and is a reduction.

    Where no operations are stated, a matrix that comes out tells one from the other.
    """
    if not (called & PRODUCTS or _contracts(task)):
        return False
    if task.flops is None or not shapes:
        return any(len(output.dimensions) > 1 for output in task.outputs)
    return _growth(task, shapes[-1]) > 0.5


def _contracts(task: Task) -> bool:
    """Whether two matrices share a dim that no output has."""
    inner = [_dims(a) for a in _inputs(task) if a.floating and len(a.dimensions) > 1]
    kept = frozenset[str]().union(*map(_dims, task.outputs))
    return any(one & other - kept for i, one in enumerate(inner) for other in inner[:i])


def _growth(task: Task, shape: Workload) -> float:
    """By which power of a shape's size the operations grow faster than the elements."""
    if task.flops is None:
        return 0.0
    env, twice = shape.env, {**shape.env, **{name: 2 * n for name, n in shape.dims.items()}}
    try:
        flops = task.flops.evaluate(twice) / max(1, task.flops.evaluate(env))
        elements = _elements(task, twice) / _elements(task, env)
    except ExpressionError:
        return 0.0
    return log2(max(flops, 1e-9) / elements)


def _reuse(task: Task, shapes: list[Workload]) -> float:
    """Operations an element, on the largest shape."""
    if task.flops is None or not shapes:
        return 0.0
    env = shapes[-1].env
    return task.flops.evaluate(env) / _elements(task, env)


def _elements(task: Task, env: Env) -> int:
    return max(1, sum(prod(argument.shape(env)) for argument in task.arguments))


def _reduces(task: Task, called: frozenset[str], product: bool) -> bool:
    """Beside what a product itself adds up: as a softmax between two products does."""
    if called & REDUCTIONS:
        return True
    return not product and (bool(called & PRODUCTS) or _shrinks(task))


def _shrinks(task: Task) -> bool:
    """Whether an output lacks a dim that an input has, or a tolerance grows with one: a sum's."""
    had = frozenset[str]().union(*map(_dims, _inputs(task)))
    return any(
        had - _dims(output) or had & (output.absolute.names | output.relative.names)
        for output in task.outputs
    )


def _exact(task: Task, shapes: list[Workload]) -> bool:
    """Whether every output is compared bit for bit."""
    return not any(output.rounded(w.env) for output in task.outputs for w in shapes)


def _narrowest(task: Task) -> int:
    """Bytes of the smallest floating type."""
    return min((a.np_dtype.itemsize for a in task.arguments if a.floating), default=4)


def _is_small(task: Task, workload: Workload, product: bool) -> bool:
    outputs = sum(prod(output.shape(workload.env)) for output in task.outputs)
    return task.nbytes(workload) <= SMALL_BYTES or (product and outputs <= SMALL_OUTPUTS)


def _inputs(task: Task) -> list[Argument]:
    return [argument for argument in task.arguments if argument.role != "out"]


def _dims(argument: Argument) -> frozenset[str]:
    return frozenset[str]().union(*(size.names for size in argument.dimensions))
