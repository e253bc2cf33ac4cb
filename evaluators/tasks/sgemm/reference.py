"""The matrix product in float64."""

from collections.abc import Mapping
from typing import Any

import numpy as np


def reference(
    inputs: Mapping[str, np.ndarray[Any, Any]], dims: Mapping[str, int]
) -> dict[str, np.ndarray[Any, Any]]:
    """c = a b."""
    return {"c": inputs["a"].astype(np.float64) @ inputs["b"].astype(np.float64)}
