"""numpy's functions of arrays by name: reductions, shapes, joins, choices."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from operators.catalog.formula.einsum import einsum
from operators.catalog.formula.functions import (
    accumulated,
    broadcast,
    broadcast_to,
    elementwise,
    matmul,
    reduced,
)
from operators.catalog.formula.node import Graph, Node
from operators.catalog.formula.shapes import (
    concatenated,
    expanded,
    moved,
    padded,
    repeated,
    reshaped,
    rolled,
    squeezed,
    stacked,
    transposed,
    windows,
)
from operators.catalog.formula.sizes import size_node
from operators.catalog.formula.traced import Indices, Traced, Untraceable, traced


def _reduction(how: str) -> Callable[..., Traced]:
    def function(
        graph: Graph, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False
    ) -> Traced:
        return reduced(traced(graph, a), how, axis, keepdims)

    return function


def _extreme(how: str) -> Callable[..., Traced]:
    def function(graph: Graph, a: Any, axis: Any = None, *, keepdims: bool = False) -> Traced:
        return reduced(traced(graph, a), how, axis, keepdims)

    return function


def _count(array: Traced, axis: Any) -> Traced:
    axes = range(array.ndim) if axis is None else np.atleast_1d(axis)
    graph = array.graph
    total = graph.const(1)
    for one in axes:
        total = graph.call("multiply", total, size_node(array.shape[int(one)], graph))
    node = graph.call("float", total)
    return Traced(graph, (), lambda _: node, "float")


def _mean(
    graph: Graph, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False
) -> Traced:
    array = traced(graph, a)
    return elementwise(graph, "divide", reduced(array, "sum", axis, keepdims), _count(array, axis))


def _var(
    graph: Graph,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: int = 0,
    keepdims: bool = False,
) -> Traced:
    array = traced(graph, a)
    centred = elementwise(graph, "subtract", array, _mean(graph, array, axis, keepdims=True))
    total = reduced(elementwise(graph, "square", centred), "sum", axis, keepdims)
    return elementwise(
        graph,
        "divide",
        total,
        elementwise(graph, "subtract", _count(array, axis), traced(graph, ddof)),
    )


def _std(graph: Graph, a: Any, *args: Any, **kwargs: Any) -> Traced:
    return elementwise(graph, "sqrt", _var(graph, a, *args, **kwargs))


def _where(graph: Graph, condition: Any, a: Any, b: Any) -> Traced:
    return elementwise(graph, "where", *(traced(graph, one) for one in (condition, a, b)))


def _clip(graph: Graph, a: Any, low: Any = None, high: Any = None) -> Traced:
    result = traced(graph, a)
    if low is not None:
        result = elementwise(graph, "maximum", result, traced(graph, low))
    if high is not None:
        result = elementwise(graph, "minimum", result, traced(graph, high))
    return result


def _scan(how: str) -> Callable[..., Traced]:
    def function(graph: Graph, a: Any, axis: Any = None, dtype: Any = None) -> Traced:
        return accumulated(traced(graph, a), how, axis)

    return function


def _same(graph: Graph, a: Any, *args: Any, **kwargs: Any) -> Traced:
    array = traced(graph, a)
    return Traced(graph, array.shape, array.at, array.kind)


def _astype(graph: Graph, a: Any, dtype: Any, **_: Any) -> Traced:
    array = traced(graph, a)
    kinds = {"f": "float", "i": "int", "u": "int", "b": "bool"}
    wanted = kinds.get(np.dtype(dtype).kind)
    if wanted == array.kind:
        return _same(graph, array)
    if wanted == "float":
        return elementwise(graph, "float", array)
    if wanted == "int":
        return elementwise(graph, "int", array)
    raise Untraceable("a conversion to another type")


def _like(value: float | None) -> Callable[..., Traced]:
    def function(graph: Graph, a: Any, fill: Any = None, **_: Any) -> Traced:
        array = traced(graph, a)
        one = traced(graph, float(value) if value is not None else fill)
        return broadcast_to(one, array.shape)

    return function


def _take(graph: Graph, a: Any, indices: Any, axis: Any = None, **_: Any) -> Traced:
    array = traced(graph, a)
    if axis is None:
        raise Untraceable("np.take without an axis")
    key: list[Any] = [slice(None)] * array.ndim
    key[int(axis) % array.ndim] = indices
    return array[tuple(key)]


def _take_along_axis(graph: Graph, a: Any, indices: Any, axis: int) -> Traced:
    array, places = traced(graph, a), traced(graph, indices)
    along = axis % array.ndim
    if places.kind != "int" or places.ndim != array.ndim:
        raise Untraceable("np.take_along_axis of such arrays")

    def at(own: Indices) -> Node:
        return array.at((*own[:along], places.at(own), *own[along + 1 :]))

    return Traced(graph, places.shape, at, array.kind)


def _dot(graph: Graph, a: Any, b: Any) -> Traced:
    left, right = traced(graph, a), traced(graph, b)
    if left.ndim == 0 or right.ndim == 0:
        return elementwise(graph, "multiply", left, right)
    if right.ndim > 2:
        raise Untraceable("np.dot of such arrays")
    return matmul(left, right)


def _outer(graph: Graph, a: Any, b: Any) -> Traced:
    left, right = traced(graph, a), traced(graph, b)
    return elementwise(graph, "multiply", left[:, None], right[None, :])


def _broadcast_arrays(graph: Graph, *arrays: Any) -> tuple[Traced, ...]:
    found = [traced(graph, one) for one in arrays]
    shape, _ = broadcast(graph, found)
    return tuple(broadcast_to(one, shape) for one in found)


def _triangle(lower: bool) -> Callable[..., Traced]:
    def function(graph: Graph, m: Any, k: int = 0) -> Traced:
        array = traced(graph, m)

        def at(indices: Indices) -> Node:
            edge = graph.call("add", indices[-2], graph.const(int(k)))
            inside = graph.call("less_equal" if lower else "greater_equal", indices[-1], edge)
            return graph.call("where", inside, array.at(indices), graph.const(0))

        return Traced(graph, array.shape, at, array.kind)

    return function


def _split(graph: Graph, a: Any, sections: Any, axis: int = 0) -> Sequence[Traced]:
    array = traced(graph, a)
    if not isinstance(sections, int):
        raise Untraceable("np.split at places")
    size = array.shape[axis % array.ndim]
    if int(size) % int(sections):
        raise Untraceable("np.split into unequal parts")
    part = size // sections
    key: list[Any] = [slice(None)] * array.ndim
    parts = []
    for i in range(int(sections)):
        key[axis] = slice(part * i, part * (i + 1))
        parts.append(array[tuple(key)])
    return parts


def _flip(graph: Graph, a: Any, axis: int) -> Traced:
    array = traced(graph, a)
    key: list[Any] = [slice(None)] * array.ndim
    key[axis] = slice(None, None, -1)
    return array[tuple(key)]


FUNCTIONS_BY_NAME: Mapping[str, Callable[..., Any]] = {
    "sum": _reduction("sum"),
    "prod": _reduction("prod"),
    "max": _extreme("max"),
    "amax": _extreme("max"),
    "min": _extreme("min"),
    "amin": _extreme("min"),
    "any": _extreme("any"),
    "all": _extreme("all"),
    "argmax": _extreme("argmax"),
    "argmin": _extreme("argmin"),
    "mean": _mean,
    "average": lambda graph, a, axis=None: _mean(graph, a, axis),
    "var": _var,
    "std": _std,
    "cumsum": _scan("sum"),
    "cumprod": _scan("prod"),
    "where": _where,
    "clip": _clip,
    "copy": _same,
    "ascontiguousarray": _same,
    "asarray": _same,
    "astype": _astype,
    "zeros_like": _like(0.0),
    "ones_like": _like(1.0),
    "empty_like": _like(0.0),
    "full_like": _like(None),
    "take": _take,
    "take_along_axis": _take_along_axis,
    "dot": _dot,
    "matmul": lambda graph, a, b: matmul(traced(graph, a), traced(graph, b)),
    "inner": lambda graph, a, b: _dot(graph, a, traced(graph, b).T),
    "outer": _outer,
    "einsum": einsum,
    "tril": _triangle(True),
    "triu": _triangle(False),
    "split": _split,
    "broadcast_to": lambda graph, a, shape: broadcast_to(traced(graph, a), shape),
    "broadcast_arrays": _broadcast_arrays,
    "reshape": reshaped,
    "ravel": lambda graph, a, *_: reshaped(graph, a, -1),
    "flatten": lambda graph, a, *_: reshaped(graph, a, -1),
    "transpose": transposed,
    "permute_dims": transposed,
    "swapaxes": moved,
    "moveaxis": lambda graph, a, source, target: moved(graph, a, source, target, shift=True),
    "expand_dims": expanded,
    "squeeze": squeezed,
    "concatenate": concatenated,
    "stack": stacked,
    "vstack": lambda graph, arrays: concatenated(graph, arrays, 0),
    "pad": padded,
    "sliding_window_view": windows,
    "repeat": repeated,
    "roll": rolled,
    "flip": _flip,
}


def of_function(graph: Graph, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """np.name(*args, **kwargs), or the method of that name. Raises Untraceable."""
    if name not in FUNCTIONS_BY_NAME:
        raise Untraceable(f"np.{name}")
    try:
        return FUNCTIONS_BY_NAME[name](graph, *args, **kwargs)
    except TypeError as error:  # an argument that is not known here
        raise Untraceable(f"np.{name}: {error}") from None
