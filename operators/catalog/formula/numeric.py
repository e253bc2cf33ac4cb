"""A formula's values with numpy, to be compared with what the reference says."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from operators.catalog.formula.node import Node

Array = np.ndarray[Any, Any]

MOST_ELEMENTS = 1 << 22


class TooLarge(Exception):
    """Some value has more elements than are worth a look."""


def values(
    node: Node, axes: tuple[Node, ...], arrays: Mapping[str, Array], sizes: Mapping[str, float]
) -> Array:
    """The node at all values of its variables, an array with an axis for each.

    Raises TooLarge, and IndexError where an index lies outside of its array.
    """
    return _Values(axes, arrays, sizes).of(node)


class _Values:
    def __init__(
        self, axes: tuple[Node, ...], arrays: Mapping[str, Array], sizes: Mapping[str, float]
    ) -> None:
        self.axes, self.arrays, self.sizes = list(axes), arrays, sizes
        self.known: dict[tuple[int, tuple[int, ...]], Array] = {}

    def of(self, node: Node) -> Array:
        key = (id(node), tuple(map(id, self.axes)))
        if key not in self.known:
            self.known[key] = self._compute(node)
        return self.known[key]

    def _compute(self, node: Node) -> Array:
        match node.op:
            case "const":
                return np.asarray(node.value)
            case "size":
                return np.asarray(self.sizes[node.value])
            case "var":
                return self._variable(node)
            case "load":
                return self._loaded(node)
            case "reduce":
                return self._reduced(node)
            case "where":
                return np.where(*(self.of(a) for a in node.args))
            case "float":
                return self.of(node.args[0]).astype(np.float64)
            case "int":
                return self.of(node.args[0]).astype(np.int64)
            case "erf" | "expit":
                from scipy import special

                return np.asarray(getattr(special, node.op)(*(self.of(a) for a in node.args)))
        return np.asarray(getattr(np, node.op)(*(self.of(a) for a in node.args)))

    def _variable(self, node: Node) -> Array:
        if node not in self.axes:
            raise TooLarge
        place = self.axes.index(node)
        extent = int(np.max(self.of(node.args[0])))
        line = np.arange(extent)
        return line.reshape([extent if i == place else 1 for i in range(len(self.axes))])

    def _loaded(self, node: Node) -> Array:
        array = self.arrays[node.value]
        indices = [self.of(a) for a in node.args]
        for index, size in zip(indices, array.shape, strict=True):
            if index.size and (index.min() < -size or index.max() >= size):
                # an element that a condition around it leaves out
                indices = [np.clip(i, 0, n - 1) for i, n in zip(indices, array.shape, strict=True)]
                break
        return np.asarray(array[tuple(indices)])

    def _reduced(self, node: Node) -> Array:
        variable, body = node.args
        extent = variable.args[0]
        if extent.free:
            return self._scanned(node, variable, body)
        self.axes.append(variable)
        try:
            found = self.of(body)
            shape = np.broadcast_shapes(found.shape, (int(self.of(extent)),))
            if np.prod(shape, dtype=np.float64) > MOST_ELEMENTS:
                raise TooLarge
            return np.asarray(getattr(np, node.value)(np.broadcast_to(found, shape), axis=-1))
        finally:
            self.axes.pop()

    def _scanned(self, node: Node, variable: Node, body: Node) -> Array:
        """A reduction up to an index: along the index's axis, all of them at once."""
        last = variable.args[0].args[0]
        if last not in self.axes or last in body.free:
            raise TooLarge
        place = self.axes.index(last)
        size = int(self.of(last.args[0]))
        self.axes[place] = variable
        self.known[id(variable), tuple(map(id, self.axes))] = np.arange(size).reshape(
            [size if i == place else 1 for i in range(len(self.axes))]
        )
        try:
            found = self.of(body)
        finally:
            self.axes[place] = last
        shape = [1] * len(self.axes)
        shape[place] = size
        whole = np.broadcast_to(found, np.broadcast_shapes(found.shape, tuple(shape)))
        return np.asarray(_SCANS[node.value].accumulate(whole, axis=place))


_SCANS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
