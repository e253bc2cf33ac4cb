"""Counts of each number."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def reference(ids: Array, B: int) -> dict[str, Array]:
    """counts[b] = how many of ids are b."""
    return {"counts": np.bincount(ids, minlength=B)}
