import numpy as np


def reference(x, **_):
    return {"y": x - x.mean(axis=1, keepdims=True)}
