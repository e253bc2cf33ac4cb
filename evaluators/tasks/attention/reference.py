"""Attention in float64, head by head."""

from itertools import product
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def reference(
    q: Array, k: Array, v: Array, B: int, H: int, G: int, L: int, S: int, D: int, causal: bool
) -> dict[str, Array]:
    """o = softmax(q k^T / sqrt(D)) v; with causal query i sees keys 0 to i + S - L."""
    o = np.empty_like(q)
    hidden = np.arange(S) > np.arange(L)[:, None] + S - L
    for batch, head in product(range(B), range(H)):
        group = head // (H // G)
        scores = q[batch, head] @ k[batch, group].T / np.sqrt(D)
        if causal:
            scores[hidden] = -np.inf
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        o[batch, head] = p @ v[batch, group] / p.sum(axis=1, keepdims=True)
    return {"o": o}
