"""Matrix transpose."""


def reference(src, **_):
    return {"dst": src.T}
