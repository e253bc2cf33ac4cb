"""The largest elements of each row, and what makes their columns right."""

from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def reference(x: Array, C: int, K: int) -> dict[str, Array]:
    """The K largest of each row, largest first. Columns are check()'s."""
    largest = np.partition(x, C - K, axis=1)[:, C - K :]
    return {"values": -np.sort(-largest, axis=1)}


def check(outputs: Mapping[str, Array], inputs: Mapping[str, Array], C: int) -> str | None:
    """Columns must lie in the row, differ, and hold the values beside them."""
    values, indices = outputs["values"], outputs["indices"]
    outside = (indices < 0) | (indices >= C)
    if outside.any():
        return _at("indices", outside, f"is not between 0 and {C - 1}")
    columns = np.sort(indices, axis=1)
    if (columns[:, 1:] == columns[:, :-1]).any():
        row = int((columns[:, 1:] == columns[:, :-1]).any(axis=1).argmax())
        return f"indices[{row}] names a column twice"
    wrong = np.take_along_axis(inputs["x"], indices, axis=1) != values
    return (
        _at("indices", wrong, "names a column that does not hold values there")
        if (wrong.any())
        else None
    )


def _at(name: str, wrong: Array, what: str) -> str:
    row, place = np.argwhere(wrong)[0]
    return f"{name}[{row}, {place}] {what}"
