"""Three folds over columns."""


def reference(x, **_):
    return {
        "sums": x.sum(axis=0),
        "peaks": x.max(axis=0),
        "growth": (1 + x / 8).prod(axis=0),
    }
