"""Dims and attributes as a reference gets them while it is read: numbers that know their names."""

from typing import Any, Self

from operators.catalog.formula.node import Graph, Node


class Size(int):
    """A size of a task's: an int to whoever needs one, that remembers how it is computed."""

    node: Node
    graph: Graph

    def __new__(cls, value: int, node: Node, graph: Graph) -> Self:
        size = super().__new__(cls, value)
        size.node, size.graph = node, graph
        return size

    def _with(self, op: str, other: Any, value: Any, *, turned: bool = False) -> Any:
        if value is NotImplemented or not isinstance(value, int) or isinstance(other, bool):
            return value
        mine, theirs = self.node, _node(other, self.graph)
        if theirs is None:
            return value
        pair = (theirs, mine) if turned else (mine, theirs)
        return Size(value, self.graph.call(op, *pair), self.graph)

    def __add__(self, other: Any) -> Any:
        return self._with("add", other, super().__add__(other))

    def __radd__(self, other: Any) -> Any:
        return self._with("add", other, super().__radd__(other), turned=True)

    def __sub__(self, other: Any) -> Any:
        return self._with("subtract", other, super().__sub__(other))

    def __rsub__(self, other: Any) -> Any:
        return self._with("subtract", other, super().__rsub__(other), turned=True)

    def __mul__(self, other: Any) -> Any:
        return self._with("multiply", other, super().__mul__(other))

    def __rmul__(self, other: Any) -> Any:
        return self._with("multiply", other, super().__rmul__(other), turned=True)

    def __floordiv__(self, other: Any) -> Any:
        return self._with("floor_divide", other, super().__floordiv__(other))

    def __rfloordiv__(self, other: Any) -> Any:
        return self._with("floor_divide", other, super().__rfloordiv__(other), turned=True)

    def __mod__(self, other: Any) -> Any:
        return self._with("remainder", other, super().__mod__(other))

    def __truediv__(self, other: Any) -> Any:
        return _quotient(self, other, super().__truediv__(other))

    def __rtruediv__(self, other: Any) -> Any:
        return _quotient(other, self, super().__rtruediv__(other))

    def __pow__(self, other: Any, mod: None = None) -> Any:  # type: ignore[override]
        value = super().__pow__(other)
        return _named("power", (self, other), value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _of_numpy(ufunc, method, inputs, kwargs)


class Scalar(float):
    """A number that is no size, such as eps: a float that remembers how it is computed."""

    node: Node
    graph: Graph

    def __new__(cls, value: float, node: Node, graph: Graph) -> Self:
        scalar = super().__new__(cls, value)
        scalar.node, scalar.graph = node, graph
        return scalar

    def __add__(self, other: Any) -> Any:
        return _named("add", (self, other), super().__add__(other))

    def __radd__(self, other: Any) -> Any:
        return _named("add", (other, self), super().__radd__(other))

    def __sub__(self, other: Any) -> Any:
        return _named("subtract", (self, other), super().__sub__(other))

    def __rsub__(self, other: Any) -> Any:
        return _named("subtract", (other, self), super().__rsub__(other))

    def __mul__(self, other: Any) -> Any:
        return _named("multiply", (self, other), super().__mul__(other))

    def __rmul__(self, other: Any) -> Any:
        return _named("multiply", (other, self), super().__rmul__(other))

    def __truediv__(self, other: Any) -> Any:
        return _quotient(self, other, super().__truediv__(other))

    def __rtruediv__(self, other: Any) -> Any:
        return _quotient(other, self, super().__rtruediv__(other))

    def __pow__(self, other: Any, mod: None = None) -> Any:
        return _named("power", (self, other), super().__pow__(other))

    def __neg__(self) -> Any:
        return _named("negative", (self,), super().__neg__())

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _of_numpy(ufunc, method, inputs, kwargs)


def size_node(value: int, graph: Graph) -> Node:
    """How a size is computed; a constant if nobody knows."""
    return value.node if isinstance(value, Size) else graph.const(int(value))


def _node(value: Any, graph: Graph) -> Node | None:
    if isinstance(value, Size | Scalar):
        return value.node
    if isinstance(value, bool | int | float):
        return graph.const(value)
    return None


def _quotient(a: Any, b: Any, value: Any) -> Any:
    return _named("divide", (a, b), value)


def _named(op: str, operands: tuple[Any, ...], value: Any) -> Any:
    """A result that knows its operands; as it is where these are no numbers."""
    if value is NotImplemented or not isinstance(value, int | float):
        return value
    graph = next(one.graph for one in operands if isinstance(one, Size | Scalar))
    nodes = [_node(one, graph) for one in operands]
    known = [node for node in nodes if node is not None]
    if len(known) < len(nodes):
        return value
    return Scalar(float(value), graph.call(op, *(_as_float(graph, n) for n in known)), graph)


def _as_float(graph: Graph, node: Node) -> Node:
    return node if node.kind == "float" else graph.call("float", node)


def _of_numpy(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """numpy's functions of named numbers, such as np.sqrt(D)."""
    plain = [_plain(one) for one in inputs]
    value = getattr(ufunc, method)(*plain, **kwargs)
    numbers = all(isinstance(one, bool | int | float) for one in inputs)
    if method != "__call__" or kwargs or not numbers:
        return value
    return _named(ufunc.__name__, inputs, float(value))


def _plain(value: Any) -> Any:
    if isinstance(value, Size):
        return int(value)
    return float(value) if isinstance(value, Scalar) else value
