"""All-pairs gravity, softening 0.01; the fourth component is 0."""

import numpy as np


def reference(bodies, **_):
    delta = bodies[None, :, :3] - bodies[:, None, :3]
    inverse = ((delta**2).sum(axis=2) + 0.01) ** -1.5
    accel = np.zeros_like(bodies)
    accel[:, :3] = (delta * (inverse * bodies[None, :, 3])[:, :, None]).sum(axis=1)
    return {"accel": accel}
