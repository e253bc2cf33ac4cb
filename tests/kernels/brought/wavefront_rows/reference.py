import numpy as np


def reference(x, **_):
    return {"y": x.max(axis=1) - x.min(axis=1)}
