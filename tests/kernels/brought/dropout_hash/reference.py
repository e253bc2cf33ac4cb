"""The kernel's hash in numpy's unsigned integers."""

import numpy as np


def reference(x, N, p, seed, **_):
    low, high = (np.uint32((seed >> shift) & 0xFFFFFFFF) for shift in (0, 32))
    h = np.arange(N, dtype=np.uint32) * np.uint32(0x9E3779B9) + low
    for behind in (high, np.uint32(0)):
        h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        h = h ^ (h >> np.uint32(16)) ^ behind
    kept = (h >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24) >= np.float32(p)
    return {"y": np.where(kept, x / (1 - p), 0.0), "kept": kept}
