"""log(sum(exp)) by row."""

import numpy as np


def reference(x, **_):
    top = x.max(axis=1)
    return {"y": top + np.log(np.exp(x - top[:, None]).sum(axis=1))}
