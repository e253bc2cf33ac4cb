"""Rotation of the pairs (2i, 2i + 1) by position * base ** (-i / HALF)."""

import numpy as np


def inputs(rng, S, HALF, base, **_):
    angle = np.outer(np.arange(S), base ** (-np.arange(HALF) / HALF))
    return {"cos": np.cos(angle).astype(np.float32), "sin": np.sin(angle).astype(np.float32)}


def reference(q, cos, sin, **_):
    even, odd = q[:, :, 0::2], q[:, :, 1::2]
    c, s = cos[:, None, :], sin[:, None, :]
    turned = np.stack([even * c - odd * s, even * s + odd * c], axis=-1)
    return {"q": turned.reshape(q.shape)}
