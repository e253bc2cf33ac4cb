"""Every element by the scale of its group."""

import numpy as np


def reference(q, scales, C, **_):
    return {"x": q * np.repeat(scales, 32, axis=1)[:, :C]}
