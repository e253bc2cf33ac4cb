"""One step of multi-head latent attention in float64, sequence by sequence."""

from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]


def reference(
    x: Array,
    cache: Array,
    q_down: Array,
    kv_down: Array,
    q_up: Array,
    kv_up: Array,
    wo: Array,
    B: int,
    H: int,
    C: int,
    N: int,
    P: int,
    V: int,
    L: int,
) -> dict[str, Array]:
    """y, and the cache with its row L. kv_up is absorbed: scores are taken with the cache's rows.

    The row goes out as exact as it is; the attention reads it rounded, as the cache holds it.
    """
    q = (x @ q_down.T @ q_up.T).reshape(B, H, N + P)
    row = x @ kv_down.T
    up = kv_up.reshape(H, N + V, C)
    absorbed = np.einsum("bhn,hnc->bhc", q[..., :N], up[:, :N])
    turned = rope(q[..., N:], np.array(L))
    o = np.empty((B, H, V))
    for b in range(B):
        keys = np.concatenate([cache[b, :L], bfloat16(row[b])[None]])
        latent, places = keys[:, :C], rope(keys[:, C:], np.arange(L + 1))
        scores = (absorbed[b] @ latent.T + turned[b] @ places.T) / np.sqrt(N + P)
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        mean = p @ latent / p.sum(axis=1, keepdims=True)
        o[b] = np.einsum("hc,hvc->hv", mean, up[:, N:])
    cache = cache.copy()
    cache[:, L] = row
    return {"cache": cache, "y": o.reshape(B, H * V) @ wo.T}


def rope(x: Array, t: Array) -> Array:
    """x, of shape (..., P), turned by the position t; t has the shape of what broadcasts to x's
    other axes. The angle is a float32 product, as the task has it, its cos and sin bfloat16."""
    half = x.shape[-1] // 2
    turn = (10000.0 ** (-np.arange(half) / half)).astype(np.float32)
    angle = (t[..., None].astype(np.float32) * turn).astype(np.float64)
    cos, sin = bfloat16(np.cos(angle)), bfloat16(np.sin(angle))
    first, second = x[..., :half], x[..., half:]
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def bfloat16(x: Array) -> Array:
    """Rounded as a float32 is to bfloat16, in float64."""
    return x.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)
