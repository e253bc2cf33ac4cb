"""Largest element of every row; one block of 32 threads a row."""


def reference(x, **_):
    return {"y": x.max(axis=1)}
