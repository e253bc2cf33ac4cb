"""Inclusive prefix sum."""

import numpy as np


def reference(x, **_):
    return {"prefix": np.cumsum(x.astype(np.int64))}
