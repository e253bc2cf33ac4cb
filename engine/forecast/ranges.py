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
        return cls.around(cls.about(value, margin) for value in values)

    @classmethod
    def sum(cls, parts: Iterable[Self]) -> Self:
        """Of parts that err together."""
        every = list(parts)
        return cls(
            likely=sum(one.likely for one in every),
            low=sum(one.low for one in every),
            high=sum(one.high for one in every),
        )

    @classmethod
    def around(cls, parts: Iterable[Self]) -> Self:
        """What holds them all, about the mean of what is likely."""
        every = list(parts)
        return cls(
            likely=sum(one.likely for one in every) / len(every),
            low=min(one.low for one in every),
            high=max(one.high for one in every),
        )

    def times(self, other: float) -> "Range":
        return Range(likely=other * self.likely, low=other * self.low, high=other * self.high)

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


def only(value: float) -> Range:
    """A figure that is known."""
    return Range(likely=value, low=value, high=value)


def _joint(one: float, other: float, sign: int) -> float:
    if not one or not other:
        return 0.0
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
