"""Weighted degree of every node of a CSR graph, a warp a node."""

import numpy as np


def inputs(rng, M, NNZ, **_):
    cuts = np.sort(rng.integers(0, NNZ + 1, M - 1))
    return {"row_ptr": np.concatenate([[0], cuts, [NNZ]]).astype(np.int32)}


def reference(row_ptr, weight, **_):
    sums = np.concatenate([[0.0], np.cumsum(weight)])
    return {"degree": sums[row_ptr[1:]] - sums[row_ptr[:-1]]}
