"""By Sylvester's matrix."""

import numpy as np


def reference(data, **_):
    matrix = np.ones((1, 1))
    for _step in range(8):
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return {"data": data @ matrix / 16}
