"""Affine map with clamping, its numbers in a struct."""

import numpy as np


def reference(x, **_):
    return {"y": np.clip(1.5 * x + 0.25, -1, 1)}
