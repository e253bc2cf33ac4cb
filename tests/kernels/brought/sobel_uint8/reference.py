"""min(255, |gx| + |gy|)."""

import numpy as np


def reference(picture, H, W, **_):
    padded = np.pad(picture.astype(np.int64), 1, mode="edge")
    filter_x = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    gx, gy = (
        sum(f[i, j] * padded[i : i + H, j : j + W] for i in range(3) for j in range(3))
        for f in (filter_x, filter_x.T)
    )
    return {"edges": np.minimum(np.abs(gx) + np.abs(gy), 255)}
