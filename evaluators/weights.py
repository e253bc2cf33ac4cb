"""Weights: how much each shape counts in a score. Whatever is a figure over shapes is made here."""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Protocol

Weights = Mapping[str, float]
"""By workload label, positive. {}: all are equal, as in stores of before there were weights. A
label that is not among them counts as 1."""

EQUAL: Weights = {}


class Weighed(Protocol):
    """What has a weight; see tasks.arguments.Workload."""

    @property
    def label(self) -> str: ...
    @property
    def weight(self) -> float: ...


def weights_of(workloads: Iterable[Weighed]) -> dict[str, float]:
    """As a task states them; {} where it states none."""
    found = {one.label: one.weight for one in workloads}
    return found if any(weight != 1 for weight in found.values()) else {}


def over_shapes(values: Mapping[str, float], weights: Weights) -> float:
    """The weighted mean of ln ratios by label (their exp is the weighted geometric mean), or of
    anything else that is averaged over shapes; 0.0 of nothing."""
    if not values:
        return 0.0
    if not weights:
        return fmean(values.values())
    return fmean(values.values(), [weights.get(label, 1.0) for label in values])


def shares(labels: Sequence[str], weights: Weights) -> list[float]:
    """What each label counts, of 1 in all."""
    if not weights:
        return [1 / len(labels)] * len(labels)
    each = [weights.get(label, 1.0) for label in labels]
    return [one / math.fsum(each) for one in each]


def of_whole(
    times_us: Mapping[str, float], gains: Mapping[str, float], weights: Weights
) -> float | None:
    """How many times as fast all calls together are, where weights count calls; None where no
    weights are stated, or of a shape no time or no gain is known.

    gains: paired ln(time before / time now) by label. The time before is taken from them, as raw
    times of two moments differ by more than kernels do: sum(w t exp(gain)) / sum(w t).
    """
    if not weights or not times_us or not times_us.keys() <= gains.keys():
        return None
    now = {label: weights.get(label, 1.0) * time_us for label, time_us in times_us.items()}
    before = math.fsum(one * math.exp(gains[label]) for label, one in now.items())
    return before / math.fsum(now.values())


def mean_text(shapes: int, weights: Weights) -> str:
    """ "weighted geometric mean of 4 shapes"; "" for one shape."""
    if shapes < 2:
        return ""
    return f"{'weighted ' if weights else ''}geometric mean of {shapes} shapes"


def whole_text(whole: float) -> str:
    return f"the whole, weighted by calls: {whole:.2f}x"
