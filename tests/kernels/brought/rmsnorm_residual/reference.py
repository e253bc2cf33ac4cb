"""residual += x; y = residual / rms(residual) * weight."""

import numpy as np


def reference(residual, x, weight, eps, **_):
    s = residual + x
    return {"residual": s, "y": s / np.sqrt((s * s).mean(axis=1, keepdims=True) + eps) * weight}
