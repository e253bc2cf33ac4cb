"""Softsign, given to a kernel as a function."""

import numpy as np


def reference(x, **_):
    return {"y": x / (1 + np.abs(x))}
