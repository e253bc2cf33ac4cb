"""Neighbour differences inside of blocks of 64 on the lower block triangle."""


def reference(x, y, B, **_):
    out = y.copy()
    for i in range(B):
        for j in range(i + 1):
            out[i, j, :63] = x[i, j, 1:] - x[i, j, :63]
    return {"y": out}
