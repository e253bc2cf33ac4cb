"""Luma of an interleaved RGB image, rounded down in integer arithmetic."""

import numpy as np


def reference(rgb, **_):
    r, g, b = (rgb[..., k].astype(np.int64) for k in range(3))
    return {"gray": (77 * r + 150 * g + 29 * b) >> 8}
