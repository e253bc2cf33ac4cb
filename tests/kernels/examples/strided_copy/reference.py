"""Twice the elements of a matrix that lies in rows of LD elements."""


def reference(a, **_):
    return {"b": 2 * a}
