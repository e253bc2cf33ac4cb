"""Intervals of paired, interleaved timings: the speedup, who wins, who is hopeless."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import Any

import numpy as np

from evaluators.weights import Weights, over_shapes, shares

Blocks = Mapping[str, Sequence[float]]
"""By workload label, paired ln(reference time / kernel time), one a block."""

RESAMPLES = 2000

MEMORY_PAIRS, ALIKE = 20, 3
REMEMBERS, ON_AVERAGE = 1.15, 1.25
"""What new data may cost more than known data in a pair of calls, and over all of them. 240 pairs
of 12 right kernels (sgemm, two cores, six busy processes) lay between 0.66 and 1.62, the median at
1.00, 15 beyond REMEMBERS; on the worst kernel one quarter."""
_NORMAL = NormalDist()


def t_quantile(p: float, df: float) -> float:
    """Student's t quantile; df need not be whole."""
    from scipy.special import stdtrit  # takes a third of a second, which few processes need

    return float(stdtrit(df, p))


def load_statistics() -> None:
    """Beforehand what intervals load when they need it, while nobody waits."""
    t_quantile(0.5, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How ln ratios vary beyond the blocks of one sitting, as far as it is known beforehand.

    sitting: standard deviation between sittings (new processes, new memory) of kernels that are
    about as fast as each other. distance: by how much it grows for every unit of |ln ratio|, as
    far-apart kernels wait for different parts of a machine. run: the standard deviation between
    whole measurements, minutes or hours apart, as a share of that between sittings; no number of
    sittings in one of them averages it out. weight: the number of sittings that this knowledge
    counts as, beside those that are measured.
    """

    sitting: float
    distance: float
    run: float
    weight: float = 2.0

    def of_sittings(self, ln_ratio: float) -> float:
        return self.sitting + self.distance * abs(ln_ratio)


class Sittings:
    """Paired blocks of two kernels from several sittings, and what they amount to.

    Blocks are nested in sittings, and sittings in runs: a random effect at each level (Kalibera
    and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013).
    """

    def __init__(self, sittings: Sequence[Blocks], spread: Spread, weights: Weights) -> None:
        """sittings: one or more. Raises ValueError where a shape has fewer than two blocks."""
        self._sums = [_Sum([one], weights) for one in sittings]
        self._spread = spread
        self._means = np.asarray([one.estimate for one in self._sums])

    @property
    def count(self) -> int:
        return len(self._sums)

    @property
    def ln_ratio(self) -> float:
        """Mean over sittings of the weighted mean over shapes."""
        return float(self._means.mean())

    def deviation(self) -> tuple[float, float]:
        """The standard deviation between sittings, and its degrees of freedom.

        The variance between sittings is the known one and the measured one, weighted by their
        degrees of freedom (as by a scaled inverse chi-squared prior; Gelman et al., Bayesian
        Data Analysis, 2013, section 2.6).
        """
        known, weight = self._spread.of_sittings(self.ln_ratio), self._spread.weight
        measured = float(((self._means - self.ln_ratio) ** 2).sum())
        df = weight + self.count - 1
        return math.sqrt((weight * known**2 + measured) / df), df

    def error(self) -> float:
        """The standard error of ln_ratio within this run."""
        return self.deviation()[0] / math.sqrt(self.count)

    def interval(self, confidence: float, *, later: bool = False) -> tuple[float, float]:
        """Of the ln ratio. later: it shall also hold a further measurement, at another time.

        A hierarchical bootstrap (Davison and Hinkley, Bootstrap Methods and their Application,
        1997, section 3.8): sittings are drawn with replacement, then blocks in each. What so
        few sittings can't show, and the difference between runs, comes on top as normal noise;
        Student's t widens all (Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
        section 12.5). The resampling is seeded: the same blocks give the same interval.
        """
        rng = np.random.default_rng(0)
        within = np.stack([one.resampled(rng) for one in self._sums])
        rows = rng.integers(self.count, size=(RESAMPLES, self.count))
        columns = rng.integers(RESAMPLES, size=(RESAMPLES, self.count))
        deviations = within[rows, columns].mean(axis=1) - self.ln_ratio
        sitting, df = self.deviation()
        missing = max(0.0, self.error() ** 2 - float(deviations.var()))
        if later:
            missing += 2 * (self._spread.run * sitting) ** 2
        deviations += math.sqrt(missing) * rng.standard_normal(RESAMPLES)
        upper = 0.5 + confidence / 2
        deviations *= t_quantile(upper, df) / _NORMAL.inv_cdf(upper)
        low, high = np.quantile(deviations, [1 - upper, upper])
        return self.ln_ratio + float(low), self.ln_ratio + float(high)

    def ratio(self, confidence: float, *, later: bool = False) -> tuple[float, float, float]:
        """Estimate, low and high of how many times as fast the kernel is as the other."""
        low, high = self.interval(confidence, later=later)
        return math.exp(self.ln_ratio), math.exp(low), math.exp(high)

    def wins(self, confidence: float = 0.99) -> bool:
        """Whether the kernel is shown to be faster: the interval lies above no gain."""
        return self.interval(confidence)[0] > 0

    def means(self) -> dict[str, float]:
        """The mean ln ratio by workload label."""
        labels = self._sums[0].labels
        return {label: fmean(one.mean_on(label) for one in self._sums) for label in labels}


Ratio = tuple[float, float, float]
"""Estimate, low, high."""


def product(first: Ratio, second: Ratio) -> Ratio:
    """Of two independent ratios: the widths of their logarithms add in quadrature."""
    estimate = first[0] * second[0]
    below = math.hypot(*(math.log(one[0] / one[1]) for one in (first, second)))
    above = math.hypot(*(math.log(one[2] / one[0]) for one in (first, second)))
    return estimate, estimate * math.exp(-below), estimate * math.exp(above)


class _Sum:
    """A weighted sum of independent means, each over the blocks of one shape of one link."""

    def __init__(self, links: Sequence[Blocks], weights: Weights) -> None:
        self.groups: list[tuple[float, np.ndarray[Any, np.dtype[np.float64]]]] = []
        self.labels = [label for link in links for label in link]
        for link in links:
            for (label, values), share in zip(link.items(), shares([*link], weights), strict=True):
                if len(values) < 2:
                    raise ValueError(f"an interval needs two blocks or more on {label}")
                self.groups.append((share, np.asarray(values, dtype=np.float64)))

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
        deviations = self.resampled(np.random.default_rng(0)) - self.estimate
        upper = 0.5 + confidence / 2
        deviations *= t_quantile(upper, self.spread()[1]) / _NORMAL.inv_cdf(upper)
        low, high = np.quantile(deviations, [1 - upper, upper])
        return self.estimate + float(low), self.estimate + float(high)

    def resampled(self, rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.float64]]:
        """RESAMPLES estimates, each from blocks drawn with replacement in every group."""
        estimates = np.full(RESAMPLES, self.estimate)
        for weight, values in self.groups:
            n = len(values)
            picks = rng.integers(n, size=(RESAMPLES, n))
            means = values[picks].mean(axis=1) - values.mean()
            estimates += weight * math.sqrt(n / (n - 1)) * means
        return estimates

    def mean_on(self, label: str) -> float:
        return float(self.groups[self.labels.index(label)][1].mean())


def speedup(
    blocks: Blocks,
    links: Sequence[Blocks] = (),
    confidence: float = 0.95,
    *,
    weights: Weights,
) -> tuple[float, float, float]:
    """Estimate, low, high of the ratio to the naive seed: the product over all links of the
    weighted geometric mean over shapes. No blocks and no links: the seed itself, exactly 1.
    """
    total = _Sum([link for link in (*links, blocks) if link], weights)
    if not total.groups:
        return 1.0, 1.0, 1.0
    low, high = total.interval(confidence)
    return math.exp(total.estimate), math.exp(low), math.exp(high)


def gains(blocks: Blocks, links: Sequence[Blocks], labels: Collection[str]) -> dict[str, float]:
    """ln(naive seed's time / kernel's time) by label: the mean of every link's blocks, and of the
    kernel's own."""
    parts = [link for link in (*links, blocks) if link]
    return {label: math.fsum(fmean(link[label]) for link in parts) for label in labels}


def wins(blocks: Blocks, confidence: float = 0.99, *, weights: Weights) -> bool:
    """Whether a kernel is shown to be faster than its anchor: the interval of the weighted
    geometric mean over shapes lies above 1.
    """
    return _Sum([blocks], weights).interval(confidence)[0] > 0


def half_width(blocks: Blocks, confidence: float = 0.95, *, weights: Weights) -> float:
    """Half of the interval of the weighted mean ln ratio over shapes, without resampling."""
    error, df = _Sum([blocks], weights).spread()
    return error * t_quantile(0.5 + confidence / 2, df)


def tight(blocks: Blocks, *, width: float, loosest: float, weights: Weights) -> bool:
    """Whether more blocks would tell little: half of the 95% interval is within width, or,
    for a kernel far from its anchor, within a tenth of the distance, up to loosest.
    """
    mean = over_shapes({label: fmean(values) for label, values in blocks.items()}, weights)
    return half_width(blocks, weights=weights) <= min(loosest, max(width, abs(mean) / 10))


def shown_behind(
    blocks: Blocks,
    best: Mapping[str, float],
    by: float,
    confidence: float = 0.99,
    *,
    weights: Weights,
) -> bool:
    """Whether a kernel is shown to be slower than the best by so much (ln), on average over shapes;
    one-sided. best: ln(anchor time / best time) by label.
    """
    leads = {label: fmean(values) - best[label] for label, values in blocks.items()}
    width = half_width(blocks, 2 * confidence - 1, weights=weights)
    return over_shapes(leads, weights) + width < -by


def shown_slower_by(values: Sequence[float], best: float, confidence: float = 0.99) -> float:
    """The factor by which a kernel is at least slower than the shape's best, one-sided.

    values: blocks of one shape, two or more; best: ln(anchor time / best time) there.
    """
    array = np.asarray(values, dtype=np.float64)
    error = float(array.std(ddof=1)) / math.sqrt(len(array))
    return math.exp(best - (float(array.mean()) + t_quantile(confidence, len(array) - 1) * error))


def no_memory(pairs: Sequence[tuple[float, float]]) -> bool:
    """Whether times on known and on new data clear a kernel: some pairs are alike, and so are
    the sums without the fifth of the pairs that speaks most against it."""
    alike = sum(new <= REMEMBERS * known for known, new in pairs)
    usual = sorted(pairs, key=lambda pair: pair[1] / pair[0])[: len(pairs) - len(pairs) // 5]
    known_us, new_us = (sum(times) for times in zip(*usual, strict=True))
    return alike >= ALIKE and new_us <= ON_AVERAGE * known_us
