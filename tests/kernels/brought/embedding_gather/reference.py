"""Table look-up."""

import numpy as np


def reference(ids, table, padding, **_):
    ids = ids.astype(np.int64)
    return {"out": np.where((ids == padding)[:, None], 0.0, table[ids])}
