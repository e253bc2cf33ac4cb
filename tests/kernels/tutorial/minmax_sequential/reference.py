"""Extremes of a vector."""


def reference(values, **_):
    return {"lowest": values.min(keepdims=True), "highest": values.max(keepdims=True)}
