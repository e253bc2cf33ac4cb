"""Euclidean norm of every row."""

import numpy as np


def reference(x, **_):
    return {"y": np.sqrt((x * x).sum(axis=1))}
