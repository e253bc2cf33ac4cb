"""Gram matrix of rows, of which only the lower triangle is asked for."""

import numpy as np


def check(outputs, inputs, N, **_):
    a = inputs["a"].astype(np.float64)
    wrong = np.abs(outputs["g"] - a @ a.T) > 1e-4 * a.shape[1]
    wrong = np.argwhere(
        wrong & np.tri(N, dtype=bool) | np.tri(N, dtype=bool) & ~np.isfinite(outputs["g"])
    )
    return f"g{wrong[0].tolist()} is wrong" if len(wrong) else None
