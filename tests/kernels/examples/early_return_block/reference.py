"""Block-wise reversal of the blocks below a limit; the others are copied."""


def reference(x, y, N, limit, **_):
    out = y.copy()
    for start in range(0, min(N // 64, limit) * 64, 64):
        out[start : start + 64] = x[start : start + 64][::-1]
    return {"y": out}
