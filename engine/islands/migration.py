"""Migration topologies: which islands receive an island's elites. Pure functions."""

import numpy as np

from engine.config import CampaignConfig, Topology


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


def departures(config: CampaignConfig, source: int, evaluations: int) -> tuple[int, list[int]]:
    """Round of migration after so many evaluations, and whom elites are sent to; often nobody."""
    migration, count = config.migration, config.islands.count
    round, rest = divmod(evaluations, migration.every)
    if rest or not migration.elites:
        return round, []
    return round, destinations(migration.topology, source, count, seed=config.seed, round=round)
