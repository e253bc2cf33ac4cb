"""Evidence: paired gains of several kernels as one number, with its interval over them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Self

from evaluators.measuring.intervals import Ratio, t_quantile

KNOWN_DF = 4.0
"""What is known beforehand of the error of one paired gain counts as so many degrees of freedom;
evaluators.measuring.gain has the same for an interval of one pair."""

BECOMES = 0.99
"""A rule is made where this interval leaves out no gain; it falls where the 95% one no longer
does: so one that is made by chance does not come and go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One paired gain. error: the standard error of its ln."""

    kernel_id: str
    base_id: str
    ln_ratio: float
    error: float

    @classmethod
    def of(cls, kernel_id: str, base_id: str, ratio: Ratio) -> Self:
        """ratio: as gain() gives it, with a 95% interval."""
        error = math.log(ratio[2] / ratio[1]) / 2 / t_quantile(0.975, KNOWN_DF)
        return cls(kernel_id=kernel_id, base_id=base_id, ln_ratio=math.log(ratio[0]), error=error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """ln_ratio: the mean over kernels; error: its standard error, with df degrees of freedom."""

    ln_ratio: float
    error: float
    df: float

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> Self:
        """pairs: one or more.

        Kernels differ by more than their races show. The variance between them is the known one
        of a race and the measured one, weighted by their degrees of freedom (as by a scaled
        inverse chi-squared prior; Gelman et al., Bayesian Data Analysis, 2013, section 2.6), and
        kernels of one Base share its error, which their variance does not show: they make the
        mean no surer than one of them does.
        """
        mean = fmean(one.ln_ratio for one in pairs)
        known = fmean(one.error**2 for one in pairs)
        measured = math.fsum((one.ln_ratio - mean) ** 2 for one in pairs)
        df = KNOWN_DF + len(pairs) - 1
        variance = (KNOWN_DF * known + measured) / df
        bases = len({one.base_id for one in pairs})
        if bases < len(pairs):
            variance = max(variance, known)
        return cls(ln_ratio=mean, error=math.sqrt(variance / bases), df=df)

    @classmethod
    def of_ratio(cls, ratio: Ratio, kernels: int) -> Self:
        """Of a rule that was written down. kernels: how many its number is of."""
        df = KNOWN_DF + max(1, kernels) - 1
        error = math.log(ratio[2] / ratio[1]) / 2 / t_quantile(0.975, df)
        return cls(ln_ratio=math.log(ratio[0]), error=error, df=df)

    @property
    def ratio(self) -> Ratio:
        """Estimate, and a 95% interval."""
        width = self._width(0.95)
        return (
            math.exp(self.ln_ratio),
            math.exp(self.ln_ratio - width),
            math.exp(self.ln_ratio + width),
        )

    @property
    def standing(self) -> float:
        """The probability that the sign is right."""
        from scipy.special import stdtr  # takes a third of a second, which few processes need

        if not self.error:
            return 1.0
        return float(stdtr(self.df, abs(self.ln_ratio) / self.error))

    def shows(self, confidence: float = 0.95) -> bool:
        """Whether the interval leaves out no gain."""
        return abs(self.ln_ratio) > self._width(confidence)

    def _width(self, confidence: float) -> float:
        return self.error * t_quantile(0.5 + confidence / 2, self.df)


def united(parts: Sequence[Evidence]) -> Evidence:
    """Evidence of several campaigns as one: the mean weighted by precision.

    Where they disagree by more than their errors allow, the error is larger by the Birge ratio
    (Birge, Physical Review 40, 1932).
    """
    if len(parts) == 1:
        return parts[0]
    weights = [1 / max(one.error, 1e-9) ** 2 for one in parts]
    total = math.fsum(weights)
    mean = math.fsum(w * one.ln_ratio for w, one in zip(weights, parts, strict=True)) / total
    chi2 = math.fsum(w * (one.ln_ratio - mean) ** 2 for w, one in zip(weights, parts, strict=True))
    birge = math.sqrt(chi2 / (len(parts) - 1))
    return Evidence(
        ln_ratio=mean,
        error=max(1.0, birge) / math.sqrt(total),
        df=math.fsum(one.df for one in parts),
    )
