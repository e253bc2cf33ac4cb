"""Intervals of paired, interleaved timings: the speedup, who wins, who is hopeless."""

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

Blocks = Mapping[str, Sequence[float]]
"""By workload label, paired ln(reference time / kernel time), one a block."""

RESAMPLES = 2000
_NORMAL = NormalDist()


def _t_quantile(p: float, df: float) -> float:
    """Student's t quantile; df need not be whole."""
    from scipy.special import stdtrit  # takes a third of a second, which few processes need

    return float(stdtrit(df, p))


class _Sum:
    """A weighted sum of independent means, each over the blocks of one shape of one link."""

    def __init__(self, links: Sequence[Blocks]) -> None:
        self.groups: list[tuple[float, np.ndarray[Any, np.dtype[np.float64]]]] = []
        for link in links:
            for label, values in link.items():
                if len(values) < 2:
                    raise ValueError(f"an interval needs two blocks or more on {label}")
                self.groups.append((1 / len(link), np.asarray(values, dtype=np.float64)))

    @property
    def estimate(self) -> float:
        return float(sum(weight * values.mean() for weight, values in self.groups))

    def spread(self) -> tuple[float, float]:
        """The standard error and its degrees of freedom (Welch 1947, Satterthwaite 1946)."""
        parts = [
            (weight**2 * float(values.var(ddof=1)) / len(values), len(values) - 1)
            for weight, values in self.groups
        ]
        variance = sum(part for part, _ in parts)
        if variance == 0:
            return 0.0, 1.0
        return math.sqrt(variance), variance**2 / sum(part**2 / df for part, df in parts)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Percentile bootstrap over the blocks of every group, made honest for few blocks.

        Deviations are widened by sqrt(n / (n - 1)) for each group and by t / z for all
        (Hesterberg, What Teachers Should Know About the Bootstrap, 2015, section 4.2).
        The resampling is seeded: the same blocks give the same interval.
        """
        rng = np.random.default_rng(0)
        deviations = np.zeros(RESAMPLES)
        for weight, values in self.groups:
            n = len(values)
            picks = rng.integers(n, size=(RESAMPLES, n))
            means = values[picks].mean(axis=1) - values.mean()
            deviations += weight * math.sqrt(n / (n - 1)) * means
        upper = 0.5 + confidence / 2
        deviations *= _t_quantile(upper, self.spread()[1]) / _NORMAL.inv_cdf(upper)
        low, high = np.quantile(deviations, [1 - upper, upper])
        return self.estimate + float(low), self.estimate + float(high)


def speedup(
    blocks: Blocks, links: Sequence[Blocks] = (), confidence: float = 0.95
) -> tuple[float, float, float]:
    """Estimate, low, high of the ratio to the naive seed: the product over all links of the
    geometric mean over shapes. No blocks and no links: the seed itself, exactly 1.
    """
    total = _Sum([link for link in (*links, blocks) if link])
    if not total.groups:
        return 1.0, 1.0, 1.0
    low, high = total.interval(confidence)
    return math.exp(total.estimate), math.exp(low), math.exp(high)


def wins(blocks: Blocks, confidence: float = 0.99) -> bool:
    """Whether a kernel is shown to be faster than its anchor: the interval of the geometric mean
    over shapes lies above 1.
    """
    return _Sum([blocks]).interval(confidence)[0] > 0


def half_width(blocks: Blocks, confidence: float = 0.95) -> float:
    """Half of the interval of the mean ln ratio over shapes, without resampling."""
    error, df = _Sum([blocks]).spread()
    return error * _t_quantile(0.5 + confidence / 2, df)


def tight(blocks: Blocks, *, width: float, loosest: float) -> bool:
    """Whether more blocks would tell little: half of the 95% interval is within width, or,
    for a kernel far from its anchor, within a tenth of the distance, up to loosest.
    """
    mean = float(np.mean([np.mean(values) for values in blocks.values()]))
    return half_width(blocks) <= min(loosest, max(width, abs(mean) / 10))


def shown_slower_by(values: Sequence[float], best: float, confidence: float = 0.99) -> float:
    """The factor by which a kernel is at least slower than the shape's best, one-sided.

    values: blocks of one shape, two or more; best: ln(anchor time / best time) there.
    """
    array = np.asarray(values, dtype=np.float64)
    error = float(array.std(ddof=1)) / math.sqrt(len(array))
    return math.exp(best - (float(array.mean()) + _t_quantile(confidence, len(array) - 1) * error))
