import numpy as np


def reference(x, y, **_):
    return {"y": 0.75 * x + y}
