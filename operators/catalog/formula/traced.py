"""Traced: stands for an array while a reference is read; every operation is written down."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from operators.catalog.formula.node import Graph, Kind, Node
from operators.catalog.formula.sizes import Scalar, Size, size_node

Indices = tuple[Node, ...]
At = Callable[[Indices], Node]

MOST_ELEMENTS = 1 << 22
"""Of an array of the reference's own that is looked at for what it means."""


class Untraceable(Exception):
    """The reference does what can't be written down: it is no formula to the catalogue."""


class Traced(NDArrayOperatorsMixin):
    """An array by what its elements are.

    shape: sizes, which know their names. at: the element at indices, one a dimension.
    """

    __slots__ = ("_at", "_known", "graph", "kind", "shape")

    def __init__(self, graph: Graph, shape: Sequence[int], at: At, kind: Kind) -> None:
        self.graph, self.shape, self.kind = graph, tuple(shape), kind
        self._at = at
        self._known: dict[Indices, Node] = {}

    def at(self, indices: Indices) -> Node:
        if indices not in self._known:
            self._known[indices] = self._at(indices)
        return self._known[indices]

    def assign(self, at: At) -> None:
        """From now on its elements are others."""
        self._at, self._known = at, {}

    def as_it_is(self) -> "Traced":
        """The same elements, whatever is assigned to it later."""
        now = Traced(self.graph, self.shape, self._at, self.kind)
        now._known = self._known
        return now

    def sample(self, names: str = "s") -> Node:
        """The element at variables of its own."""
        return self.at(self.variables(names))

    def variables(self, names: str) -> Indices:
        return tuple(
            self.graph.var(f"{names}{axis}", size_node(size, self.graph))
            for axis, size in enumerate(self.shape)
        )

    # What an array has that a reference asks for.

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        total: int = 1
        for one in self.shape:
            total = total * one
        return total

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype({"int": np.int64, "bool": np.bool_, "float": np.float64}[self.kind])

    @property
    def T(self) -> "Traced":
        return self._call("transpose")  # type: ignore[no-any-return]

    @property
    def mT(self) -> "Traced":
        return self._call("swapaxes", -1, -2)  # type: ignore[no-any-return]

    def __len__(self) -> int:
        raise Untraceable("len() of an array")

    def __bool__(self) -> bool:
        raise Untraceable("a decision by values")

    def __float__(self) -> float:
        raise Untraceable("a value as a number")

    def __int__(self) -> int:
        raise Untraceable("a value as a number")

    def __index__(self) -> int:
        raise Untraceable("a value as a number")

    def __iter__(self) -> Any:
        raise Untraceable("a loop over elements")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise Untraceable("a plain array of values")

    def __getitem__(self, key: Any) -> "Traced":
        return self.graph.numpy.taken(self, key)  # type: ignore[no-any-return]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.graph.numpy.put(self, key, value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return self.graph.numpy.ufunc(self.graph, ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self.graph.numpy.function(self.graph, function.__name__, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        """Methods are numpy's functions of the same names."""
        if not self.graph.numpy.has(name):
            raise Untraceable(f"the method {name}")
        return lambda *args, **kwargs: self._call(name, *args, **kwargs)

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return self.graph.numpy.function(self.graph, name, (self, *args), kwargs)


def traced(graph: Graph, value: Any) -> Traced:
    """Any operand as a traced array. Raises Untraceable."""
    if isinstance(value, Traced):
        return value.as_it_is()
    if isinstance(value, Size | Scalar):
        node = value.node
        return Traced(graph, (), lambda _: node, node.kind)
    if isinstance(value, bool | int | float | np.generic):
        plain = value.item() if isinstance(value, np.generic) else value
        if not isinstance(plain, bool | int | float):
            raise Untraceable(f"a {type(plain).__name__}")
        return Traced(graph, (), lambda _: graph.const(plain), graph.const(plain).kind)
    if isinstance(value, np.ndarray):
        return _of_array(graph, value)
    if isinstance(value, list | tuple):
        raise Untraceable("a list of values")
    raise Untraceable(f"a {type(value).__name__}")


def _of_array(graph: Graph, array: np.ndarray[Any, Any]) -> Traced:
    """An array of the reference's own: one value everywhere, or a progression along one axis."""
    if array.size == 0 or array.size > MOST_ELEMENTS or array.dtype.kind not in "biuf":
        raise Untraceable("an array of its own")
    first = array.flat[0].item()
    if (array == first).all():
        node = graph.const(first)
        return Traced(graph, array.shape, lambda _: node, node.kind)
    line = _of_line(graph, array)
    if line is not None:
        return line
    found = _of_triangle(graph, array)
    if found is None:
        raise Untraceable("an array of its own")
    return found


def _of_line(graph: Graph, array: np.ndarray[Any, Any]) -> Traced | None:
    """Integers in equal steps along the only axis that has more than one."""
    long = [axis for axis, size in enumerate(array.shape) if size > 1]
    if len(long) != 1 or array.dtype.kind not in "iu":
        return None
    line = array.reshape(-1)
    first, step = graph.const(int(line[0])), graph.const(int(line[1]) - int(line[0]))
    if not (np.diff(line) == step.value).all():
        return None

    def at(indices: Indices) -> Node:
        return graph.call("add", first, graph.call("multiply", indices[long[0]], step))

    return Traced(graph, array.shape, at, "int")


def _of_triangle(graph: Graph, array: np.ndarray[Any, Any]) -> Traced | None:
    """A mask that is one value below a diagonal and another from there on, as of np.tri."""
    if array.ndim < 2 or array.size != array.shape[-1] * array.shape[-2]:
        return None
    square = array.reshape(array.shape[-2:])
    rows, columns = square.shape
    on_left = square == square[-1, 0]
    others = square[~on_left]
    if others.size == 0 or not (others == others[0]).all():
        return None
    for k in {int(on_left[0].sum()) - 1, -int((~on_left[:, 0]).sum())}:
        if np.array_equal(on_left, np.tri(rows, columns, k, dtype=bool)):
            return _mask(graph, array.shape, k, square[-1, 0].item(), others[0].item())
    return None


def _mask(graph: Graph, shape: tuple[int, ...], k: int, below: Any, above: Any) -> Traced:
    """below up to the k-th diagonal, and above beyond it."""
    inside, outside, offset = graph.const(below), graph.const(above), graph.const(k)

    def at(indices: Indices) -> Node:
        on_left = graph.call("less_equal", indices[-1], graph.call("add", indices[-2], offset))
        if below is True and above is False:
            return on_left
        return graph.call("where", on_left, inside, outside)

    return Traced(graph, shape, at, at(_some(graph, len(shape))).kind)


def _some(graph: Graph, count: int) -> Indices:
    return tuple(graph.var(f"t{i}", graph.const(1 << 30)) for i in range(count))
