"""Intervals of few situations: Wilson's for shares, a bootstrap for means, signs for pairs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import Any, Literal

import numpy as np

from engine.compare.statistics import mean_interval

Scale = Literal["share", "mean", "ratio"]
"""Of 0 to 1; a number; a logarithm that is shown as how many times."""

LEVEL = 0.05
MOST_SIGNS = 16
"""Pairs of which all 2^n signs are counted; of more, DRAWN are drawn."""
DRAWN = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A mean over n situations, each counted once, with its 95% interval; of logarithms as how many
    times. None: no interval, as there is one situation, or all say the very same number."""

    mean: float
    low: float | None
    high: float | None
    n: int

    @classmethod
    def of(cls, values: Sequence[float], scale: Scale, least: float = -math.inf) -> "Figure | None":
        """values: one a situation, none below `least`; None of none."""
        if not values:
            return None
        mean = fmean(values)
        ends = wilson(mean, len(values)) if scale == "share" else _bootstrapped(values)
        low, high = (max(ends[0], least), ends[1]) if ends else (None, None)
        if scale != "ratio":
            return cls(mean=mean, low=low, high=high, n=len(values))
        return cls(
            mean=math.exp(mean),
            low=None if low is None else math.exp(low),
            high=None if high is None else math.exp(high),
            n=len(values),
        )

    def as_json(self) -> dict[str, float | int | None]:
        ends = {"low": self.low, "high": self.high}
        rounded = {k: None if v is None else _rounded(v) for k, v in ends.items()}
        return {"mean": _rounded(self.mean), **rounded, "n": self.n}


def wilson(share: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval (Journal of the American Statistical Association 22, 1927).

    share may be a mean of shares: repeats of one situation count as one observation, whose
    variance is at most that of a yes or no.
    """
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def _bootstrapped(values: Sequence[float]) -> tuple[float, float] | None:
    if max(values) - min(values) < 1e-12:
        return None
    return mean_interval([(1.0, np.array(values, dtype=np.float64))])


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Of pairs: what the second has more than the first, on average; shares and means as they are,
    ratios as how many times. p: how often signs dealt anew give as much."""

    figure: Figure
    p: float
    equal: float  # what the figure is where nothing differs

    @property
    def shown(self) -> bool:
        """Whether the interval leaves out "equal", and chance seldom gives as much."""
        low, high = self.figure.low, self.figure.high
        if low is None or high is None:  # all pairs say the same
            low = high = self.figure.mean
        return self.p <= LEVEL and not low <= self.equal <= high

    @classmethod
    def of(cls, first: Sequence[float], second: Sequence[float], scale: Scale) -> "Difference":
        """Of at least one pair."""
        values = [b - a for a, b in zip(first, second, strict=True)]
        figure = Figure.of(values, "ratio" if scale == "ratio" else "mean")
        assert figure is not None
        return cls(figure=figure, p=sign_p(values), equal=1.0 if scale == "ratio" else 0.0)

    def as_json(self) -> dict[str, Any]:
        return {**self.figure.as_json(), "p": round(self.p, 4), "shown": self.shown}


def sign_p(values: Sequence[float]) -> float:
    """How often the mean is as far from 0 where each difference has either sign; two-sided.

    (Fisher's randomisation test of pairs.) Five pairs can't show anything at 5%.
    """
    found = np.array(values, dtype=np.float64)
    n = len(found)
    if n <= MOST_SIGNS:
        bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    else:
        bits = np.random.default_rng(0).integers(0, 2, size=(DRAWN, n))
        bits[0] = 0  # what was seen is one of them
    means = np.abs(((2 * bits - 1) * found).mean(axis=1))
    enough = abs(float(found.mean())) * (1 - 1e-9) - 1e-12  # rounding parts none that are alike
    return float((means >= enough).mean())


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
