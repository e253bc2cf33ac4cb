"""Mean of the first lengths[b] vectors of every sequence; zero of none."""

import numpy as np


def inputs(rng, B, T, **_):
    lengths = rng.integers(0, T + 1, B)
    lengths[0] = T
    return {"lengths": lengths}


def reference(x, lengths, T, **_):
    seen = np.arange(T)[None, :, None] < lengths[:, None, None]
    return {"y": (x * seen).sum(axis=1) / np.maximum(lengths, 1)[:, None]}
