"""Euclidean norm of rows."""

import numpy as np


def reference(x, **_):
    return {"norms": np.sqrt((x * x).sum(axis=1))}
