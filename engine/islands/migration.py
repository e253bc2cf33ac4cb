"""Migration topologies: which islands receive an island's elites. Pure functions."""

import numpy as np

from engine.config import Topology


def destinations(
    topology: Topology, source: int, count: int, *, seed: int, round: int
) -> list[int]:
    """The islands (of `count`) that receive from `source` in its round-th migration.

    ring: the next one; full: all others; random: one other, drawn from (seed, source, round).
    """
    others = [island for island in range(count) if island != source]
    if not others:
        return []
    if topology == "ring":
        return [(source + 1) % count]
    if topology == "full":
        return others
    rng = np.random.default_rng((seed, source, round))
    return [others[int(rng.integers(len(others)))]]
