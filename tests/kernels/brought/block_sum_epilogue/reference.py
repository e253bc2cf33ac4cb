"""Sum of a vector, whose last part is the host's."""


def reference(x, **_):
    return {"partial": x.sum(keepdims=True)}


def epilogue(outputs, inputs, **_):
    return {"partial": outputs["partial"].astype("float64").sum(keepdims=True)}
