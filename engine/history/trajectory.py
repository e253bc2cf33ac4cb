"""The best so far over a search, against whatever was spent on it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from engine.store.scoreboard import Best

Axis = Literal["evaluations", "device_s", "dollars"]
"""What campaigns are compared at equal amounts of: verdicts on kernels (those of idle time and
the naive seed among them), seconds of all devices, dollars for models."""

AXES: tuple[Axis, ...] = get_args(Axis)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What had been spent when the best became what it is. best: None before the naive seed.

    seq, at: of the event, in seconds since 1970. device_s: of all devices, contests and profiles
    among it; searched_s: of wall time; dollars, tokens: of models' calls, those settled.
    """

    seq: int
    at: float
    best: Best | None
    evaluations: int
    device_s: float
    searched_s: float
    dollars: float
    tokens: int

    def spent(self, axis: Axis) -> float:
        return float(getattr(self, axis))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """moments: where the best, or what was known of it, changed in the search, in order;
    searched: where the search stands, or ended with the contests that were left; end: the last of
    all, with the final measurement where there was one."""

    moments: tuple[Moment, ...]
    searched: Moment
    end: Moment

    def steps(self, axis: Axis) -> Iterator[tuple[float, float]]:
        """(spent, best speedup over the naive seed from then on), in order.

        A kernel that was measured at the end counts from its first moment as it was measured
        then: that is the better measurement of the same kernel.
        """
        end = self.end.best
        for moment in self.moments:
            best = moment.best
            if best is None:
                continue
            final = end is not None and end.final and end.kernel_id == best.kernel_id
            yield moment.spent(axis), (end.speedup if end and final else best.speedup)

    def best_at(self, axis: Axis, amount: float) -> float:
        """The best speedup when so much was spent; 1.0 before anything was found."""
        found = 1.0
        for spent, speedup in self.steps(axis):
            if spent > amount:
                break
            found = speedup
        return found

    def log_area(self, axis: Axis, amount: float) -> float:
        """Mean of ln(best speedup so far) over what was spent, from nothing to `amount`.

        The area under the curve of best so far, by its length; exp() of the difference of two
        says how many times as fast one search's best was, on average over the search.
        """
        if amount <= 0:
            return 0.0
        steps = [(spent, value) for spent, value in self.steps(axis) if spent < amount]
        corners = [(0.0, 1.0), *steps, (amount, 1.0)]
        return (
            sum((after - at) * math.log(value) for (at, value), (after, _) in pairwise(corners))
            / amount
        )
