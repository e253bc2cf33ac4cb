"""The softmax of each row in float64."""

from collections.abc import Mapping
from typing import Any

import numpy as np


def reference(
    inputs: Mapping[str, np.ndarray[Any, Any]], dims: Mapping[str, int]
) -> dict[str, np.ndarray[Any, Any]]:
    """y[r] = exp(x[r] - max) / sum."""
    x = inputs["x"].astype(np.float64)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return {"y": e / e.sum(axis=1, keepdims=True)}
