"""Arrays that a reference makes itself, np.zeros and np.arange, as traced ones."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from operators.catalog.formula.node import Graph, Node
from operators.catalog.formula.sizes import size_node
from operators.catalog.formula.traced import Indices, Traced, Untraceable, traced


def with_symbols(path: Path, text: str, graph: Graph) -> Callable[..., Any]:
    """The reference, in a module of its own whose numpy makes traced arrays.

    Raises Untraceable where it has none.
    """
    module = ModuleType("reference_of_symbols")
    module.__file__ = str(path)
    exec(compile(text, str(path), "exec", dont_inherit=True), vars(module))
    for name, value in list(vars(module).items()):
        if value is np:
            setattr(module, name, _Numpy(graph))
    function = getattr(module, "reference", None)
    if not callable(function):
        raise Untraceable("no reference()")
    return function  # type: ignore[no-any-return]


class _Numpy:
    """numpy, with functions that make arrays from sizes replaced."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def zeros(self, shape: Any, dtype: Any = float, **_: Any) -> Traced:
        return self._full(shape, 0, dtype)

    def ones(self, shape: Any, dtype: Any = float, **_: Any) -> Traced:
        return self._full(shape, 1, dtype)

    def empty(self, shape: Any, dtype: Any = float, **_: Any) -> Traced:
        return self._full(shape, 0, dtype)

    def full(self, shape: Any, fill_value: Any, dtype: Any = None, **_: Any) -> Traced:
        if isinstance(fill_value, Traced):
            raise Untraceable("np.full of values")
        kind = np.asarray(fill_value).dtype if dtype is None else dtype
        return self._full(shape, fill_value, kind)

    def arange(self, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
        first, end = (0, start) if stop is None else (start, stop)
        if not all(isinstance(one, int) for one in (first, end, step)) or int(step) != 1:
            raise Untraceable("np.arange of such steps")
        graph, begin = self._graph, size_node(first, self._graph)

        def at(indices: Indices) -> Node:
            return graph.call("add", indices[0], begin)

        line = Traced(graph, (end - first if int(first) else end,), at, "int")
        wide = dtype is not None and np.dtype(dtype).kind == "f"
        return line.astype(np.float64) if wide else line

    def eye(self, rows: int, columns: int | None = None, k: int = 0, **_: Any) -> Traced:
        graph = self._graph

        def at(indices: Indices) -> Node:
            on = graph.call("equal", indices[1], graph.call("add", indices[0], graph.const(k)))
            return graph.call("where", on, graph.const(1.0), graph.const(0.0))

        return Traced(graph, (rows, rows if columns is None else columns), at, "float")

    def tri(self, rows: int, columns: int | None = None, k: int = 0, dtype: Any = float) -> Traced:
        graph = self._graph
        shape = (rows, rows if columns is None else columns)
        logical = np.dtype(dtype).kind == "b"

        def at(indices: Indices) -> Node:
            edge = graph.call("add", indices[0], graph.const(k))
            below = graph.call("less_equal", indices[1], edge)
            if logical:
                return below
            return graph.call("where", below, graph.const(1.0), graph.const(0.0))

        return Traced(graph, shape, at, "bool" if logical else "float")

    def asarray(self, a: Any, dtype: Any = None, **_: Any) -> Any:
        if not isinstance(a, Traced):
            return np.asarray(a, dtype)
        return a if dtype is None else a.astype(dtype)

    array = asarray
    ascontiguousarray = asarray

    def _full(self, shape: Any, value: Any, dtype: Any) -> Traced:
        sizes: Sequence[int] = shape if isinstance(shape, tuple | list) else (shape,)
        if not all(isinstance(one, int) for one in sizes):
            raise Untraceable("an array of such a shape")
        kind = np.dtype(dtype).kind
        plain = {"f": float, "i": int, "u": int, "b": bool}.get(kind)
        if plain is None:
            raise Untraceable(f"an array of {np.dtype(dtype)}")
        node = traced(self._graph, plain(value)).at(())
        return Traced(self._graph, sizes, lambda _: node, node.kind)
