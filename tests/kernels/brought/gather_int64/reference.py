import numpy as np


def reference(table, ids, **_):
    return {"out": table[ids]}
