"""GELU's tanh formula, with or without bias."""

import numpy as np


def reference(x, bias=None, **_):
    u = x if bias is None else x + bias
    return {"y": 0.5 * u * (1 + np.tanh(np.sqrt(2 / np.pi) * (u + 0.044715 * u**3)))}
