"""What numpy's functions do to traced arrays."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from operators.catalog.formula.node import Graph, Node
from operators.catalog.formula.sizes import Size, size_node
from operators.catalog.formula.traced import Indices, Traced, Untraceable, traced

UFUNCS: Mapping[str, str] = {
    "true_divide": "divide",
    "fmax": "maximum",
    "fmin": "minimum",
    "fabs": "absolute",
    "float_power": "power",
    "mod": "remainder",
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "invert": "logical_not",
}
"""Names that mean the same here; the bitwise ones of booleans only."""

ELEMENTWISE = frozenset(
    [
        "add",
        "subtract",
        "multiply",
        "divide",
        "negative",
        "positive",
        "power",
        "maximum",
        "minimum",
        "absolute",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "sqrt",
        "cbrt",
        "square",
        "reciprocal",
        "sin",
        "cos",
        "tan",
        "tanh",
        "sinh",
        "cosh",
        "arctan",
        "erf",
        "expit",
        "rint",
        "floor",
        "ceil",
        "trunc",
        "sign",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
        "equal",
        "not_equal",
        "logical_and",
        "logical_or",
        "logical_not",
        "floor_divide",
        "remainder",
    ]
)

Aligned = Callable[[Indices], Node]


def of_ufunc(
    graph: Graph, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """ufunc(*inputs). Raises Untraceable."""
    out = kwargs.pop("out", None)
    kwargs.pop("dtype", None)
    if method == "accumulate" and ufunc.__name__ in ("add", "maximum", "minimum", "multiply"):
        how = {"add": "sum", "maximum": "max", "minimum": "min", "multiply": "prod"}
        result = accumulated(traced(graph, inputs[0]), how[ufunc.__name__], kwargs.get("axis", 0))
    elif method == "reduce" and ufunc.__name__ in ("add", "maximum", "minimum", "multiply"):
        how = {"add": "sum", "maximum": "max", "minimum": "min", "multiply": "prod"}
        axis = kwargs.pop("axis", 0)
        keep = kwargs.pop("keepdims", False)
        result = reduced(traced(graph, inputs[0]), how[ufunc.__name__], axis, keep)
    elif method == "outer" and not kwargs:
        a, b = (traced(graph, one) for one in inputs)
        wide = a[(..., *[None] * b.ndim)]
        result = elementwise(graph, _name(ufunc, (wide, b)), wide, b)
    elif method != "__call__" or kwargs:
        raise Untraceable(f"np.{ufunc.__name__}.{method}")
    elif ufunc.__name__ == "matmul":
        result = matmul(*(traced(graph, one) for one in inputs))
    else:
        arrays = [traced(graph, one) for one in inputs]
        result = elementwise(graph, _name(ufunc, arrays), *arrays)
    if out is not None:
        return _into(out[0], result)
    return result


def _name(ufunc: Any, arrays: Sequence[Traced]) -> str:
    name = str(UFUNCS.get(ufunc.__name__, ufunc.__name__))
    bitwise = ufunc.__name__ in ("bitwise_and", "bitwise_or", "invert")
    if name not in ELEMENTWISE or (bitwise and any(one.kind != "bool" for one in arrays)):
        raise Untraceable(f"np.{ufunc.__name__}")
    return name


def _into(target: Any, result: Traced) -> Traced:
    if not isinstance(target, Traced):
        raise Untraceable("a result put into a plain array")
    whole = broadcast_to(result, target.shape)
    target.assign(whole.at)
    target.kind = "float" if whole.kind == "float" else target.kind
    return target


def elementwise(graph: Graph, name: str, *arrays: Traced) -> Traced:
    shape, aligned = broadcast(graph, arrays)

    def at(indices: Indices) -> Node:
        return graph.call(name, *(one(indices) for one in aligned))

    kind = graph.call(name, *(one.sample() for one in arrays)).kind
    return Traced(graph, shape, at, kind)


def broadcast(graph: Graph, arrays: Sequence[Traced]) -> tuple[tuple[int, ...], list[Aligned]]:
    """The common shape, and each array's element at indices of that shape."""
    depth = max(one.ndim for one in arrays)
    shape: list[int] = []
    for axis in range(depth):
        sizes = [one.shape[axis - depth + one.ndim] for one in arrays if axis >= depth - one.ndim]
        wide = [size for size in sizes if not _is_one(size)]
        if any(int(size) != int(wide[0]) for size in wide):
            raise Untraceable("shapes that don't fit together")
        named = [size for size in wide if isinstance(size, Size)]
        shape.append((named or wide or sizes)[0])
    return tuple(shape), [_aligned(graph, one, shape) for one in arrays]


def _is_one(size: int) -> bool:
    return int(size) == 1 and not isinstance(size, Size)


def _aligned(graph: Graph, array: Traced, shape: Sequence[int]) -> Aligned:
    skip = len(shape) - array.ndim
    ones = [_is_one(size) and not _is_one(shape[skip + i]) for i, size in enumerate(array.shape)]
    zero = graph.const(0)

    def at(indices: Indices) -> Node:
        own = indices[skip:]
        return array.at(tuple(zero if one else i for i, one in zip(own, ones, strict=True)))

    return at


def broadcast_to(array: Traced, shape: Sequence[int]) -> Traced:
    if len(shape) < array.ndim or any(
        int(a) != int(b) and not _is_one(a)
        for a, b in zip(array.shape[::-1], list(shape)[::-1], strict=False)
    ):
        raise Untraceable("shapes that don't fit together")
    return Traced(array.graph, shape, _aligned(array.graph, array, shape), array.kind)


def _axes(array: Traced, axis: Any) -> list[int]:
    if axis is None:
        return list(range(array.ndim))
    axes = [axis] if isinstance(axis, int | np.integer) else list(axis)
    return sorted(int(one) % array.ndim for one in axes)


def reduced(array: Traced, how: str, axis: Any = None, keepdims: bool = False) -> Traced:
    graph = array.graph
    axes = _axes(array, axis)
    if how.startswith("arg") and len(axes) != 1:
        raise Untraceable("the place of an extreme over several axes")
    kept = [i for i in range(array.ndim) if i not in axes]
    shape = [1 if i in axes else size for i, size in enumerate(array.shape)]

    def at(indices: Indices) -> Node:
        outer = list(indices) if keepdims else [graph.const(0)] * array.ndim
        if not keepdims:
            for place, i in enumerate(kept):
                outer[i] = indices[place]
        return _reduced_over(array, how, axes, outer)

    kind = reduced_kind(array, how)
    return Traced(graph, shape if keepdims else [array.shape[i] for i in kept], at, kind)


def reduced_kind(array: Traced, how: str) -> Any:
    if how in ("any", "all"):
        return "bool"
    return "int" if how.startswith("arg") or array.kind == "bool" else array.kind


def _reduced_over(array: Traced, how: str, axes: Sequence[int], outer: Sequence[Node]) -> Node:
    """Nested reductions, each over a variable that is named by its level."""
    graph = array.graph
    own = list(outer)
    for i in axes:
        own[i] = graph.var(f"tmp{i}", size_node(array.shape[i], graph))
    body = array.at(tuple(own))
    for i in reversed(axes):
        variable = graph.var(f"k{body.level + 1}", size_node(array.shape[i], graph))
        body = graph.reduce(how, variable, graph.replaced(body, {own[i]: variable}))
    return body


def accumulated(array: Traced, how: str, axis: Any) -> Traced:
    """A scan: a reduction of what lies before an index, and of the element itself."""
    graph = array.graph
    if axis is None:
        if array.ndim != 1:
            raise Untraceable("a scan over several axes")
        axis = 0
    (along,) = _axes(array, axis)

    def at(indices: Indices) -> Node:
        own = list(indices)
        end = graph.call("add", indices[along], graph.const(1))
        own[along] = graph.var("tmp", end)
        body = array.at(tuple(own))
        variable = graph.var(f"k{body.level + 1}", end)
        return graph.reduce(how, variable, graph.replaced(body, {own[along]: variable}))

    return Traced(graph, array.shape, at, reduced_kind(array, how))


def matmul(a: Traced, b: Traced) -> Traced:
    """a @ b, of matrices, stacks of these, and vectors."""
    if a.ndim == 1:
        return taken_axis(matmul(a[None, :], b), -2)
    if b.ndim == 1:
        return taken_axis(matmul(a, b[:, None]), -1)
    left = a[(..., slice(None), slice(None), None)]
    right = b[(..., None, slice(None), slice(None))]
    return reduced(elementwise(a.graph, "multiply", left, right), "sum", axis=-2)


def taken_axis(array: Traced, axis: int) -> Traced:
    key: list[Any] = [slice(None)] * array.ndim
    key[axis] = 0
    return array[tuple(key)]
