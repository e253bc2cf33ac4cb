"""Square every element, by a generic map."""


def reference(x, **_):
    return {"y": x * x}
