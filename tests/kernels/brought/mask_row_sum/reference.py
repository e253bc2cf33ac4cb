import numpy as np


def reference(x, **_):
    return {"y": x.sum(axis=1)}
