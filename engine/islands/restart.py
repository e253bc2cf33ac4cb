"""Restart: whom an island that finds nothing better begins again with."""

from collections.abc import Iterable
from statistics import median

import numpy as np

from operators.catalog.landscape import distances
from operators.individual import Individual


def diverse(archive: Iterable[Individual], count: int) -> list[Individual]:
    """Up to `count` of the faster half of all that passed, far from the best and from each other.

    The best itself is left out: what is near it was searched. Each is the furthest from those
    before (Gonzalez, Theoretical Computer Science 38, 1985).
    """
    passed = sorted(
        (one for one in archive if one.evaluation.passed),
        key=lambda one: (-_speed(one), one.id),
    )
    if not passed:
        return []
    least = median(map(_speed, passed))
    faster = [one for one in passed if _speed(one) >= least]
    apart = distances([one.candidate.source for one in faster])
    nearest = apart[0].copy()
    chosen: list[int] = []
    while len(chosen) < count and nearest.max() > 0:
        chosen.append(int(np.argmax(nearest)))  # the faster one of two
        nearest = np.minimum(nearest, apart[chosen[-1]])
    return [faster[place] for place in chosen]


def _speed(one: Individual) -> float:
    return one.evaluation.over_seed or 1.0
