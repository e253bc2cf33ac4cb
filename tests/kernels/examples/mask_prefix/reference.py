"""Running sum along every row."""

import numpy as np


def reference(x, **_):
    return {"y": np.cumsum(x, axis=1)}
