"""Rows sorted in alternating directions."""

import numpy as np


def reference(keys, **_):
    keys = np.sort(keys, axis=1)
    keys[1::2] = keys[1::2, ::-1].copy()
    return {"keys": keys}
