"""By shape: which points are faster than the kernel shown, where one does not serve all shapes."""

from collections.abc import Sequence
from typing import NamedTuple

from evaluators.measuring.gain import gain
from evaluators.measuring.intervals import Ratio, Spread
from operators.individual import Individual
from operators.llm.prompts.points import Point, Surroundings
from operators.llm.prompts.steps import MOST_CHANGES, percent

MOST_SHAPES = 6
"""Whose best points are named, those first on which most is to be gained."""

MOST_CHARACTERS = 600

SHOWN = 0.99
"""As a winner of a race is shown: it is the best of many points, on one of many shapes."""


class _Faster(NamedTuple):
    """Than the kernel shown, on the shape of that label."""

    label: str
    point: Point
    individual: Individual
    ratio: Ratio


def best_by_shape(around: Surroundings, spread: Spread) -> list[str]:
    """ "best by shape: N=64: ROWS=8 V=4 (0f1e2d3c4b5a6978): +40% (+35..+45); on the others none is
    shown to be faster", beside the kernel shown.

    One line where points are shown to be faster than it on some shape, and not one of them on
    all. Evaluations of before there were gains by shape say nothing here.
    """
    labels = around.individual.evaluation.gains
    found = [_faster(label, around, spread) for label in labels]
    faster = sorted((one for one in found if one), key=lambda one: -one.ratio[0])
    if len({one.individual.id if one else "" for one in found}) < 2:
        return []
    for count in range(min(MOST_SHAPES, len(faster)), 0, -1):
        parts = _parts(faster[:count], around)
        more = len(faster) - count
        parts += [f"{more} more shape{'s' * (more > 1)}"] if more else []
        parts += ["on the others none is shown to be faster"] if len(faster) < len(labels) else []
        line = f"best by shape: {'; '.join(parts)}"
        if len(line) <= MOST_CHARACTERS:
            return [line]
    return []


def _faster(label: str, around: Surroundings, spread: Spread) -> _Faster | None:
    """The fastest point on the shape, or that which is best over all, where the fastest is not
    shown to be faster than it. None: it is what runs there, or is not shown to be faster."""
    gains = {
        point: one.evaluation.gains[label]
        for point, one in around.points.items()
        if one.evaluation.passed and label in one.evaluation.gains
    }
    if not gains:
        return None
    first = max(gains, key=lambda point: (gains[point], around.points[point].id))
    best = next((point for point in gains if around.points[point] is around.best), first)
    ahead = _shown(label, around.points[first], around.points[best], spread)
    for point in [first] if ahead else [best, first]:
        if point == around.own(label):
            return None
        if _shown(label, around.points[point], around.individual, spread):
            return _beside(label, point, around, spread)
    return None


def _beside(label: str, point: Point, around: Surroundings, spread: Spread) -> _Faster | None:
    one = around.points[point]
    ratio = gain(one.evaluation, around.individual.evaluation, spread, label=label)
    return _Faster(label, point, one, ratio) if ratio else None


def _shown(label: str, one: Individual, other: Individual, spread: Spread) -> bool:
    ratio = gain(one.evaluation, other.evaluation, spread, label=label, confidence=SHOWN)
    return ratio is not None and ratio[1] > 1


def _parts(faster: Sequence[_Faster], around: Surroundings) -> list[str]:
    """One a shape. A point is described where it is named first."""
    described: set[Point] = set()
    parts = []
    for label, point, one, ratio in faster:
        named = one.id if point in described else f"{_named(point, around)} ({one.id})"
        parts.append(f"{label}: {named}: {percent(ratio)}")
        described.add(point)
    return parts


def _named(point: Point, around: Surroundings) -> str:
    """By all of its space; of a large one by what differs from the kernel's params."""
    values, params = dict(point), around.base.params
    names = [*around.base.space]
    if len(names) > MOST_CHANGES:
        names = [name for name in names if values[name] != params[name]]
    more = f" and {len(names) - MOST_CHANGES} more" if len(names) > MOST_CHANGES else ""
    return " ".join(f"{name}={values[name]}" for name in names[:MOST_CHANGES]) + more
