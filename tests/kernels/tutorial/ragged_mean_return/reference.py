"""Mean over a prefix of each row; a draw below 300 empties the row."""

import numpy as np


def reference(x, draws, COLS, **_):
    lengths = np.where(draws < 300, 0, draws % COLS + 1)
    mask = np.arange(COLS) < lengths[:, None]
    return {"mean": (x * mask).sum(axis=1) / np.maximum(lengths, 1)}
