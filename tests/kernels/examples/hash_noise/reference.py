"""Uniform noise from a hash of the index, added to x."""

import numpy as np


def reference(x, N, seed, **_):
    h = (np.arange(N, dtype=np.uint64) * 2654435761 + seed) & 0xFFFFFFFF
    h ^= h >> np.uint64(16)
    h = (h * 0x85EBCA6B) & 0xFFFFFFFF
    h ^= h >> np.uint64(13)
    return {"y": x + (h >> np.uint64(8)).astype(np.float64) / 2**24}
