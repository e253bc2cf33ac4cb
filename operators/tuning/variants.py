"""Variants: which of a kernel's measured points serves which shapes, and conditions that say so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

from evaluators.dtypes import DTYPES
from evaluators.expression import SIZEOF, null_key
from evaluators.tasks.arguments import Workload
from evaluators.weights import Weights, over_shapes
from operators.tuning.space import Params

Dims = Mapping[str, int]
Gains = Mapping[str, float]

Bounds = Mapping[str, int]
"""Of dims: {"C <=": 1024}."""

MOST_VARIANTS = 24
"""Conditions in one file; a file may have 32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """params: what serves where no condition holds; variants: (when, params that differ from
    these); gain: the weighted mean over the shapes of what its points were measured to gain, in
    ln."""

    params: Params
    variants: tuple[tuple[str, Params], ...]
    gain: float


def told_apart_by(workload: Workload) -> Dims:
    """What conditions compare to tell a shape from others: sizes, and what else is a number."""
    setting = workload.setting
    return {
        **workload.dims,
        **{name: int(n) for name, n in setting.attributes.items() if isinstance(n, int) and n >= 0},
        **{f"{SIZEOF}({name})": DTYPES[one].itemsize for name, one in setting.dtypes.items()},
        **{null_key(name): int(null) for name, null in setting.nulls.items()},
    }


def compose(
    points: Sequence[tuple[Params, Gains]],
    shapes: Mapping[str, Dims],
    margin: float,
    weights: Weights,
) -> Composition | None:
    """The point that is best over all shapes, and others where they are better by the margin.

    points: ln(time before / time) by shape's label; those without a time on every shape don't
    count. margin: in ln, what may be luck. None: one point serves all shapes, or conditions that
    tell the shapes apart would be too many.
    """
    points = [one for one in points if shapes.keys() <= one[1].keys()]
    if not points or len(shapes) < 2:
        return None
    chosen = _portfolio([gains for _, gains in points], list(shapes), margin, weights)
    serves = {label: max(chosen, key=lambda one: points[one][1][label]) for label in shapes}
    first = chosen[0]
    for label, one in serves.items():
        if points[one][1][label] - points[first][1][label] < margin:
            serves[label] = first
    found = _rules([(dims, serves[label]) for label, dims in shapes.items()], {})
    rules = [] if found is None else found
    rules = [(when, one) for when, one in rules if one != first]
    if not rules or len(rules) > MOST_VARIANTS:
        return None
    params = points[first][0]
    return Composition(
        params=params,
        variants=tuple(
            (
                " and ".join(f"{bound} {limit}" for bound, limit in when.items()),
                _changed(params, points[one][0]),
            )
            for when, one in rules
        ),
        gain=over_shapes({label: points[one][1][label] for label, one in serves.items()}, weights),
    )


def _portfolio(
    gains: Sequence[Gains], labels: Sequence[str], margin: float, weights: Weights
) -> list[int]:
    """Places of the points that together are best, each shape served by its best; the best alone
    comes first. Another joins where a shape gains more than the margin."""

    def mean(one: int) -> float:
        return over_shapes({label: gains[one][label] for label in labels}, weights)

    best = max(range(len(gains)), key=mean)
    chosen, have = [best], {label: gains[best][label] for label in labels}
    while True:
        worth = [
            sum(
                weights.get(label, 1.0) * max(0.0, one[label] - have[label] - margin)
                for label in labels
            )
            for one in gains
        ]
        more = max(range(len(gains)), key=worth.__getitem__)
        if worth[more] <= 0:
            return chosen
        chosen.append(more)
        have = {label: max(have[label], gains[more][label]) for label in labels}


def _rules(shapes: Sequence[tuple[Dims, int]], when: Bounds) -> list[tuple[Bounds, int]] | None:
    """Conditions that exclude each other, and what serves where they hold: a decision tree over
    the dims, split halfway (in doublings) between shapes (Breiman et al., CART, 1984). A bound
    replaces the wider one above it. None: two shapes are alike in all of them."""
    served = {one for _, one in shapes}
    if len(served) == 1:
        return [(when, served.pop())]
    splits = []
    for name in shapes[0][0]:
        sizes = sorted({dims[name] for dims, _ in shapes})
        splits += [
            (_mixed(shapes, name, isqrt(below * above)), name, isqrt(below * above))
            for below, above in pairwise(sizes)
        ]
    if not splits:
        return None
    _, name, limit = min(splits)
    low = [one for one in shapes if one[0][name] <= limit]
    high = [one for one in shapes if one[0][name] > limit]
    lower = _rules(low, {**when, f"{name} <=": limit})
    upper = _rules(high, {**when, f"{name} >": limit})
    return None if lower is None or upper is None else [*lower, *upper]


def _mixed(shapes: Sequence[tuple[Dims, int]], name: str, limit: int) -> float:
    """Pairs of shapes on the same side of a split that are not served by the same point."""
    sides: tuple[list[int], list[int]] = ([], [])
    for dims, one in shapes:
        sides[dims[name] > limit].append(one)
    return sum(
        len(side) - sum(side.count(one) ** 2 for one in set(side)) / len(side)
        for side in sides
        if side
    )


def _changed(before: Params, after: Params) -> Params:
    return {name: value for name, value in after.items() if value != before[name]}
