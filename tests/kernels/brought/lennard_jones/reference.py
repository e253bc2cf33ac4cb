"""Forces (x, y, z) and half the pair energies (w) of a Lennard-Jones fluid."""

import numpy as np


def inputs(rng, N, box, **_):
    """A jittered lattice in the box, so that no two particles meet; w is not used."""
    side = int(np.ceil(N ** (1 / 3)))
    cells = np.stack(np.unravel_index(np.arange(N), (side, side, side)), axis=1)
    places = (cells + 0.5 + rng.uniform(-0.1, 0.1, (N, 3))) * (box / side)
    return {"position": np.concatenate([places, np.zeros((N, 1))], axis=1).astype(np.float32)}


def reference(position, epsilon, sigma, box, periodic, **_):
    delta = position[:, None, :3] - position[None, :, :3]
    if periodic:
        delta = delta - box * np.rint(delta / box)
    r2 = (delta**2).sum(axis=2)
    np.fill_diagonal(r2, np.inf)
    s6 = (sigma**2 / r2) ** 3
    strength = 24 * epsilon * (2 * s6 * s6 - s6) / r2
    force = (strength[:, :, None] * delta).sum(axis=1)
    energy = (2 * epsilon * (s6 * s6 - s6)).sum(axis=1)
    return {"force": np.concatenate([force, energy[:, None]], axis=1)}
