"""Rows without their mean, every element less its row's mean."""


def reference(x, **_):
    return {"y": x - x.mean(axis=1, keepdims=True)}
