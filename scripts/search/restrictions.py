"""Restrictions: constraints that hold for exactly the points that a table lists."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

MOST_POINTS = 4_000_000
"""Of the whole grid, feasible or not."""

MOST_CHARACTERS = 390
MOST_TERMS = 24
MOST_CONSTRAINTS = 32
"""What a kernel's front matter may hold: see evaluators.expression and the reader."""

Ints = np.ndarray[Any, np.dtype[np.int64]]


class RestrictionError(ValueError):
    """One sentence: why no constraints were found."""


def constraints_of(
    values: Mapping[str, Sequence[int]], points: Sequence[Mapping[str, int]]
) -> list[str]:
    """values: by parameter. None where every point of the grid is listed.

    A decision tree tells what is listed from what is not, by parameters and their products, and
    its leaves are the constraints (Breiman et al., CART, 1984). Raises RestrictionError.
    """
    size = prod(len(one) for one in values.values())
    if size == len(points):
        return []
    if size > MOST_POINTS:
        raise RestrictionError(f"the grid has {size} points, of which {len(points)} are listed")
    axes = np.meshgrid(*(np.array(one) for one in values.values()), indexing="ij")
    grid = np.stack([axis.ravel() for axis in axes], axis=1).astype(np.int64)
    listed = _listed(grid, list(values), points)
    names, features = _features(list(values), grid)
    clauses = _clauses(names, features, listed)
    found = _packed(clauses)
    if len(found) > MOST_CONSTRAINTS:
        raise RestrictionError(f"{len(clauses)} rules would be needed to tell its points")
    return found


def _listed(grid: Ints, names: Sequence[str], points: Sequence[Mapping[str, int]]) -> Ints:
    wanted = {tuple(point[name] for name in names) for point in points}
    return np.array([tuple(row) in wanted for row in grid.tolist()])


def _features(names: Sequence[str], grid: Ints) -> tuple[list[str], Ints]:
    told, columns = list(names), [grid[:, place] for place in range(len(names))]
    for first, second in combinations(range(len(names)), 2):
        told.append(f"{names[first]}*{names[second]}")
        columns.append(grid[:, first] * grid[:, second])
    for place, name in enumerate(names):
        if len(np.unique(grid[:, place])) > 4:
            told.append(f"{name}%32")
            columns.append(grid[:, place] % 32)
    return told, np.stack(columns, axis=1)


def _clauses(names: Sequence[str], features: Ints, listed: Ints) -> list[str]:
    """What must not hold, by leaf."""
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(random_state=0).fit(features, listed).tree_
    found: list[str] = []

    def walk(node: int, bounds: dict[int, tuple[float, float]]) -> None:
        if tree.children_left[node] < 0:
            if tree.value[node][0].argmax() == 0:
                found.append(_clause(names, bounds))
            return
        at, limit = int(tree.feature[node]), float(np.floor(tree.threshold[node]))
        low, high = bounds.get(at, (-np.inf, np.inf))
        walk(tree.children_left[node], {**bounds, at: (low, min(high, limit))})
        walk(tree.children_right[node], {**bounds, at: (max(low, limit), high)})

    walk(0, {})
    return found


def _clause(names: Sequence[str], bounds: Mapping[int, tuple[float, float]]) -> str:
    parts = []
    for at, (low, high) in bounds.items():
        parts += [f"{names[at]}>{low:.0f}"] if np.isfinite(low) else []
        parts += [f"{names[at]}<={high:.0f}"] if np.isfinite(high) else []
    return f"not ({' and '.join(parts)})"


def _packed(clauses: Sequence[str]) -> list[str]:
    """As few constraints as hold them all."""
    found: list[str] = []
    for clause in clauses:
        joined = f"{found[-1]} and {clause}" if found else clause
        if found and len(joined) <= MOST_CHARACTERS and _terms(joined) <= MOST_TERMS:
            found[-1] = joined
        else:
            found.append(clause)
    return found


def _terms(text: str) -> int:
    return text.count("<") + text.count(">")
