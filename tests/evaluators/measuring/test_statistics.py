"""Intervals on synthetic noise: they cover, A/A pairs do not win, a true 2% is found."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from evaluators.measuring.intervals import half_width, shown_slower_by, speedup, tight, wins
from evaluators.weights import EQUAL

Rng = np.random.Generator
Noise = Callable[[Rng, int], np.ndarray]

NOISES: dict[str, Noise] = {
    "normal": lambda rng, n: rng.normal(0, 0.03, n),
    "heavy tails": lambda rng, n: 0.02 * rng.standard_t(3, n),
    "spikes": lambda rng, n: (
        rng.normal(0, 0.02, n)
        + (rng.random(n) < 0.1) * rng.choice([-1, 1], n) * rng.exponential(0.2, n)
    ),
}


def blocks(rng: Rng, noise: Noise, mean: float, count: int) -> dict[str, list[float]]:
    return {f"N={shape}": list(mean + noise(rng, count)) for shape in range(4)}


def blocks_until_tight(rng: Rng, noise: Noise, mean: float) -> dict[str, list[float]]:
    """The race's own stopping rule, peeking after each round."""
    held = blocks(rng, noise, mean, 3)
    while not tight(held, width=0.01, loosest=0.05, weights=EQUAL) and len(held["N=0"]) < 40:
        for label, more in blocks(rng, noise, mean, 1).items():
            held[label] += more
    return held


@pytest.mark.parametrize(
    ("confidence", "count", "expected"),
    [
        (0.95, 2, 12.7062),
        (0.95, 3, 4.30265),
        (0.99, 3, 9.92484),
        (0.99, 4, 5.84091),
        (0.95, 6, 2.57058),
        (0.98, 11, 2.76377),
        (0.95, 101, 1.98397),
    ],
)
def test_the_half_width_is_students(confidence: float, count: int, expected: float) -> None:
    """count values with a standard error of 1: the half width is the tabulated t."""
    values = np.arange(count, dtype=float)
    values *= math.sqrt(count) / values.std(ddof=1)
    found = half_width({"N=1": list(values)}, confidence, weights=EQUAL)
    assert found == pytest.approx(expected, rel=1e-5)


def test_degrees_of_freedom_need_not_be_whole() -> None:
    """Welch's for two shapes, one twice as noisy: 5.88; t is 2.447 for 6 and 2.571 for 5."""
    values = np.array([-1.0, 1.0, -1.0, 1.0, 0.0])
    held = {"a": list(values), "b": list(2 * values)}
    error = math.sqrt((1 + 4) * values.var(ddof=1) / len(values)) / 2
    assert 2.447 < half_width(held, weights=EQUAL) / error < 2.5


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize("count", [2, 3, 8])
def test_equal_kernels_rarely_win(noise: Noise, count: int) -> None:
    """A 99% interval has at most 0.5% on this side; the limit is far beyond chance."""
    rng = np.random.default_rng(count)
    false_wins = sum(wins(blocks(rng, noise, 0.0, count), weights=EQUAL) for _ in range(400))
    assert false_wins <= 9


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_equal_kernels_rarely_win_when_timed_until_tight(noise: Noise) -> None:
    rng = np.random.default_rng(5)
    assert sum(wins(blocks_until_tight(rng, noise, 0.0), weights=EQUAL) for _ in range(200)) <= 6


def test_a_true_gain_of_two_percent_is_found() -> None:
    rng = np.random.default_rng(6)
    noise = NOISES["normal"]
    found = sum(
        wins(blocks_until_tight(rng, noise, math.log(1.02)), weights=EQUAL) for _ in range(100)
    )
    assert found >= 80


@pytest.mark.parametrize("confidence", [0.95, 0.99])
def test_intervals_cover_the_truth_through_links(confidence: float) -> None:
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(300):
        links = [blocks(rng, NOISES["normal"], math.log(factor), 8) for factor in (5, 1.7)]
        last = blocks(rng, NOISES["normal"], math.log(0.9), 4)
        _, low, high = speedup(last, links, confidence, weights=EQUAL)
        covered += low <= 5 * 1.7 * 0.9 <= high
    assert covered / 300 >= confidence - 0.03


def test_the_speedup_is_the_product_of_links_of_geometric_means() -> None:
    links = [{"a": [math.log(2)] * 3, "b": [math.log(8)] * 3}]
    estimate, low, high = speedup(
        {"a": [math.log(3)] * 2, "b": [math.log(3)] * 2}, links, weights=EQUAL
    )
    assert estimate == pytest.approx(12)
    assert low == pytest.approx(12)
    assert high == pytest.approx(12)


def test_the_seed_itself_has_speedup_one() -> None:
    assert speedup({}, (), weights=EQUAL) == (1.0, 1.0, 1.0)


def test_the_same_blocks_give_the_same_interval() -> None:
    held = blocks(np.random.default_rng(8), NOISES["normal"], 0.5, 5)
    assert speedup(held, weights=EQUAL) == speedup(held, weights=EQUAL)


def test_a_wider_confidence_gives_a_wider_interval() -> None:
    held = blocks(np.random.default_rng(9), NOISES["normal"], 0.5, 5)
    _, low95, high95 = speedup(held, (), 0.95, weights=EQUAL)
    _, low99, high99 = speedup(held, (), 0.99, weights=EQUAL)
    assert low99 < low95 < high95 < high99


def test_one_block_is_no_interval() -> None:
    with pytest.raises(ValueError, match="two blocks or more on N=1"):
        speedup({"N=1": [0.1]}, weights=EQUAL)


def test_half_width_shrinks_with_blocks() -> None:
    rng = np.random.default_rng(11)
    few = half_width(blocks(rng, NOISES["normal"], 0.0, 4), weights=EQUAL)
    many = half_width(blocks(rng, NOISES["normal"], 0.0, 64), weights=EQUAL)
    assert many < few / 3


def test_a_kernel_far_from_its_anchor_needs_less_precision() -> None:
    values = [-0.04, 0.0, 0.04, 0.0]
    near = {"a": values, "b": values}
    far = {"a": [v + 1.0 for v in values], "b": [v + 1.0 for v in values]}
    assert not tight(near, width=0.01, loosest=0.05, weights=EQUAL)
    assert tight(far, width=0.01, loosest=0.05, weights=EQUAL)


def test_hopeless_is_shown_only_beyond_the_noise() -> None:
    five_times = [-math.log(5) + e for e in (0.03, -0.03, 0.0)]
    assert 3 < shown_slower_by(five_times, best=0.0) < 5
    noisy = [-math.log(5) + e for e in (0.5, -0.5, 0.0)]
    assert shown_slower_by(noisy, best=0.0) < 3


def test_the_shapes_best_counts_not_the_anchor() -> None:
    as_fast_as_the_anchor = [0.0, 0.01, -0.01]
    assert shown_slower_by(as_fast_as_the_anchor, best=math.log(10)) > 3


def test_hopeless_is_rarely_claimed_of_a_kernel_on_the_edge() -> None:
    rng = np.random.default_rng(12)
    claims = sum(
        shown_slower_by(list(-math.log(3) + rng.normal(0, 0.05, 2)), best=0.0) > 3
        for _ in range(2000)
    )
    assert claims <= 40
