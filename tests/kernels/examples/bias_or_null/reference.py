"""Add a bias, where there is one, and clamp below at zero."""

import numpy as np


def reference(x, bias, **_):
    return {"y": np.maximum(x if bias is None else x + bias, 0)}
