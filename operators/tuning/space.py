"""A kernel's space: its feasible points, enumerated or drawn, and what tells two of them apart."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from evaluators.kernel.grid import Grid, Rows
from evaluators.kernel.source import KernelSource

Params = Mapping[str, int]
Floats = np.ndarray[Any, np.dtype[np.float64]]

_FACTORS = np.random.default_rng(0).integers(-(2**62), 2**62, 256) | 1

DRAWN_AT_ONCE = 4096
MOST_DRAWS = 32


class Space:
    """The feasible points of a grid. Parameters with one value are no part of it."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self.names = grid.names
        self._measures = [_Measure(one) for one in grid.values.values()]

    def rows(self, points: Sequence[Params]) -> Rows:
        """Raises KeyError where a point lacks a parameter."""
        found = [[point[name] for name in self.names] for point in points]
        return np.array(found, dtype=np.int64).reshape(len(points), len(self.names))

    def params(self, row: Rows) -> dict[str, int]:
        """One row as parameters, the fixed ones among them."""
        return {**self._grid.rest, **dict(zip(self.names, map(int, row), strict=True))}

    def features(self, rows: Rows) -> Floats:
        """By row; each between 0 and 1 within the space. Their distances tell points apart."""
        parts = [one.of(rows[:, place]) for place, one in enumerate(self._measures)]
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(rows), 0))

    def feasible(self, rows: Rows) -> Rows:
        """Those of the rows for which every constraint holds."""
        return self._grid.feasible(rows)

    def draw(self, rng: np.random.Generator, count: int) -> Rows:
        """So many feasible points, each as likely as another; fewer where they are rare."""
        if self._grid.small:
            rows = self._grid.rows
            return rows[rng.choice(len(rows), min(count, len(rows)), replace=False)]
        found = np.zeros((0, len(self.names)), dtype=np.int64)
        for _ in range(MOST_DRAWS):
            columns = [rng.choice(one, DRAWN_AT_ONCE) for one in self._grid.values.values()]
            drawn = self.feasible(np.stack(columns, axis=1).astype(np.int64))
            found = distinct(np.concatenate([found, drawn]))
            if len(found) >= count:
                return found[rng.choice(len(found), count, replace=False)]
        return found

    def neighbours(self, row: Rows) -> Rows:
        """Feasible points with another value of one parameter, or one step further in two."""
        places, values = [], []  # of single changes
        step_places, step_values = [], []
        for place, known in enumerate(self._grid.values.values()):
            at = int(np.argmin(np.abs(np.array(known) - row[place])))
            others = [value for value in known if value != row[place]]
            steps = [known[to] for to in (at - 1, at + 1) if 0 <= to < len(known)]
            places += [place] * len(others)
            values += others
            step_places += [place] * len(steps)
            step_values += steps
        singles = _changed(row, np.array(places, dtype=np.int64), np.array(values, dtype=np.int64))
        at_step, to_step = np.array(step_places, dtype=np.int64), np.array(step_values)
        first, second = np.triu_indices(len(at_step), 1)
        differ = at_step[first] != at_step[second]
        first, second = first[differ], second[differ]
        pairs = _changed(row, at_step[first], to_step[first])
        pairs[np.arange(len(pairs)), at_step[second]] = to_step[second]
        return self.feasible(np.concatenate([singles, pairs]))


def _changed(row: Rows, places: Rows, values: Rows) -> Rows:
    """The row with one value changed, once for each place and value."""
    rows = np.tile(row, (len(places), 1))
    rows[np.arange(len(places)), places] = values
    return rows


def codes(rows: Rows) -> Rows:
    """A number by row, the same for the same values; chance makes two of a million alike in one of
    40 million spaces."""
    with np.errstate(over="ignore"):
        return np.asarray((rows * _FACTORS[: rows.shape[1]]).sum(axis=1))


def distinct(rows: Rows) -> Rows:
    """Each point once."""
    return rows[np.unique(codes(rows), return_index=True)[1]]


def key_of(params: Params) -> str:
    """The same for the same values, whatever their order."""
    return repr(sorted(params.items()))


def space_of(kernel: KernelSource) -> Space:
    """What a kernel's own front matter declares; the same object for kernels that differ in the
    parameters of their space only."""
    return _space(kernel.grid)


@lru_cache(maxsize=256)
def _space(grid: Grid) -> Space:
    return Space(grid)


class _Measure:
    """How far apart two values of a parameter are: in doublings, and, where not all values are
    powers of two, by the largest power of two that divides them (alignment)."""

    def __init__(self, values: Sequence[int]) -> None:
        column = np.array(values, dtype=np.int64)
        self._scales: list[tuple[Any, float, float]] = []
        for scale in (_doublings, _alignment):
            found = scale(column)
            low, high = float(found.min()), float(found.max())
            aligned = len(values) > 4 and not np.array_equal(np.exp2(found), column)
            if high > low and (scale is _doublings or aligned):
                self._scales.append((scale, low, high))
        self.width = len(self._scales)

    def of(self, column: Rows) -> Floats:
        """By value: a row of `width` numbers."""
        parts = [(scale(column) - low) / (high - low) for scale, low, high in self._scales]
        return np.stack(parts, axis=1)


def _doublings(column: Rows) -> Floats:
    return np.asarray(np.sign(column) * np.log2(1 + np.abs(column)))


def _alignment(column: Rows) -> Floats:
    lowest_bit = np.where(column == 0, 1, column & -column)
    return np.asarray(np.log2(lowest_bit))
