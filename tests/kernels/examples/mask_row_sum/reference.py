"""Sum of every row by a warp each."""


def reference(x, **_):
    return {"y": x.sum(axis=1)}
