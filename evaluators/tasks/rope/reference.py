"""Rotary position embedding in float64."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def reference(x: Array, cos: Array, sin: Array, B: int, S: int, H: int, D: int) -> dict[str, Array]:
    """Each pair (x[..., d], x[..., d + D / 2]) is turned by the angle of its position."""
    first, second = x[..., : D // 2], x[..., D // 2 :]
    c, s = cos[None, :, None, :], sin[None, :, None, :]
    return {"y": np.concatenate([first * c - second * s, second * c + first * s], axis=-1)}
