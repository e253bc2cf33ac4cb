"""One step of Adam with bias correction."""

import numpy as np


def reference(p, m, v, g, lr, beta1, beta2, eps, step, **_):
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    rate = lr * np.sqrt(1 - beta2**step) / (1 - beta1**step)
    return {"p": p - rate * m / (np.sqrt(v) + eps), "m": m, "v": v}
