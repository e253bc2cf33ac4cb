"""Measured: what a probe's case took and left in its buffers, with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

REPEATS = 9
"""Of each case, in turns. The second and the eighth of nine hold the median with 96%."""

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A median, and two ends that hold it with 96%; of fewer than nine values, their extremes."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Interval":
        ordered = sorted(values)
        cut = 1 if len(ordered) >= REPEATS else 0
        return cls(median=median(ordered), low=ordered[cut], high=ordered[-1 - cut])

    def scaled(self, factor: float) -> "Interval":
        """factor: above 0."""
        return Interval(median=self.median * factor, low=self.low * factor, high=self.high * factor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One case. us: of a run, less its baseline's; repeats: how many it is from.

    counted: operations, or bytes, of a run; 0 where the probe counts neither. shown: the first
    elements of buffers, after one run.
    """

    values: Mapping[str, int]
    us: Interval
    counted: int
    repeats: int
    shown: Mapping[str, Array]

    @property
    def each_ns(self) -> float:
        """Of one operation, where the probe counts them; else of a run."""
        return self.us.median * 1e3 / max(1, self.counted)

    @property
    def bytes_per_s(self) -> float:
        """Where the probe counts bytes."""
        return self.counted / max(self.us.median, 1e-6) * 1e6
