"""What is left of the budgets is expected to bring: by the steps so far, and by predictions."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from engine.stopping.rates import evaluations_left
from engine.store.events import Drafted
from engine.store.replay import Replay
from evaluators.evaluation import Evaluation
from evaluators.measuring.gain import gains_over_seed
from evaluators.weights import over_shapes

LEAST_EVALUATIONS = 50
"""Of fewer nothing is expected: it is too early to say."""

LATEST = 30
"""Experiments with a prediction, the last ones, that tell what designers expect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """Percent by which the best is expected to become faster. error: of the first, a standard
    error. most: what must be small before nothing more is worth its cost."""

    by_steps: float
    error: float
    by_predictions: float

    @property
    def most(self) -> float:
        return max(self.by_steps + self.error, self.by_predictions)


def outlook(whole: Replay) -> Outlook | None:
    """None where it is too early to say, or where nothing bounds what is left."""
    asked, left = whole.scores.asked, evaluations_left(whole)
    if asked < LEAST_EVALUATIONS or left is None:
        return None
    gain, error = further_gain(whole.scores.steps, asked, left)
    return Outlook(
        by_steps=_percent(gain),
        error=_percent(gain + error) - _percent(gain),
        by_predictions=_percent(predicted_gain(whole, left)),
    )


def further_gain(
    steps: Iterable[tuple[int, float]], asked: int, left: float
) -> tuple[float, float]:
    """ln of the further gain of the best in so many more evaluations, and its standard error.

    steps: (evaluation, ln of the gain) of every new best so far. In a search new records come at
    an even rate in the logarithm of the number of tries (Glick, Breaking Records and Breaking
    Boards, American Mathematical Monthly 1978). So the rate is one of ln(evaluations). A step at
    evaluation s weighs s / asked: older ones fade and never quite vanish, and the weights of all
    ln(evaluations) so far add up to 1. The error is that of a compound Poisson process.
    """
    seen = [gain * at / asked for at, gain in steps]
    further = math.log1p(left / asked)
    return sum(seen) * further, math.sqrt(sum(one**2 for one in seen)) * further


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """An experiment that was measured. base: ln of its Base's speedup over the naive seed; gain:
    ln of what was predicted over it; measured: the same as it came, 0 where the kernel failed."""

    base: float
    gain: float
    measured: float


def predicted_gain(whole: Replay, left: float) -> float:
    """ln of what the next experiments, as many as were looked at, bring if they are like those.

    Each counts for what it would have led the best of today, its prediction times the part of
    predictions that was measured so far. No more than `left` experiments are counted.
    """
    best = whole.scores.best
    if best is None or best.speedup <= 0:
        return 0.0
    made = measured_predictions(whole)
    held = held_part(made)
    leads = [max(0.0, p.base + held * p.gain - math.log(best.speedup)) for p in made[-LATEST:]]
    return fmean(leads) * min(left, len(leads)) if leads else 0.0


def held_part(made: Sequence[Predicted]) -> float:
    """Measured over predicted gain of all so far, 0 to 1; 1 where nothing was predicted."""
    promised = sum(one.gain for one in made)
    measured = sum(one.measured for one in made)
    return min(1.0, max(0.0, measured / promised)) if promised > 0 else 1.0


def measured_predictions(whole: Replay) -> list[Predicted]:
    """In the order in which they were drafted, failures among them."""
    known = whole.scores.evaluations
    found = []
    for drafted in whole.first_drafts.values():
        kernel = known.get(drafted.kernel_id)
        base = known.get(drafted.parents[0]) if drafted.parents else None
        if kernel is None or base is None or not _is_predicted(drafted):
            continue
        found.append(_predicted(drafted, kernel, base))
    return found


def _is_predicted(drafted: Drafted) -> bool:
    return drafted.experiment is not None and drafted.origin != "mutation"


def _predicted(drafted: Drafted, kernel: Evaluation, base: Evaluation) -> Predicted:
    assert drafted.experiment is not None
    low, high = drafted.experiment.performance
    mine, theirs = gains_over_seed(kernel), gains_over_seed(base)
    shared = {label: mine[label] - theirs[label] for label in mine if label in theirs}
    return Predicted(
        base=over_shapes(theirs, base.weights),
        gain=math.log(max(1.0, 1 + (low + high) / 200)),
        measured=over_shapes(shared, kernel.weights),
    )


def _percent(gain: float) -> float:
    return 100 * math.expm1(gain)
