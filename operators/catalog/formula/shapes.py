"""Views, joins and repetitions of traced arrays: the same elements at other indices."""

from collections.abc import Sequence
from typing import Any

from operators.catalog.formula.node import Graph, Node
from operators.catalog.formula.sizes import size_node
from operators.catalog.formula.traced import Indices, Traced, Untraceable, traced


def transposed(graph: Graph, a: Any, *axes: Any) -> Traced:
    array = traced(graph, a)
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
    places = [int(one) % array.ndim for one in order or ()] or list(range(array.ndim))[::-1]

    def at(indices: Indices) -> Node:
        own = list(indices)
        for new, old in enumerate(places):
            own[old] = indices[new]
        return array.at(tuple(own))

    return Traced(graph, [array.shape[old] for old in places], at, array.kind)


def moved(graph: Graph, a: Any, source: int, target: int, *, shift: bool = False) -> Traced:
    """swapaxes; with shift moveaxis."""
    array = traced(graph, a)
    if not (isinstance(source, int) and isinstance(target, int)):
        raise Untraceable("several axes moved at once")
    order = list(range(array.ndim))
    one, other = source % array.ndim, target % array.ndim
    if shift:
        order.insert(other, order.pop(one))
    else:
        order[one], order[other] = order[other], order[one]
    return transposed(graph, array, *order)


def expanded(graph: Graph, a: Any, axis: int) -> Traced:
    array = traced(graph, a)
    key: list[Any] = [slice(None)] * array.ndim
    key.insert(axis % (array.ndim + 1), None)
    return array[tuple(key)]


def squeezed(graph: Graph, a: Any, axis: Any = None) -> Traced:
    array = traced(graph, a)
    axes = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    gone = {int(one) % array.ndim for one in axes if int(array.shape[one]) == 1}
    return array[tuple(0 if i in gone else slice(None) for i in range(array.ndim))]


def reshaped(graph: Graph, a: Any, *shape: Any, **_: Any) -> Traced:
    """Axes that are merged or split stand for each other group by group."""
    array = traced(graph, a)
    wanted = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    new = _completed(array, list(wanted))
    groups = _groups(array.shape, new)

    def at(indices: Indices) -> Node:
        own: list[Node] = []
        for olds, news in groups:
            flat = _flat(graph, [indices[i] for i in news], [new[i] for i in news])
            own += _apart(graph, flat, [array.shape[i] for i in olds])
        return array.at(tuple(own))

    return Traced(graph, new, at, array.kind)


def _completed(array: Traced, shape: list[int]) -> list[int]:
    """With the size that -1 stands for."""
    if -1 not in shape:
        return shape
    place = shape.index(-1)
    rest: int = 1
    for i, one in enumerate(shape):
        rest = rest * one if i != place else rest
    total = array.size
    if int(total) % int(rest):
        raise Untraceable("a shape that doesn't fit")
    shape[place] = total // rest if int(rest) != 1 else total
    return shape


def _groups(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Runs of axes that hold as many elements on both sides."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        olds, news = [], []
        mine = theirs = 1
        while True:
            if mine <= theirs and i < len(old):
                mine *= int(old[i])
                olds.append(i)
                i += 1
            elif j < len(new):
                theirs *= int(new[j])
                news.append(j)
                j += 1
            else:
                raise Untraceable("a shape that doesn't fit")
            if mine == theirs and olds and (news or j == len(new)):
                break
        if not news and mine != 1:
            raise Untraceable("a shape that doesn't fit")
        groups.append((olds, news))
        if i == len(old) and j < len(new):
            groups[-1] = (olds, [*news, *range(j, len(new))])
            break
    return groups


def _flat(graph: Graph, indices: Sequence[Node], sizes: Sequence[int]) -> Node:
    flat = graph.const(0)
    for index, size in zip(indices, sizes, strict=True):
        flat = graph.call("add", graph.call("multiply", flat, size_node(size, graph)), index)
    return flat


def _apart(graph: Graph, flat: Node, sizes: Sequence[int]) -> list[Node]:
    own: list[Node] = []
    for place in range(len(sizes) - 1, -1, -1):
        size = size_node(sizes[place], graph)
        own.append(flat if place == 0 else graph.call("remainder", flat, size))
        flat = graph.call("floor_divide", flat, size) if place else flat
    return own[::-1]


def concatenated(graph: Graph, arrays: Sequence[Any], axis: int = 0) -> Traced:
    parts = [traced(graph, one) for one in arrays]
    along = int(axis) % parts[0].ndim
    ends: list[int] = []
    for part in parts:
        ends.append(part.shape[along] + (ends[-1] if ends else 0))

    def at(indices: Indices) -> Node:
        result: Node | None = None
        for number in range(len(parts) - 1, -1, -1):
            begin = size_node(ends[number - 1], graph) if number else graph.const(0)
            own = list(indices)
            own[along] = graph.call("subtract", indices[along], begin)
            element = parts[number].at(tuple(own))
            if result is None:
                result = element
            else:
                end = size_node(ends[number], graph)
                inside = graph.call("less", indices[along], end)
                result = graph.call("where", inside, element, result)
        assert result is not None
        return result

    shape = list(parts[0].shape)
    shape[along] = ends[-1]
    kind = "float" if any(p.kind == "float" for p in parts) else parts[0].kind
    return Traced(graph, shape, at, kind)


def stacked(graph: Graph, arrays: Sequence[Any], axis: int = 0) -> Traced:
    return concatenated(graph, [expanded(graph, one, axis) for one in arrays], axis)


def repeated(graph: Graph, a: Any, repeats: int, axis: int | None = None) -> Traced:
    array = traced(graph, a)
    if axis is None or not isinstance(repeats, int):
        raise Untraceable("np.repeat of such a kind")
    along = axis % array.ndim
    count = size_node(repeats, graph)

    def at(indices: Indices) -> Node:
        own = list(indices)
        own[along] = graph.call("floor_divide", indices[along], count)
        return array.at(tuple(own))

    shape = list(array.shape)
    shape[along] = shape[along] * repeats
    return Traced(graph, shape, at, array.kind)


def rolled(graph: Graph, a: Any, shift: int, axis: int) -> Traced:
    array = traced(graph, a)
    along = axis % array.ndim
    size = array.shape[along]

    def at(indices: Indices) -> Node:
        own = list(indices)
        back = graph.call("add", indices[along], size_node(size - int(shift) % int(size), graph))
        own[along] = graph.call("remainder", back, size_node(size, graph))
        return array.at(tuple(own))

    return Traced(graph, array.shape, at, array.kind)


def windows(graph: Graph, a: Any, window_shape: Any, axis: Any = None, **_: Any) -> Traced:
    """sliding_window_view: places first, then what is at them."""
    array = traced(graph, a)
    sizes = [window_shape] if isinstance(window_shape, int) else list(window_shape)
    axes = range(array.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    along = [int(one) % array.ndim for one in axes]
    shape = list(array.shape)
    for one, size in zip(along, sizes, strict=True):
        shape[one] = shape[one] - size + 1

    def at(indices: Indices) -> Node:
        own = list(indices[: array.ndim])
        for one, inside in zip(along, indices[array.ndim :], strict=True):
            own[one] = graph.call("add", own[one], inside)
        return array.at(tuple(own))

    return Traced(graph, [*shape, *sizes], at, array.kind)


def padded(
    graph: Graph, a: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0
) -> Traced:
    """np.pad with one value all around."""
    array = traced(graph, a)
    if mode == "edge":
        return _edged(array, _widths(pad_width, array.ndim))
    if mode != "constant" or not isinstance(constant_values, int | float):
        raise Untraceable("np.pad of such a kind")
    widths = _widths(pad_width, array.ndim)
    outside = graph.const(float(constant_values) if array.kind == "float" else constant_values)

    def at(indices: Indices) -> Node:
        own: list[Node] = []
        inside: Node | None = None
        for index, (before, after), size in zip(indices, widths, array.shape, strict=True):
            place = graph.call("subtract", index, size_node(before, graph))
            own.append(place)
            tests = []
            if int(before):
                tests.append(graph.call("greater_equal", place, graph.const(0)))
            if int(after):
                tests.append(graph.call("less", place, size_node(size, graph)))
            for one in tests:
                inside = one if inside is None else graph.call("logical_and", inside, one)
        element = array.at(tuple(own))
        return element if inside is None else graph.call("where", inside, element, outside)

    shape = [
        size + before + after for size, (before, after) in zip(array.shape, widths, strict=True)
    ]
    return Traced(graph, shape, at, array.kind)


def _edged(array: Traced, widths: list[tuple[int, int]]) -> Traced:
    graph = array.graph

    def at(indices: Indices) -> Node:
        own = []
        for index, (before, _), size in zip(indices, widths, array.shape, strict=True):
            place = graph.call("subtract", index, size_node(before, graph))
            place = graph.call("maximum", place, graph.const(0))
            last = graph.call("subtract", size_node(size, graph), graph.const(1))
            own.append(graph.call("minimum", place, last))
        return array.at(tuple(own))

    shape = [
        size + before + after for size, (before, after) in zip(array.shape, widths, strict=True)
    ]
    return Traced(graph, shape, at, array.kind)


def _widths(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    if isinstance(pad_width, int):
        return [(pad_width, pad_width)] * ndim
    if all(isinstance(one, int) for one in pad_width):
        before, after = (pad_width[0], pad_width[-1])
        return [(before, after)] * ndim
    return [(one[0], one[-1]) for one in pad_width]
