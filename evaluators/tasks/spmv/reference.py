"""The product of a sparse matrix and a vector in float64, and how its rows are made."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def inputs(rng: np.random.Generator, M: int, N: int, K: int) -> dict[str, Array]:
    """Rows of log-normal lengths, M K elements in all, in random columns."""
    weights = rng.lognormal(sigma=1.0, size=M)
    lengths = rng.multinomial(M * K, weights / weights.sum())
    return {
        "row_start": np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
        "col": rng.integers(0, N, M * K, dtype=np.int32),
    }


def reference(row_start: Array, col: Array, value: Array, x: Array, M: int) -> dict[str, Array]:
    """y[m] = the sum of value x[col] over the elements of row m."""
    rows = np.repeat(np.arange(M), np.diff(row_start))
    return {"y": np.bincount(rows, weights=value * x[col], minlength=M)}
