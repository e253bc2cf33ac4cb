"""The block-scaled fp8 product in float64."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def reference(
    a: Array, b: Array, a_scale: Array, b_scale: Array, M: int, N: int, K: int
) -> dict[str, Array]:
    """c = a^T b, each block of 128 along k by its scales: of a one a column, of b one for 128."""
    c = np.zeros((M, N))
    for block in range(K // 128):
        k = slice(128 * block, 128 * (block + 1))
        scale = a_scale[block][:, None] * np.repeat(b_scale[block], 128)[:N]
        c += scale * (a[k].T @ b[k])
    return {"c": c}
