"""The kernel's hash in numpy's unsigned integers."""

import numpy as np


def reference(SAMPLES, seed, **_):
    step = np.uint64(0x9E3779B97F4A7C15)
    h = np.arange(1, SAMPLES + 1, dtype=np.uint64) * step + np.uint64(seed)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    h = h ^ (h >> np.uint64(31))
    x, y = h & np.uint64(0xFFFF), (h >> np.uint64(16)) & np.uint64(0xFFFF)
    return {"hits": np.array([(x * x + y * y <= np.uint64(65535**2)).sum()])}
