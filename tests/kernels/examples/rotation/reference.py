"""Eight points turned by a unit quaternion."""

import numpy as np


def reference(q, p, **_):
    w, u = q[0] / np.sqrt((q * q).sum()), q[1:] / np.sqrt((q * q).sum())
    t = 2 * np.cross(u, p)
    return {"r": p + w * t + np.cross(u, t)}
