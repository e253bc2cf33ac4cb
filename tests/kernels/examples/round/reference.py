"""Quantise to bytes with a step of 1/32 around 128."""

import numpy as np


def reference(x, **_):
    return {"y": np.clip(np.rint(x * 32) + 128, 0, 255).astype(np.int64)}
