"""Two elementwise steps."""


def reference(x, y, alpha, **_):
    return {"z": (alpha * x + y) * y}
