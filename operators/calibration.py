"""How a designer's predictions come out, and the choice of experiments that takes it in."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from operators.individual import Experiment

PRIOR = 4.0
"""Experiments that a designer is believed to have made beforehand, all as it predicted."""
TYPICAL = 0.15
"""ln of the gain that each of them predicted."""
SCATTER = 0.2
"""How far measured gains lay from these predictions: a standard deviation of ln."""
STEEPEST = 3.0
LEAST_PERCENT = -95.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Of one experiment. low, high: percent of the Base's speed, as predicted; gain: measured, ln
    of how many times as fast as the Base, None: its kernel failed or was stopped early."""

    low: float
    high: float
    gain: float | None

    @property
    def held(self) -> bool:
        return self.gain is not None and self.low <= 100 * math.expm1(self.gain) <= self.high

    @property
    def less(self) -> bool:
        return self.gain is not None and 100 * math.expm1(self.gain) < self.low


def middle(low: float, high: float) -> float:
    """Of a range in percent, as ln of a gain."""
    return sum(math.log1p(max(one, LEAST_PERCENT) / 100) for one in (low, high)) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """made: experiments that ended; measured: of these, with a gain; held, less: of those, how many
    brought what was predicted, and less. slope: measured over predicted ln gain; scatter: the
    standard deviation of measured ln gains about slope times the prediction."""

    made: int = 0
    measured: int = 0
    held: int = 0
    less: int = 0
    slope: float = 1.0
    scatter: float = SCATTER

    @classmethod
    def of(cls, predictions: Iterable[Prediction]) -> Self:
        """slope: least squares through the origin, with PRIOR experiments at 1 added (a ridge);
        scatter: with as many at SCATTER."""
        made = list(predictions)
        pairs = [(middle(one.low, one.high), one.gain) for one in made if one.gain is not None]
        prior = PRIOR * TYPICAL**2
        slope = (sum(m * gain for m, gain in pairs) + prior) / (
            sum(m * m for m, _ in pairs) + prior
        )
        slope = min(STEEPEST, max(0.0, slope))
        off = sum((gain - slope * m) ** 2 for m, gain in pairs)
        return cls(
            made=len(made),
            measured=len(pairs),
            held=sum(one.held for one in made),
            less=sum(one.less for one in made),
            slope=slope,
            scatter=math.sqrt((off + PRIOR * SCATTER**2) / (len(pairs) + PRIOR)),
        )

    @property
    def told(self) -> str:
        """To the designer; "" where nothing is known."""
        if not self.measured:
            return ""
        failed = self.made - self.measured
        lost = (
            f"; {failed} more had no time, as the kernel failed or was too slow" if failed else ""
        )
        return (
            f"Of your {self.measured} predictions that were measured {self.held} held, {self.less} "
            f"brought less and {self.measured - self.held - self.less} more{lost}. A measured gain "
            f"was {self.slope:.2g} times the middle of its range: predict by that."
        )

    def score(self, experiment: Experiment) -> float:
        """The expected ln gain, and a bonus for what is new: slope * middle of the range +
        innovation / 100 * scatter. What was never tried may turn out as far off as predictions
        usually do: an upper confidence bound, in full where innovation is 100."""
        expected = self.slope * middle(*experiment.performance)
        return expected + experiment.innovation / 100 * self.scatter


UNTRIED = Calibration()


def choose_calibrated(
    experiments: Sequence[Experiment], calibration: Calibration, count: int = 3
) -> list[Experiment]:
    """Those of the highest score, the highest first. Ties fall to the earlier experiment."""
    return sorted(experiments, key=calibration.score, reverse=True)[:count]
