"""The sum in float64."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def reference(x: Array, y: Array, N: int) -> dict[str, Array]:
    """x = x + y."""
    return {"x": x + y}
