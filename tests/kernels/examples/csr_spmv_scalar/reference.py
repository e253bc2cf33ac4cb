"""Sparse matrix times vector, CSR, one thread a row."""

import numpy as np


def inputs(rng, M, NNZ, **_):
    cuts = np.sort(rng.integers(0, NNZ + 1, M - 1))
    return {"row_ptr": np.concatenate([[0], cuts, [NNZ]]).astype(np.int32)}


def reference(row_ptr, col, val, x, M, **_):
    terms = np.concatenate([[0.0], np.cumsum(val * x[col])])
    return {"y": terms[row_ptr[1:]] - terms[row_ptr[:-1]]}
