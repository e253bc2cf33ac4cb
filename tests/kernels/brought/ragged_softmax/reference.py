"""Softmax of rows cut at their lengths."""

import numpy as np


def inputs(rng, B, L, **_):
    lengths = rng.integers(0, L + 1, B).astype(np.int32)
    lengths[0] = 0
    return {"lengths": lengths}


def reference(scores, lengths, L, temperature, **_):
    valid = np.arange(L) < lengths[:, None]
    shifted = (scores - scores.max(axis=1, keepdims=True, where=valid, initial=-1e30)) / temperature
    e = np.exp(np.where(valid, shifted, -np.inf))
    return {"probs": e / np.maximum(e.sum(axis=1, keepdims=True), 1e-300)}
