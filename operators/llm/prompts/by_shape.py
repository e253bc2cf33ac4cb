"""By shape: which points are faster than the kernel shown, where one does not serve all shapes."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evaluators.measuring.gain import gain
from evaluators.measuring.intervals import Ratio, Spread
from evaluators.tasks.arguments import Workload
from operators.individual import Individual
from operators.llm.prompts.points import Point, Surroundings
from operators.llm.prompts.steps import MOST_CHANGES, percent

MOST_SHAPES = 6
MOST_CHARACTERS = 600

SHOWN = 0.99
"""As a winner is shown: it is the best of many points, on one of many shapes."""


class _Faster(NamedTuple):
    """Than the kernel shown, on the shape of that label."""

    point: Point
    individual: Individual
    ratio: Ratio
    label: str


def best_by_shape(around: Surroundings, workloads: Sequence[Workload], spread: Spread) -> str:
    """ "best by shape, beside this one there: ROWS=8 (0f1e2d3c4b5a6978): +120% (+115..+125) on
    R=65536 C=256; elsewhere no point is shown to be faster", the largest gains first.

    "" where nothing is shown on any shape, or one point is the best on all of them.
    """
    found = [_faster(around, one, spread) for one in workloads] if len(workloads) > 1 else []
    faster = sorted((one for one in found if one), key=lambda one: -one.ratio[0])
    points = {one.individual.id for one in faster}
    if not faster or (all(found) and points == {around.best.id if around.best else ""}):
        return ""
    for count in range(min(MOST_SHAPES, len(faster)), 0, -1):
        more = len(faster) - count
        rest = f"{more} more shape{'s' * (more > 1)}" if more else ""
        if not more and len(faster) < len(workloads):
            rest = "elsewhere no point is shown to be faster"
        parts = [*_parts(faster[:count], around.base.params), *filter(None, [rest])]
        line = f"best by shape, beside this one there: {'; '.join(parts)}"
        if len(line) <= MOST_CHARACTERS:
            return line
    return ""


def _faster(around: Surroundings, workload: Workload, spread: Spread) -> _Faster | None:
    """The fastest point on the shape, or that which is best over all, where the fastest is not
    shown to be faster than it. None: it is not shown to be faster, or is what runs there."""
    label, own = workload.label, around.own(workload.dims)
    gains = {
        point: one.evaluation.gains[label]
        for point, one in around.points.items()
        if one.evaluation.passed and label in one.evaluation.gains
    }
    if own is None or not gains or label not in around.individual.evaluation.gains:
        return None
    first = max(gains, key=lambda point: (gains[point], around.points[point].id))
    best = next((point for point in gains if around.points[point] is around.best), first)
    within_noise = not _shown(around.points[first], around.points[best], label, spread)
    for point in [best, first] if within_noise else [first]:
        one = around.points[point]
        if point == own:
            return None
        if _shown(one, around.individual, label, spread):
            ratio = gain(one.evaluation, around.individual.evaluation, spread, label=label)
            return _Faster(point, one, ratio, label) if ratio else None
    return None


def _shown(one: Individual, other: Individual, label: str, spread: Spread) -> bool:
    ratio = gain(one.evaluation, other.evaluation, spread, label=label, confidence=SHOWN)
    return ratio is not None and ratio[1] > 1


def _parts(faster: Sequence[_Faster], params: Mapping[str, int]) -> list[str]:
    """One a point, with its shapes."""
    shapes: dict[Point, list[_Faster]] = {}
    for one in faster:
        shapes.setdefault(one.point, []).append(one)
    return [
        f"{_named(point, params)} ({won[0].individual.id}): "
        + ", ".join(f"{percent(one.ratio)} on {one.label}" for one in won)
        for point, won in shapes.items()
    ]


def _named(point: Point, params: Mapping[str, int]) -> str:
    """What differs from the kernel's params."""
    values = dict(point)
    changed = [f"{name}={values[name]}" for name in params if values[name] != params[name]]
    more = f" and {len(changed) - MOST_CHANGES} more" if len(changed) > MOST_CHANGES else ""
    return " ".join(changed[:MOST_CHANGES]) + more if changed else "no variant"
