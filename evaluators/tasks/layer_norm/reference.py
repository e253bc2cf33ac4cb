"""Layer normalisation of each row in float64."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def reference(x: Array, gamma: Array, beta: Array, eps: float) -> dict[str, Array]:
    """y[r] = (x[r] - mean) / sqrt(var + eps) * gamma + beta."""
    centred = x - x.mean(axis=1, keepdims=True)
    var = np.square(centred).mean(axis=1, keepdims=True)
    return {"y": centred / np.sqrt(var + eps) * gamma + beta}
