"""Landscape: what the island's measurements say of points not yet measured."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from evaluators.evaluation import Rejected, Status
from evaluators.kernel.source import KernelSource, parse_kernel
from operators.individual import Individual

Key = tuple[str, frozenset[tuple[str, int]]]
"""A point: a kernel's code, and its parameters."""

Array = np.ndarray[Any, np.dtype[np.float64]]

REACH = 3.0  # in doublings of one parameter: how far a measurement speaks for its surroundings
OTHER_CODE = 1.0  # what other code around the same parameters counts, in doublings
SPREAD = 1.0  # of ln(speedup) over a family's space
CLIFFS = 0.05  # share of the variance that even the nearest neighbours do not have in common
NOISE = 0.05  # of ln(speedup), measured
STOPPED = math.log(4.0)  # a kernel stopped early counts as so much behind the best
BEST = LATEST = 32  # so many measurements are used, for the sake of time


@lru_cache(maxsize=4096)
def parsed(text: str) -> KernelSource:
    """parse_kernel, remembered: operators meet the same parents again and again."""
    return parse_kernel(text)


@lru_cache(maxsize=4096)
def _code(text: str) -> str:
    """The code of a file that parses: one object for each text, so that it hashes once."""
    return parsed(text).code


def key_of(kernel: KernelSource, params: Mapping[str, int] | None = None) -> Key:
    """The point that a kernel is, or would be with other parameters."""
    return _code(kernel.text), frozenset((kernel.params if params is None else params).items())


@lru_cache(maxsize=4096)
def _point(text: str) -> Key | None:
    try:
        return key_of(parsed(text))
    except Rejected:
        return None


def known_points(individuals: Iterable[Individual]) -> set[Key]:
    """The points of all individuals that parse, whatever became of them."""
    points = {_point(individual.candidate.source) for individual in individuals}
    return {point for point in points if point is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gains:
    """ln(time before / time after) by point: mean, standard deviation, and the latter before
    anything was measured."""

    mean: Array
    deviation: Array
    prior: Array

    def sample(self, rng: np.random.Generator, start: int, stop: int) -> int:
        """Which of the points [start, stop) to try, counted from start.

        Thompson sampling: W. R. Thompson, Biometrika 25 (1933).
        """
        drawn = rng.normal(self.mean[start:stop], self.deviation[start:stop])
        return int(np.argmax(drawn))


class Landscape:
    """A Gaussian process over ln(speedup), on the logarithms of parameters.

    Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), algorithm 2.1,
    with an exponential kernel of the distance: code generators make cliffs, not hills.
    """

    def __init__(self, individuals: Collection[Individual]) -> None:
        measured = _measured(individuals)
        self._points = [key for key, _ in measured]
        values = np.array([value for _, value in measured], dtype=np.float64)
        self._inverse: Array = np.zeros((0, 0))
        self._weights: Array = np.zeros(0)
        if measured:
            covariance = self._covariance(self._points, self._points)
            covariance += NOISE**2 * np.eye(len(measured))
            self._inverse = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
            self._weights = self._inverse @ (values - values.mean())

    def gains(self, before: Key, after: list[Key]) -> Gains:
        """What is expected of moving from one point to each of some others."""
        prior = 2 * SPREAD**2 - 2 * self._covariance(after, [before])[:, 0]
        difference = self._covariance(after, self._points) - self._covariance(
            [before], self._points
        )
        mean = difference @ self._weights
        variance = prior - np.einsum("ij,jk,ik->i", difference, self._inverse, difference)
        return Gains(
            mean=mean,
            deviation=np.sqrt(np.maximum(variance, NOISE**2)),
            prior=np.sqrt(np.maximum(prior, NOISE**2)),
        )

    def _covariance(self, left: list[Key], right: list[Key]) -> Array:
        apart = _apart(left, right)
        shared = (1 - CLIFFS) * np.exp(-apart / REACH) + CLIFFS * (apart == 0)
        return np.asarray(SPREAD**2 * shared)


def distances(texts: list[str]) -> Array:
    """Of kernels from each other, in doublings. Raises Rejected where one can't be read."""
    points = [key_of(parsed(text)) for text in texts]
    return _apart(points, points)


def _apart(left: list[Key], right: list[Key]) -> Array:
    names = sorted({name for _, params in (*left, *right) for name, _ in params})
    a, b = _coordinates(left, names), _coordinates(right, names)
    apart = np.abs(a[:, None, :] - b[None, :, :]).sum(axis=2)
    code = {text: i for i, text in enumerate({text for text, _ in (*left, *right)})}
    own, other = ([code[text] for text, _ in points] for points in (left, right))
    return np.asarray(apart + OTHER_CODE * np.not_equal.outer(own, other).reshape(apart.shape))


def _coordinates(points: list[Key], names: list[str]) -> Array:
    """Doublings by point and parameter. What a point lacks counts as 1, a factor of nothing:
    it has to stand somewhere, or distances would be none that a Gaussian process can have."""
    told = tuple(names)
    found = np.array([_doublings(params, told) for _, params in points], dtype=np.float64)
    return found.reshape(len(points), len(names))


@lru_cache(maxsize=65536)
def _doublings(params: frozenset[tuple[str, int]], names: tuple[str, ...]) -> tuple[float, ...]:
    values = dict(params)
    return tuple(math.log2(1 + abs(values.get(name, 1))) for name in names)


def _measured(individuals: Collection[Individual]) -> list[tuple[Key, float]]:
    """Points with ln(speedup); for those stopped early, with a bound in its place."""
    speedups = [one.evaluation.over_seed for one in individuals if one.evaluation.over_seed]
    best = math.log(max(speedups, default=1.0))
    found = []
    for one in individuals:
        point = _point(one.candidate.source)
        if point is None or not point[1]:
            continue
        if one.evaluation.over_seed:
            found.append((point, math.log(one.evaluation.over_seed)))
        elif one.evaluation.status is Status.STOPPED_EARLY:
            found.append((point, best - STOPPED))
    older = sorted(found[:-LATEST], key=lambda entry: -entry[1])
    return [*older[:BEST], *found[-LATEST:]]
