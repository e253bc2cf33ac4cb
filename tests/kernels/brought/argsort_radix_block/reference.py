"""Stable argsort of every row."""

import numpy as np


def reference(keys, **_):
    return {"order": np.argsort(keys, axis=1, kind="stable")}
