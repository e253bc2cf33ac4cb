"""Gains: how many times as fast one kernel is as another, from races held beside anchors."""

import math
from collections.abc import Mapping
from dataclasses import replace
from statistics import NormalDist, fmean

from evaluators.device import backend
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation
from evaluators.measuring.intervals import Ratio, Spread, t_quantile
from evaluators.measuring.sittings import CPU_SPREAD, GPU_SPREAD
from evaluators.weights import over_shapes, shares

_Z95 = NormalDist().inv_cdf(0.975)

CPU_RACE = replace(CPU_SPREAD, sitting=0.06)
"""A single race beside other work, and not a sitting: docs/measured/gain_signs_cpu.json. What it
says of a pair is off by 5% at the median, and by a quarter and more for one pair in eight."""


def gains_over_seed(evaluation: Evaluation) -> Mapping[str, float]:
    """ln(naive seed's time / kernel's time) by label, paired through the anchors; {}: no times.

    An evaluation of before these were kept has its one speedup on every shape.
    """
    if evaluation.gains or not evaluation.passed:
        return evaluation.gains
    return dict.fromkeys(evaluation.times_us, math.log(evaluation.speedup or 1.0))


def spread_on(device: DeviceInfo) -> Spread:
    """What is known beforehand of how single races of the search differ on a device."""
    return GPU_SPREAD if device.private_process else CPU_RACE


def race_spread(backend_name: str) -> Spread:
    """The same by a backend's name. Raises BackendMissing."""
    return GPU_SPREAD if backend(backend_name).private_process else CPU_RACE


def gain(
    kernel: Evaluation,
    other: Evaluation,
    spread: Spread,
    *,
    label: str | None = None,
    confidence: float = 0.95,
) -> Ratio | None:
    """Estimate, low, high of how many times as fast kernel is as other; None: not comparable. Where
    nothing was timed, of the other's cost over the kernel's.

    label: on this shape alone; None: the weighted geometric mean over the shapes that both were
    timed on.
    Times of different moments are never divided: both were timed in turns with an anchor, at
    best the same one, or one of them with the other. The interval is for two kernels, each of
    which may be off by what spread says (where it came to lie, say), besides what blocks show.
    """
    mine, theirs = gains_over_seed(kernel), gains_over_seed(other)
    labels = [one for one in mine if one in theirs and label in (None, one)]
    if not labels or kernel.kernel_id == other.kernel_id:
        return None
    ln_ratio = over_shapes({one: mine[one] - theirs[one] for one in labels}, kernel.weights)
    if not (kernel.timed and other.timed):  # costs are exact
        return math.exp(ln_ratio), math.exp(ln_ratio), math.exp(ln_ratio)
    if kernel.anchor_id == other.kernel_id:
        races = [_race(kernel, labels), (0.0, 0.0)]  # both kernels lie somewhere in memory
    elif other.anchor_id == kernel.kernel_id:
        races = [_race(other, labels), (0.0, 0.0)]
    elif kernel.anchor_id == other.anchor_id:
        races = [_race(kernel, labels), _race(other, labels)]
    else:
        races = [_way_to_seed(kernel), _way_to_seed(other)]
        links = abs(kernel.links - other.links) or 2
        races += [(ln_ratio, 0.0)] * links
    error = math.sqrt(sum(spread.of_sittings(mean) ** 2 + within for mean, within in races))
    # What is known of the spread is as sure as if two sittings more of each race had shown it.
    width = error * t_quantile(0.5 + confidence / 2, 2 * spread.weight)
    return math.exp(ln_ratio), math.exp(ln_ratio - width), math.exp(ln_ratio + width)


def _race(evaluation: Evaluation, labels: list[str]) -> tuple[float, float]:
    """Mean ln ratio to the anchor over the labels, and the variance of that mean."""
    groups = [evaluation.blocks.get(label, ()) for label in labels]
    if any(len(values) < 2 for values in groups):
        return _way_to_seed(evaluation)
    mean = within = 0.0
    for values, share in zip(groups, shares(labels, evaluation.weights), strict=True):
        middle = fmean(values)
        # Not statistics.variance, whose fractions take twenty times as long: prompts ask for many.
        squares = math.fsum((value - middle) ** 2 for value in values)
        mean += share * middle
        within += share**2 * squares / (len(values) - 1) / len(values)
    return mean, within


def _way_to_seed(evaluation: Evaluation) -> tuple[float, float]:
    """The same to the naive seed, through all links, from the stored interval."""
    mean = math.log(evaluation.speedup or 1.0)
    if evaluation.ci95 is None:
        return mean, 0.0
    low, high = evaluation.ci95
    return mean, (math.log(high / low) / (2 * _Z95)) ** 2
