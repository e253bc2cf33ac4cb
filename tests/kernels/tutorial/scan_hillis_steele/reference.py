"""Inclusive prefix sum along rows."""


def reference(x, **_):
    return {"y": x.cumsum(axis=1)}
