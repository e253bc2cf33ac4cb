"""How many elements of every row are positive."""


def reference(x, **_):
    return {"y": (x > 0).sum(axis=1)}
