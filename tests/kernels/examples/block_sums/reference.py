"""Sum of squares by blocks; the host adds the blocks' sums."""

import numpy as np


def epilogue(outputs, inputs, **_):
    return {"sums": outputs["sums"].astype(np.float64).sum(keepdims=True)}


def reference(x, **_):
    return {"sums": (x * x).sum(keepdims=True)}
