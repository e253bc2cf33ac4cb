"""Sum of a vector."""


def reference(x, **_):
    return {"total": x.sum(keepdims=True)}
