import numpy as np


def reference(w, scale, x, **_):
    return {"y": (w @ x) * scale}
