"""BLAS's GEMV."""


def reference(a, x, y, alpha, beta, **_):
    return {"y": alpha * (a @ x) + beta * y}
