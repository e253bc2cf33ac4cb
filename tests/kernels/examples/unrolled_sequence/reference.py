"""Evaluate a polynomial of degree five."""


def reference(x, **_):
    return {"y": 1 + x * (2 + x * (3 + x * (4 + x * (5 + x * 6))))}
