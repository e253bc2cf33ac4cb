"""By bins over the row of each entry."""

import numpy as np


def inputs(rng, ROWS, NNZ, **_):
    cuts = np.sort(rng.integers(0, NNZ + 1, ROWS - 1))
    return {"row_start": np.concatenate([[0], cuts, [NNZ]]).astype(np.int32)}


def reference(row_start, column, entry, x, ROWS, **_):
    row = np.repeat(np.arange(ROWS), np.diff(row_start).astype(np.int64))
    return {"y": np.bincount(row, entry * x[column.astype(np.int64)], ROWS)}
