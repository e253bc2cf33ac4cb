"""Grid: all points of a kernel's space, and for which of them its constraints hold."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from evaluators.expression import Expression, ExpressionError
from evaluators.kernel.columns import Column, Mask, holds_at

MOST_POINTS = 1 << 20
"""Of a grid that is looked at as a whole."""

MOST_PLACES = 1 << 62
"""Points of a grid in which each has a place."""

AT_ONCE = 1 << 16

MOST_ASKED = 256
"""Questions about single points, after which it is looked at as a whole."""

Rows = np.ndarray[Any, np.dtype[np.int64]]
"""Points by row, the values of the parameters by column."""


class Grid:
    """values: by parameter; rest: parameters that have one value. Points may lie beside it."""

    def __init__(
        self,
        values: Mapping[str, Sequence[int]],
        constraints: Sequence[Expression],
        rest: Mapping[str, int],
        listed: Rows | None = None,
    ) -> None:
        """listed: places of the only feasible points; see restrict_to()."""
        self.values = {name: tuple(one) for name, one in values.items()}
        self.names = tuple(self.values)
        self.rest = dict(rest)
        self._constraints = tuple(constraints)
        self.shape = tuple(len(one) for one in self.values.values())
        self.size = math.prod(self.shape)
        """How many points there are if every constraint holds."""
        self._asked = 0
        self._listed = listed
        self._places = [{v: place for place, v in enumerate(one)} for one in self.values.values()]

    def __reduce__(self) -> tuple[Any, ...]:
        return Grid, (self.values, self._constraints, self.rest, self._listed)

    def restrict_to(self, rows: Rows) -> None:
        """These of its points are feasible and no others, whatever its constraints say: those that
        were recorded of a kernel whose constraints nobody told.

        Raises ValueError where there are none, one lies beside it, or it is too large for places.
        """
        if not len(rows) or self.size > MOST_PLACES:
            raise ValueError(f"{len(rows)} points of a grid of {self.size}")
        index, known = self._indices(rows)
        if not known.all():
            raise ValueError(f"{(~known).sum()} of {len(rows)} points lie beside the grid")
        self._listed = np.unique(index)
        self.__dict__.pop("_all_rows", None)

    @property
    def small(self) -> bool:
        """Whether it is looked at as a whole."""
        return self._listed is not None or self.size <= MOST_POINTS

    def holds(self, params: Mapping[str, int]) -> bool:
        """Whether every constraint holds for all these parameters. An expression that can't be
        evaluated does not."""
        if self._listed is not None:
            index = self._index(params)
            return index is not None and bool(self._among_listed(np.array([index]))[0])
        if not self._constraints:
            return True
        self._asked += 1
        if self.small and self._asked > MOST_ASKED:
            index = self._index(params)
            if index is not None:
                return bool(self._feasible[index])
        try:
            return all(bool(one.evaluate(params)) for one in self._constraints)
        except ExpressionError:
            return False

    def feasible(self, rows: Rows) -> Rows:
        """Those of the rows that are points of it for which every constraint holds."""
        if self.small:
            index, known = self._indices(rows)
            listed = self._listed is not None
            return rows[known & (self._among_listed(index) if listed else self._feasible[index])]
        for constraint in self._constraints:
            if not len(rows):
                break
            rows = rows[holds_at(constraint, self._columns(rows))]
        return rows

    @property
    def rows(self) -> Rows:
        """Every feasible point. Raises ValueError where the grid is not small."""
        if not self.small:
            raise ValueError(f"a grid of {self.size} points is not looked at as a whole")
        return self._all_rows

    @cached_property
    def _all_rows(self) -> Rows:
        places = self._listed
        return self._rows(np.flatnonzero(self._feasible) if places is None else places)

    def params(self, row: int) -> dict[str, int]:
        """Those of one of the rows, the fixed ones left out."""
        return dict(zip(self.names, map(int, self.rows[row]), strict=True))

    @cached_property
    def _feasible(self) -> Mask:
        """By place in the grid."""
        found = np.zeros(self.size, dtype=np.bool_)
        for start in range(0, self.size, AT_ONCE):
            places = np.arange(start, min(start + AT_ONCE, self.size))
            columns = self._columns(self._rows(places))
            true = np.ones(len(places), dtype=np.bool_)
            for constraint in self._constraints:
                true &= holds_at(constraint, columns)
            found[places] = true
        return found

    def _among_listed(self, index: Rows) -> Mask:
        """By place in the grid."""
        assert self._listed is not None
        at = np.minimum(np.searchsorted(self._listed, index), len(self._listed) - 1)
        return np.asarray(self._listed[at] == index)

    def _rows(self, places: Rows) -> Rows:
        axes = np.unravel_index(places, self.shape) if self.names else ()
        columns = [np.array(v)[a] for v, a in zip(self.values.values(), axes, strict=True)]
        rows = np.stack(columns, axis=1) if columns else np.zeros((len(places), 0))
        return rows.astype(np.int64)

    def _columns(self, rows: Rows) -> dict[str, Column]:
        columns = {name: rows[:, place] for place, name in enumerate(self.names)}
        for name, value in self.rest.items():
            columns[name] = np.full(len(rows), value, dtype=np.int64)
        return columns

    def _indices(self, rows: Rows) -> tuple[Rows, Mask]:
        """By row: its place in the grid, and whether it has one."""
        index = np.zeros(len(rows), dtype=np.int64)
        known = np.ones(len(rows), dtype=np.bool_)
        for column, (values, order) in zip(rows.T, self._sorted, strict=True):
            at = np.minimum(np.searchsorted(values, column), len(values) - 1)
            known &= values[at] == column
            index = index * len(values) + order[at]
        return index, known

    @cached_property
    def _sorted(self) -> list[tuple[Rows, Rows]]:
        """Of each parameter: its values in rising order, and their places."""
        arrays = [np.array(one, dtype=np.int64) for one in self.values.values()]
        return [(one[np.argsort(one)], np.argsort(one)) for one in arrays]

    def _index(self, params: Mapping[str, int]) -> int | None:
        """Its place in the grid; None where it lies beside it."""
        index = 0
        for name, places in zip(self.names, self._places, strict=True):
            place = places.get(params[name])
            if place is None:
                return None
            index = index * len(places) + place
        for name, value in self.rest.items():
            if params[name] != value:
                return None
        return index


@lru_cache(maxsize=256)
def shared_grid(
    values: tuple[tuple[str, tuple[int, ...]], ...],
    constraints: tuple[Expression, ...],
    rest: tuple[tuple[str, int], ...],
) -> Grid:
    """One object for kernels that differ in the parameters of one space only."""
    return Grid(dict(values), constraints, dict(rest))
