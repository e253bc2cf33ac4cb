import numpy as np


def reference(a, **_):
    return {"b": 2 * a}
