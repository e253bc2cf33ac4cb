"""Product of (1 + x / 64) along every row."""

import numpy as np


def reference(x, **_):
    return {"y": np.prod(1 + x / 64, axis=1)}
