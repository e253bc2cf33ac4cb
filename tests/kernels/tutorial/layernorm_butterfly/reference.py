"""Layer normalisation, epsilon 1e-5, biased variance."""

import numpy as np


def reference(x, gamma, beta, **_):
    centred = x - x.mean(axis=1, keepdims=True)
    variance = (centred**2).mean(axis=1, keepdims=True)
    return {"y": centred / np.sqrt(variance + 1e-5) * gamma + beta}
