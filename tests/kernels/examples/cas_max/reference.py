"""Largest magnitude of a vector, by atomics on bits."""

import numpy as np


def reference(x, **_):
    return {"most": np.abs(x).max(keepdims=True)}
