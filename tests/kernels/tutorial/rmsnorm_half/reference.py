"""RMSNorm, epsilon 1e-6."""

import numpy as np


def reference(x, weight, **_):
    return {"y": x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-6) * weight}
