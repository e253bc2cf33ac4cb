import numpy as np


def reference(x, **_):
    return {"y": (x * x).sum(axis=1)}
