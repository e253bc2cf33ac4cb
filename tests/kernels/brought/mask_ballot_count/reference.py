import numpy as np


def reference(x, **_):
    return {"y": (x > 0).sum(axis=1)}
