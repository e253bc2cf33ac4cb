"""Landscape: what the island's measurements say of points not yet measured."""

import math
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from evaluators.evaluation import Rejected, Status
from evaluators.kernel import KernelSource, parse_kernel
from operators.individual import Individual

Key = tuple[str, frozenset[tuple[str, int]]]
"""A point: a kernel's code, and its parameters."""

Array = np.ndarray[Any, np.dtype[np.float64]]

REACH = 3.0  # in doublings of one parameter: how far a measurement speaks for its surroundings
OTHER_CODE = 1.0  # what other code around the same parameters counts, in doublings
SPREAD = 0.7  # of ln(speedup) over a family's space
NOISE = 0.05  # of ln(speedup), measured
STOPPED = math.log(4.0)  # a kernel stopped early counts as so much behind the best
POINTS = 400  # the latest so many are used


@lru_cache(maxsize=4096)
def parsed(text: str) -> KernelSource:
    """parse_kernel, remembered: operators meet the same parents again and again."""
    return parse_kernel(text)


def key_of(kernel: KernelSource, params: Mapping[str, int] | None = None) -> Key:
    """The point that a kernel is, or would be with other parameters."""
    return kernel.code, frozenset((kernel.params if params is None else params).items())


def known_points(individuals: Iterable[Individual]) -> set[Key]:
    """The points of all individuals that parse, whatever became of them."""
    found = set()
    for individual in individuals:
        try:
            found.add(key_of(parsed(individual.candidate.source)))
        except Rejected:
            continue
    return found


class Landscape:
    """A Gaussian process over ln(speedup), on the logarithms of parameters.

    Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), algorithm 2.1,
    with an exponential kernel of the distance: code generators make cliffs, not hills.
    """

    def __init__(self, individuals: Collection[Individual]) -> None:
        measured = [
            (key_of(parsed(one.candidate.source)), value)
            for one, value in _values(individuals)
            if parsed(one.candidate.source).params
        ][-POINTS:]
        self._points = [key for key, _ in measured]
        values = np.array([value for _, value in measured], dtype=np.float64)
        self._inverse: Array = np.zeros((0, 0))
        self._weights: Array = np.zeros(0)
        if measured:
            covariance = self._covariance(self._points, self._points)
            covariance += NOISE**2 * np.eye(len(measured))
            self._inverse = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
            self._weights = self._inverse @ (values - values.mean())

    def gains(self, before: Key, after: list[Key]) -> tuple[Array, Array]:
        """Mean and standard deviation of ln(time before / time after), by point."""
        prior = self._covariance(after, after).diagonal() + SPREAD**2
        own = self._covariance(after, [before])[:, 0]
        difference = self._covariance(after, self._points) - self._covariance(
            [before], self._points
        )
        mean = difference @ self._weights
        variance = prior - 2 * own - np.einsum("ij,jk,ik->i", difference, self._inverse, difference)
        return mean, np.sqrt(np.maximum(variance, NOISE**2))

    def _covariance(self, left: list[Key], right: list[Key]) -> Array:
        names = sorted({name for _, params in (*left, *right) for name, _ in params})
        a, b = _coordinates(left, names), _coordinates(right, names)
        codes = np.array([[one[0] != two[0] for two in right] for one in left], dtype=np.float64)
        apart = np.nansum(np.abs(a[:, None, :] - b[None, :, :]), axis=2)
        return np.asarray(
            SPREAD**2 * np.exp(-(apart + OTHER_CODE * codes.reshape(apart.shape)) / REACH)
        )


def _coordinates(points: list[Key], names: list[str]) -> Array:
    """Doublings by point and parameter; NaN, so no distance, where a point lacks one."""
    found = np.full((len(points), len(names)), np.nan)
    column = {name: i for i, name in enumerate(names)}
    for row, (_, params) in enumerate(points):
        for name, value in params:
            found[row, column[name]] = math.log2(1 + abs(value))
    return found


def _values(individuals: Collection[Individual]) -> list[tuple[Individual, float]]:
    """ln(speedup) of what passed; of what was stopped early, a bound in its place."""
    speedups = [one.evaluation.speedup for one in individuals if one.evaluation.speedup]
    best = math.log(max(speedups, default=1.0))
    found = []
    for one in individuals:
        if one.evaluation.speedup:
            found.append((one, math.log(one.evaluation.speedup)))
        elif one.evaluation.status is Status.STOPPED_EARLY:
            found.append((one, best - STOPPED))
    return found
