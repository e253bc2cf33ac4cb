"""Matrix times vector with 8-bit weights and a scale for every row."""


def reference(w, scale, x, **_):
    return {"y": (w @ x) * scale}
