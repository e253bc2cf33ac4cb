"""Sum of squares of every row, a tile of 32 threads each."""


def reference(x, **_):
    return {"y": (x * x).sum(axis=1)}
