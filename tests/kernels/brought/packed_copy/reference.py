import numpy as np


def reference(x, N, **_):
    y = x.copy()
    y[: N - N % 2] = x[: N - N % 2].reshape(-1, 2)[:, ::-1].reshape(-1)
    return {"y": y}
