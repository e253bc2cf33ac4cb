import numpy as np


def reference(data, **_):
    return {"bins": np.bincount(data, minlength=256)}
