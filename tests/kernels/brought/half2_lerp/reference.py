"""a + t (b - a)."""


def reference(a, b, t, **_):
    return {"out": a + t * (b - a)}
