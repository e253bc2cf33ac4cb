"""A figure with the range that it may have, and how both are written for people."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """low <= likely <= high."""

    likely: float
    low: float
    high: float

    @classmethod
    def about(cls, likely: float, factor: float) -> Self:
        """Up to so many times as much, or as little."""
        return cls(likely=likely, low=likely / factor, high=likely * factor)

    @classmethod
    def of(cls, values: Iterable[float], margin: float) -> Self:
        """The mean of what was seen, and the extremes with a factor beyond."""
        seen = list(values)
        likely = sum(seen) / len(seen)
        return cls(likely=likely, low=min(seen) / margin, high=max(seen) * margin)

    def times(self, other: float) -> "Range":
        return Range(likely=other * self.likely, low=other * self.low, high=other * self.high)

    def under(self, amount: float) -> "Range":
        """amount / self: more of the one is less of the other. self: above 0."""
        return Range(likely=amount / self.likely, low=amount / self.high, high=amount / self.low)

    def and_by(self, other: "Range") -> "Range":
        """The product of two that err independently of each other."""
        likely = self.likely * other.likely
        if not likely:
            return Range(likely=0.0, low=0.0, high=self.high * other.high)
        return Range(
            likely=likely,
            low=likely * _joint(self.low / self.likely, other.low / other.likely, -1),
            high=likely * _joint(self.high / self.likely, other.high / other.likely, 1),
        )

    @property
    def told(self) -> tuple[float, float, float]:
        """As the store keeps it."""
        return self.likely, self.low, self.high

    def text(self, unit: str) -> str:
        """ "900 calls (650 to 1,300)"."""
        return f"{amount(self.likely)} {unit} ({amount(self.low)} to {amount(self.high)})"


def _joint(one: float, other: float, sign: int) -> float:
    return math.exp(sign * math.hypot(math.log(one), math.log(other)))


def amount(value: float) -> str:
    """To two digits: 0.38, 38, 1,300, 12 M."""
    if value <= 0:
        return "0"
    rounded = float(f"{value:.2g}")
    if rounded >= 1e6:
        return f"{rounded / 1e6:,.4g} M"
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def exact(value: float) -> str:
    """A budget as it was set: 1,234, 0.5, 12.5 M."""
    if value >= 1e6:
        return f"{value / 1e6:,.12g} M"
    return f"{value:,.12g}"
