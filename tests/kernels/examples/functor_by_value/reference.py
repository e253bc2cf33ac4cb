"""Leaky rectifier with a slope that travels in a functor."""

import numpy as np


def reference(x, **_):
    return {"y": np.where(x > 0, x, 0.125 * x)}
