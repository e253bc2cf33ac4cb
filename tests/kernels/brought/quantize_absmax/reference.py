"""The maximum is exact; check() judges q, as what is near a half may fall either way."""

import numpy as np


def reference(x, **_):
    return {"largest": np.abs(x).max(keepdims=True)}


def check(outputs, inputs, **_):
    x = inputs["x"].astype(np.float64)
    exact = x * (127 / np.abs(x).max())
    wrong = ~(np.abs(outputs["q"] - exact) <= 0.5 + 1e-4)
    if wrong.any():
        i = int(np.argmax(wrong))
        return f"q[{i}] is {outputs['q'][i]}, but {exact[i]:.4f} was to be rounded"
    return True
