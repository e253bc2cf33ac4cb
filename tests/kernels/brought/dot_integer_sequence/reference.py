"""Scalar product by row."""


def reference(a, b, **_):
    return {"dots": (a * b).sum(axis=1)}
