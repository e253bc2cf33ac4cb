"""AdamW: decoupled weight decay, bias-corrected moments."""

import numpy as np


def reference(
    param, grad, exp_avg, exp_avg_sq, lr, beta1, beta2, eps, weight_decay, step, maximize, **_
):
    g = -grad if maximize else grad
    m = beta1 * exp_avg + (1 - beta1) * g
    v = beta2 * exp_avg_sq + (1 - beta2) * g * g
    update = (m / (1 - beta1**step)) / (np.sqrt(v / (1 - beta2**step)) + eps)
    return {"param": param * (1 - lr * weight_decay) - lr * update, "exp_avg": m, "exp_avg_sq": v}
