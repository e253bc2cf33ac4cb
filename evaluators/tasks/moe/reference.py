"""The mixture of experts in float64, expert by expert, and tokens that are nobody's near ties."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

TOP = 4
"""Experts that a token is given to, beside the shared one."""
GAP = 2.0**-8
"""Between the 4th and the 5th largest logit at least: float16 rounds logits below 8 by less."""
CHUNK, CHUNKS = 1024, 8
"""Tokens whose logits are looked at together, and how many times so many at once."""
DRAWS = 100
"""Of the tokens, before the router itself is drawn anew."""


def inputs(rng: np.random.Generator, B: int, S: int, E: int, D: int) -> dict[str, Array]:
    """x [B, S, D] and router [E, D] in float16; of each token GAP holds for its logits."""
    x = np.empty((B * S, D), np.float16)
    parts = np.split(x, range(CHUNK, B * S, CHUNK))
    with ThreadPoolExecutor(CHUNKS) as threads:
        while True:
            router = (rng.standard_normal((E, D), dtype=np.float32) / np.sqrt(D)).astype(np.float16)
            if all(threads.map(partial(drawn, router), parts, rng.spawn(len(parts)))):
                return {"x": x.reshape(B, S, D), "router": router}


def drawn(router: Array, x: Array, rng: np.random.Generator) -> bool:
    """Fills x [tokens, D], row by row until GAP holds. False: with this router it won't."""
    weights, near = router.T.astype(np.float64), np.arange(len(x))
    for _ in range(DRAWS):
        tokens = rng.standard_normal((len(near), x.shape[1]), dtype=np.float32).astype(np.float16)
        x[near] = tokens
        near = near[gap(tokens @ weights) < GAP]
        if len(near) == 0:
            return True
    return False


def gap(logits: Array) -> Array:
    """Of each row [tokens, E], how far the last logit chosen is from the first that is not."""
    if logits.shape[1] == TOP:
        return np.full(len(logits), np.inf)
    ordered = np.sort(logits, axis=1)
    return np.asarray(ordered[:, -TOP] - ordered[:, -TOP - 1])


def reference(
    x: Array,
    router: Array,
    gate: Array,
    up: Array,
    down: Array,
    shared_gate: Array,
    shared_up: Array,
    shared_down: Array,
) -> dict[str, Array]:
    """y [B, S, D]: the shared expert, and each chosen one by its score."""
    tokens = x.reshape(-1, x.shape[-1])
    logits = tokens @ router.T
    scores = np.exp(logits - logits.max(axis=1, keepdims=True))
    scores /= scores.sum(axis=1, keepdims=True)
    chosen = np.argpartition(-logits, TOP - 1, axis=1)[:, :TOP]
    y = expert(tokens, shared_gate, shared_up, shared_down)
    for e in range(len(router)):
        mine = np.flatnonzero((chosen == e).any(axis=1))
        y[mine] += scores[mine, e, None] * expert(tokens[mine], gate[e], up[e], down[e])
    return {"y": y.reshape(x.shape)}


def expert(tokens: Array, gate: Array, up: Array, down: Array) -> Array:
    """[tokens, D], each by one expert's weights."""
    g = tokens @ gate
    return np.asarray((g / (1 + np.exp(-g)) * (tokens @ up)) @ down)
