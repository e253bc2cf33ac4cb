"""Where mask differs from invert, the value."""

import numpy as np


def reference(input, mask, value, invert, **_):
    return {"output": np.where(mask.astype(bool) != bool(invert), value, input)}
