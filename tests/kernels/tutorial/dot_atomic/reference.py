"""Dot product."""


def reference(x, y, **_):
    return {"dot": (x * y).sum(keepdims=True)}
