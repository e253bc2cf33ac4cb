"""Two configurations compared over campaigns: an interval, a permutation test, how many would do.

The unit is a campaign. Values are logarithms (of speedups, or areas under them), one a campaign;
a stratum holds those of one task, and the effect is the mean over strata of the difference of
means.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np

from evaluators.measuring.intervals import t_quantile

Values = np.ndarray[Any, np.dtype[np.float64]]

RESAMPLES = 10_000
LEVEL, POWER = 0.05, 0.8

MOST_LABELLINGS = 20_000
"""Beyond, labels are drawn at random."""

DRAWN = 20_000

MOST_CAMPAIGNS = 200
"""Of each; who needs more looks for a difference that hardly matters."""

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """One task's campaigns of two configurations, one value or more each."""

    first: Values
    second: Values

    @property
    def difference(self) -> float:
        return float(self.second.mean() - self.first.mean())


def difference(strata: Sequence[Stratum]) -> float:
    """How far the second is above the first."""
    return float(np.mean([one.difference for one in strata]))


def interval(strata: Sequence[Stratum], confidence: float = 0.95) -> tuple[float, float] | None:
    """Of the difference; None where a single campaign stands for a configuration.

    The wider of two bootstraps: each configuration's values drawn from its own, and, as two or
    three values say little of how campaigns spread, from both configurations' deviations.
    """
    centre, groups = difference(strata), []
    for one in strata:
        groups += [(-1 / len(strata), one.first), (1 / len(strata), one.second)]
    if min(len(values) for _, values in groups) < 2:
        return None
    own = [(weight, _deviations(values), len(values)) for weight, values in groups]
    pooled = [
        (weight, np.concatenate([first[1], second[1]]), n)
        for first, second in zip(own[::2], own[1::2], strict=True)
        for weight, _, n in (first, second)
    ]
    upper = 0.5 + confidence / 2
    each = _ends(own, _welch(groups), upper)
    both = _ends(pooled, sum(len(values) - 1 for _, values in groups), upper)
    return centre + min(each[0], both[0]), centre + max(each[1], both[1])


def mean_interval(
    groups: Sequence[tuple[float, Values]], confidence: float = 0.95
) -> tuple[float, float] | None:
    """Of a weighted sum of means over independent groups; None where one holds a single value."""
    if min(len(values) for _, values in groups) < 2:
        return None
    centre = sum(weight * float(values.mean()) for weight, values in groups)
    own = [(weight, _deviations(values), len(values)) for weight, values in groups]
    low, high = _ends(own, _welch(groups), 0.5 + confidence / 2)
    return centre + low, centre + high


def _deviations(values: Values) -> Values:
    """From their mean, as wide as those of new values would be."""
    n = len(values)
    found: Values = (values - values.mean()) * math.sqrt(n / (n - 1))
    return found


def _ends(
    groups: Sequence[tuple[float, Values, int]], df: float, upper: float
) -> tuple[float, float]:
    """Of the deviation of a weighted sum of means: (weight, deviations to draw from, how many).

    A percentile bootstrap, made honest for few: wider by t / z (Hesterberg, What Teachers Should
    Know About the Bootstrap, 2015, section 4.2), which _deviations() is for too. The resampling is
    seeded: the same values give the same interval.
    """
    rng = np.random.default_rng(0)
    sums = np.zeros(RESAMPLES)
    for weight, deviations, n in groups:
        drawn = rng.integers(len(deviations), size=(RESAMPLES, n))
        sums += weight * deviations[drawn].mean(axis=1)
    sums *= t_quantile(upper, df) / _NORMAL.inv_cdf(upper)
    ends: Values = np.quantile(sums, [1 - upper, upper])
    return float(ends[0]), float(ends[1])


def _welch(groups: Sequence[tuple[float, Values]]) -> float:
    """Degrees of freedom of the sum (Welch 1947, Satterthwaite 1946)."""
    parts = [
        (weight**2 * float(values.var(ddof=1)) / len(values), len(values) - 1)
        for weight, values in groups
    ]
    variance = sum(part for part, _ in parts)
    return variance**2 / sum(part**2 / df for part, df in parts) if variance > 0 else 1.0


def permutation_p(strata: Sequence[Stratum]) -> float:
    """How often labels dealt anew within each task differ by as much; two-sided.

    Exact where all labellings can be counted, else of DRAWN random ones and the one that is.
    """
    seen = difference(strata)
    enough = abs(seen) * (1 - 1e-9) - 1e-12  # rounding parts none that are alike
    if _labellings(strata) <= MOST_LABELLINGS:
        sums = np.zeros(1)
        for one in strata:
            sums = np.add.outer(sums, _all_differences(one)).ravel()
        return float((np.abs(sums / len(strata)) >= enough).mean())
    rng = np.random.default_rng(0)
    dealt = sum(_dealt_differences(one, rng) for one in strata) / len(strata)
    return float((1 + (np.abs(dealt) >= enough).sum()) / (1 + DRAWN))


def least_p(counts: Sequence[tuple[int, int]]) -> float:
    """The least that permutation_p() can be, for so many campaigns of each by task."""
    ways = math.prod(math.comb(first + second, first) for first, second in counts)
    mirrored = all(first == second for first, second in counts)
    return (2 if mirrored else 1) / ways


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted for asking several questions at once (Holm 1979)."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = list(p_values)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted


def deviation(groups: Sequence[Values]) -> float | None:
    """The standard deviation between campaigns of one configuration and task, pooled; None where
    there are no two of them."""
    df = sum(len(values) - 1 for values in groups)
    if df == 0:
        return None
    return math.sqrt(sum(float(((values - values.mean()) ** 2).sum()) for values in groups) / df)


def least_campaigns(tasks: int = 1, level: float = LEVEL) -> int:
    """Of each configuration and task, for the permutation test to show anything."""
    return next(n for n in range(2, 100) if least_p([(n, n)] * tasks) <= level)


def campaigns_needed(
    effect: float, spread: float, tasks: int = 1, level: float = LEVEL
) -> int | None:
    """Of each configuration and task, to show so large a difference four times in five.

    By the power of the t test; None for more than MOST_CAMPAIGNS. spread: see deviation().
    """
    return next(
        (
            n
            for n in range(least_campaigns(tasks, level), MOST_CAMPAIGNS + 1)
            if power(effect, spread, n, tasks, level) >= POWER
        ),
        None,
    )


def power(effect: float, spread: float, n: int, tasks: int = 1, level: float = LEVEL) -> float:
    """Of a two-sided t test with n campaigns of each in every task."""
    from scipy.special import nctdtr  # takes a third of a second

    if spread == 0:
        return 1.0 if effect else 0.0
    df = tasks * (2 * n - 2)
    shift = abs(effect) / (spread * math.sqrt(2 / (n * tasks)))
    bound = t_quantile(1 - level / 2, df)
    return float(1 - nctdtr(df, shift, bound) + nctdtr(df, shift, -bound))


def _labellings(strata: Sequence[Stratum]) -> int:
    return math.prod(math.comb(len(one.first) + len(one.second), len(one.first)) for one in strata)


def _all_differences(one: Stratum) -> Values:
    values, n = np.concatenate([one.first, one.second]), len(one.first)
    chosen = np.array(list(combinations(range(len(values)), n)))
    first = values[chosen].sum(axis=1)
    return _differences(values, first, n)


def _dealt_differences(one: Stratum, rng: np.random.Generator) -> Values:
    values, n = np.concatenate([one.first, one.second]), len(one.first)
    order = rng.random((DRAWN, len(values))).argsort(axis=1)
    return _differences(values, values[order[:, :n]].sum(axis=1), n)


def _differences(values: Values, first: Values, n: int) -> Values:
    """Of the second's mean and the first's. first: sums of n of the values."""
    result: Values = (values.sum() - first) / (len(values) - n) - first / n
    return result
