"""Indexing of traced arrays: x[:, :n], x[..., ::2], x[ids], and assignments to such parts."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from operators.catalog.formula.functions import broadcast, broadcast_to
from operators.catalog.formula.node import Graph, Node
from operators.catalog.formula.sizes import size_node
from operators.catalog.formula.traced import Indices, Traced, Untraceable, traced

ToSource = Callable[[Indices], Node]
"""From the indices of what was taken to the index along one axis of the source."""


def taken(array: Traced, key: Any) -> Traced:
    """array[key]. Raises Untraceable."""
    array = array.as_it_is()
    keys = _whole(array, key)
    if any(isinstance(one, Traced | np.ndarray) for one in keys):
        return _gathered(array, keys)
    shape, sources = _plan(array, keys)

    def at(indices: Indices) -> Node:
        return array.at(tuple(source(indices) for source in sources))

    return Traced(array.graph, shape, at, array.kind)


def _whole(array: Traced, key: Any) -> list[Any]:
    """One entry for each axis, and None for each new one."""
    keys = list(key) if isinstance(key, tuple) else [key]
    used = sum(one is not None and one is not Ellipsis for one in keys)
    rest = [slice(None)] * (array.ndim - used)
    if used > array.ndim:
        raise Untraceable("more indices than axes")
    for place, one in enumerate(keys):
        if one is Ellipsis:
            return [*keys[:place], *rest, *keys[place + 1 :]]
    return [*keys, *rest]


def _plan(array: Traced, keys: Sequence[Any]) -> tuple[list[int], list[ToSource]]:
    """The shape of what is taken, and where each axis of the source is read."""
    graph = array.graph
    shape: list[int] = []
    sources: list[ToSource] = []
    for one in keys:
        size = array.shape[len(sources)] if one is not None else 1
        if one is None:
            shape.append(1)
        elif isinstance(one, slice):
            start, step, count = _range(one, size)
            sources.append(_along(graph, len(shape), start, step))
            shape.append(count)
        elif isinstance(one, int | np.integer):
            place = one if isinstance(one, int) else int(one)
            node = size_node(size + place if place < 0 else place, graph)
            sources.append(lambda _, node=node: node)  # type: ignore[misc]
        else:
            raise Untraceable(f"an index that is a {type(one).__name__}")
    return shape, sources


def _along(graph: Graph, axis: int, start: int, step: int) -> ToSource:
    first, by = size_node(start, graph), size_node(step, graph)
    return lambda indices: graph.call("add", graph.call("multiply", indices[axis], by), first)


def _range(part: slice, size: int) -> tuple[int, int, int]:
    """start, step and count of a slice, with the names of sizes kept where that is simple."""
    step = 1 if part.step is None else part.step
    if int(step) < 1:
        if int(step) == -1 and part.start is None and part.stop is None:
            return size - 1, -1, size
        raise Untraceable("a slice with such a step")
    start = 0 if part.start is None else part.start
    stop = size if part.stop is None else part.stop
    start = size + start if int(start) < 0 else start
    stop = size + stop if int(stop) < 0 else stop
    if int(start) > size or int(stop) > size or int(stop) <= int(start):
        raise Untraceable("a slice beyond the end, or of nothing")
    count = stop - start if int(start) else stop
    if int(step) > 1:
        count = (count + (step - 1)) // step if int(count) % int(step) else count // step
    return start, step, count


def _gathered(array: Traced, keys: Sequence[Any]) -> Traced:
    """Along axes that are indexed by arrays, which stand together: table[ids], x[rows, labels]."""
    graph = array.graph
    if any(one is None for one in keys):
        raise Untraceable("new axes beside indices that are arrays")
    arrays = {
        axis: traced(graph, one)
        for axis, one in enumerate(keys)
        if isinstance(one, Traced | np.ndarray | int | np.integer)
    }
    if any(one.kind != "int" for one in arrays.values()):
        raise Untraceable("a mask as an index")
    axes = sorted(arrays)
    if axes != list(range(axes[0], axes[-1] + 1)):
        raise Untraceable("indices that are arrays on axes that are apart")
    shape, aligned = broadcast(graph, [arrays[axis] for axis in axes])
    before, depth = axes[0], len(shape)
    rest = [keys[axis] for axis in range(array.ndim) if axis not in arrays]
    if any(one != slice(None) for one in rest):
        raise Untraceable("slices beside indices that are arrays")
    outer = array.shape[:before]
    inner = array.shape[axes[-1] + 1 :]

    def at(indices: Indices) -> Node:
        middle = indices[before : before + depth]
        chosen = tuple(one(middle) for one in aligned)
        return array.at((*indices[:before], *chosen, *indices[before + depth :]))

    return Traced(graph, (*outer, *shape, *inner), at, array.kind)


def put(array: Traced, key: Any, value: Any) -> None:
    """array[key] = value. Raises Untraceable."""
    graph = array.graph
    keys = _whole(array, key)
    if len(keys) == 2 and all(isinstance(one, Traced | np.ndarray) for one in keys):
        _put_one_a_row(array, keys, value)
        return
    if not all(isinstance(one, slice) for one in keys):
        raise Untraceable("an assignment to single elements")
    ranges = [_range(one, size) for one, size in zip(keys, array.shape, strict=True)]
    new = broadcast_to(traced(graph, value), [count for _, _, count in ranges])
    old = array.as_it_is()

    def at(indices: Indices) -> Node:
        inside: list[Node] = []
        places: list[Node] = []
        for index, (start, step, count), size in zip(indices, ranges, array.shape, strict=True):
            place, within = _place(graph, index, start, step, count, size)
            places.append(place)
            inside += within
        if not inside:
            return new.at(tuple(places))
        condition = inside[0]
        for one in inside[1:]:
            condition = graph.call("logical_and", condition, one)
        return graph.call("where", condition, new.at(tuple(places)), old.at(indices))

    array.assign(at)
    if new.kind == "float":
        array.kind = "float"


def _put_one_a_row(array: Traced, keys: Sequence[Any], value: Any) -> None:
    """array[arange, places] = value: one element of each row."""
    graph = array.graph
    rows, places = (traced(graph, one) for one in keys)
    old, new = array.as_it_is(), broadcast_to(traced(graph, value), array.shape[:1])
    (row,) = rows.variables("row") if rows.ndim == 1 else (None,)
    if row is None or rows.at((row,)) is not row or int(rows.shape[0]) != int(array.shape[0]):
        raise Untraceable("an assignment to such elements")
    where = broadcast_to(places, array.shape[:1])

    def at(indices: Indices) -> Node:
        here = graph.call("equal", indices[1], where.at(indices[:1]))
        return graph.call("where", here, new.at(indices[:1]), old.at(indices))

    array.assign(at)


def _place(
    graph: Graph, index: Node, start: int, step: int, count: int, size: int
) -> tuple[Node, list[Node]]:
    """Where an index of the whole lies in a part, and the conditions that it does."""
    if int(step) < 1:
        raise Untraceable("an assignment backwards")
    first, by = size_node(start, graph), size_node(step, graph)
    place = graph.call("floor_divide", graph.call("subtract", index, first), by)
    within = []
    if int(step) > 1:
        rest = graph.call("remainder", graph.call("subtract", index, first), by)
        within.append(graph.call("equal", rest, graph.const(0)))
    elif int(start):
        within.append(graph.call("greater_equal", index, first))
    end = start + count
    if int(step) == 1 and int(end) < int(size):
        within.append(graph.call("less", index, size_node(end, graph)))
    if int(step) > 1 and int(count) != -(-(int(size) - int(start)) // int(step)):
        raise Untraceable("an assignment to such a part")
    return place, within
