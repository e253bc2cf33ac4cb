"""Second-order central differences in time and space."""

import numpy as np


def reference(now, before, NY, NX, speed, dt, spacing, frequency, step, **_):
    after = np.zeros_like(now)
    c = now[1:-1, 1:-1]
    laplacian = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4 * c
    after[1:-1, 1:-1] = 2 * c - before[1:-1, 1:-1] + (speed * dt / spacing) ** 2 * laplacian
    if 0 < NY // 2 < NY - 1 and 0 < NX // 2 < NX - 1:
        after[NY // 2, NX // 2] += np.sin(2 * np.pi * frequency * step * dt)
    return {"after": after}
