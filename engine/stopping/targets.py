"""What ended a campaign before its budgets: a target, a plateau, or an outlook that is too poor."""

import math
from dataclasses import dataclass

from engine.stopping.config import Stop
from engine.stopping.outlook import outlook
from engine.store.budget import figure
from engine.store.replay import Replay
from evaluators.weights import over_shapes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """reason: one sentence without a full stop. override: a command's argument to go on by."""

    reason: str
    override: str


def reached(whole: Replay, stop: Stop) -> Reached | None:
    """The first of the section's keys by which the campaign is to end; None: it goes on."""
    return (
        _speedup(whole, stop.speedup)
        or _speed_of_light(whole, stop.speed_of_light)
        or _plateau(whole, stop.plateau)
        or _expected(whole, stop.expected)
    )


def reached_by(whole: Replay) -> Reached | None:
    """The same by the section as the last session had it."""
    known = {key: value for key, value in whole.stop.items() if key in Stop.model_fields}
    return reached(whole, Stop.model_validate(known))


def light_of_best(whole: Replay) -> float | None:
    """Weighted geometric mean over the benchmark shapes of its part of the speed of light; None
    where there is no best, or no roof is known of its shapes."""
    best = whole.scores.best
    light = whole.scores.evaluations[best.kernel_id].speed_of_light if best else {}
    ln_parts = {label: math.log(part) for label, part in light.items()}
    return math.exp(over_shapes(ln_parts, whole.scores.weights)) if light else None


def lack_of_light(whole: Replay, stop: Stop) -> str:
    """Why stop.speed_of_light can't be told, once the naive seed is measured; else empty."""
    if stop.speed_of_light is None or whole.scores.best is None or light_of_best(whole):
        return ""
    return (
        "stop.speed_of_light can't be told: no peak of this device, or no work of this task, is "
        "known; set stop.speed_of_light=null"
    )


def _shown(whole: Replay) -> bool:
    """Whether the best holds its title by a contest or by the final measurement."""
    best = whole.scores.best
    return best is not None and (best.sittings > 0 or best.final)


def _speedup(whole: Replay, limit: float | None) -> Reached | None:
    best = whole.scores.best
    if limit is None or best is None or best.speedup < limit or not _shown(whole):
        return None
    return Reached(
        reason=f"the target is reached: {best.speedup:.2f}x, stop.speedup is {limit:g}",
        override=f"stop.speedup={_rounded(1.5 * max(limit, best.speedup))}",
    )


def _rounded(value: float) -> str:
    """To two digits: 30, 1900."""
    return figure(float(f"{value:.2g}"))


def _speed_of_light(whole: Replay, limit: float | None) -> Reached | None:
    light = light_of_best(whole)
    if limit is None or light is None or light < limit or not _shown(whole):
        return None
    return Reached(
        reason=(
            f"the target is reached: {100 * light:.1f}% of the speed of light, "
            f"stop.speed_of_light is {limit:g}"
        ),
        override="stop.speed_of_light=null",
    )


def _plateau(whole: Replay, limit: int | None) -> Reached | None:
    barren = whole.scores.barren
    if limit is None or barren < limit:
        return None
    return Reached(
        reason=f"no new best came in {barren} evaluations, stop.plateau is {limit}",
        override=f"stop.plateau={figure(max(2 * limit, barren + limit))}",
    )


def _expected(whole: Replay, limit: float | None) -> Reached | None:
    if limit is None:
        return None
    found = outlook(whole)
    if found is None or found.most >= limit:
        return None
    likely = max(found.by_steps, found.by_predictions)
    return Reached(
        reason=(
            f"what is left of the budget is expected to bring {likely:.2g}% ({found.most:.2g}% "
            f"with its error), stop.expected is {limit:g}%"
        ),
        override="stop.expected=null",
    )
