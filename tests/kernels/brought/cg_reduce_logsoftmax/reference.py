"""Log-softmax of every row."""

import numpy as np


def reference(inp, **_):
    shifted = inp - inp.max(axis=1, keepdims=True)
    return {"out": shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))}
