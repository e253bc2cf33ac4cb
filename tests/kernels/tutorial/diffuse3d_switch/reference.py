"""Seven-point diffusion; MODE 1: zero outside, 2: edge value, 3: periodic."""

import numpy as np


def reference(u, MODE, **_):
    p = np.pad(u, 1, mode=("constant", "edge", "wrap")[MODE - 1])
    centre = p[1:-1, 1:-1, 1:-1]
    around = p[:-2, 1:-1, 1:-1] + p[2:, 1:-1, 1:-1]
    around = around + p[1:-1, :-2, 1:-1] + p[1:-1, 2:, 1:-1]
    around = around + p[1:-1, 1:-1, :-2] + p[1:-1, 1:-1, 2:]
    return {"v": centre + 0.1 * (around - 6 * centre)}
