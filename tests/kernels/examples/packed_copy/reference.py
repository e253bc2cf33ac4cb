"""Swap neighbours in pairs; a last odd element stays."""


def reference(x, N, **_):
    y = x.copy()
    y[: N - N % 2] = x[: N - N % 2].reshape(-1, 2)[:, ::-1].reshape(-1)
    return {"y": y}
