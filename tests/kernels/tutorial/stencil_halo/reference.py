"""Seven-point stencil."""

import numpy as np

WEIGHTS = np.array([0.05, 0.1, 0.2, 0.3, 0.2, 0.1, 0.05])


def reference(signal, N, **_):
    padded = np.pad(signal, 3)
    return {"filtered": sum(w * padded[k : k + N] for k, w in enumerate(WEIGHTS))}
