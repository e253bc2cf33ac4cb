"""Normalisation over all but the channels."""

import numpy as np


def reference(x, gamma, beta, eps, **_):
    mean = x.mean(axis=(0, 2))
    rstd = 1 / np.sqrt(x.var(axis=(0, 2)) + eps)
    y = (x - mean[:, None]) * (rstd * gamma)[:, None] + beta[:, None]
    return {"y": y, "mean": mean, "rstd": rstd}
