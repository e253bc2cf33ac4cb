import numpy as np


def reference(x, y, alpha, **_):
    return {"y": alpha * x + y}
