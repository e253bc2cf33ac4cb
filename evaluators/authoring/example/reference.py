"""What is right: gelu(x + bias), in float64. It may be slow; it must be plain."""

import math
from typing import Any

import numpy as np
from scipy.special import erf

Array = np.ndarray[Any, Any]


def reference(x: Array, bias: Array, R: int, C: int) -> dict[str, Array]:
    """Called by name with every input, as float64 (int64 for integers), and every dim.

    Returns each output by name, in the shape that task.yaml says.
    """
    v = x + bias
    return {"y": v / 2 * (1 + erf(v / math.sqrt(2)))}
