"""Relatives: what was measured of kernels alike in structure, for a space that is nearly new."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Protocol

from evaluators.kernel.source import KernelSource
from evaluators.weights import Weights, over_shapes
from operators.tuning.space import key_of
from operators.tuning.tuner import Measured

MOST_RELATIVES = 2
MOST_POINTS = 48
"""Of each relative: the best half of them, and the latest."""

LEAST_POINTS = 4
LEAST_ALIKE = 0.5
"""Parameters that two kernels have in common, of all that either has."""


class Structure(Protocol):
    @property
    def base(self) -> KernelSource: ...
    @property
    def measured(self) -> Mapping[str, Measured]: ...  # by key_of(their params)


def relatives(name: str, structures: Mapping[str, Structure], weights: Weights) -> list[Measured]:
    """Points of those most alike, numbered by relative from 1, as points of the structure `name`.

    Their gains are shifted to its own level, as it is the shape of a landscape that they share.
    """
    own = structures[name]
    alike = {
        other: _alike(own.base, one.base)
        for other, one in structures.items()
        if other != name and _passed(one.measured.values()) >= LEAST_POINTS
    }
    near = sorted(
        (other for other, share in alike.items() if share >= LEAST_ALIKE),
        key=lambda other: (-alike[other], -len(structures[other].measured), other),
    )
    found: list[Measured] = []
    for number, other in enumerate(near[:MOST_RELATIVES], start=1):
        points = _kept(list(structures[other].measured.values()), weights)
        points = [replace(one, params={**own.base.params, **_shared(one, own)}) for one in points]
        found += _shifted(points, own.measured, number, weights)
    return found


def _alike(one: KernelSource, other: KernelSource) -> float:
    return len(one.space.keys() & other.space.keys()) / len(one.space.keys() | other.space.keys())


def _passed(points: Iterable[Measured]) -> int:
    return sum(bool(one.gains) for one in points)


def _shared(point: Measured, own: Structure) -> Mapping[str, int]:
    return {name: value for name, value in point.params.items() if name in own.base.space}


def _kept(points: Sequence[Measured], weights: Weights) -> Sequence[Measured]:
    """In their order."""
    if len(points) <= MOST_POINTS:
        return points
    ranked = sorted(points, key=lambda one: -_mean(one, weights))[: MOST_POINTS // 2]
    best = {id(one) for one in ranked}
    latest = [one for one in points if id(one) not in best][-MOST_POINTS // 2 :]
    kept = best | {id(one) for one in latest}
    return [one for one in points if id(one) in kept]


def _mean(point: Measured, weights: Weights) -> float:
    return over_shapes(point.gains, weights) if point.gains else float("-inf")


def _shifted(
    points: Sequence[Measured], own: Mapping[str, Measured], number: int, weights: Weights
) -> list[Measured]:
    """By the difference at points that both have, else by that of the medians."""
    mine = {key: one for key, one in own.items() if one.gains}
    pairs = [
        (mine[key], one) for one in points if one.gains and (key := key_of(one.params)) in mine
    ]
    levels = [_mean(own_one, weights) - _mean(one, weights) for own_one, one in pairs]
    if not levels and mine:
        theirs = median(_mean(one, weights) for one in points if one.gains)
        levels = [median(_mean(one, weights) for one in mine.values()) - theirs]
    shift = median(levels) if levels else 0.0
    return [
        replace(
            one,
            relative=number,
            gains={label: gain + shift for label, gain in one.gains.items()} if one.gains else None,
        )
        for one in points
    ]
