"""What is called real is real: rates over simulated comparisons, seeded."""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from engine.compare.statistics import (
    Stratum,
    Values,
    campaigns_needed,
    deviation,
    difference,
    holm,
    interval,
    least_campaigns,
    least_p,
    mean_interval,
    permutation_p,
    power,
)
from tests.soaked import one_in

Draw = Callable[[np.random.Generator, int], Values]

PAIRS = 400
SPREAD = 0.3


def normal(rng: np.random.Generator, n: int) -> Values:
    return rng.normal(0, SPREAD, n)


def heavy(rng: np.random.Generator, n: int) -> Values:
    return SPREAD * rng.standard_t(3, n)


def skewed(rng: np.random.Generator, n: int) -> Values:
    return rng.exponential(SPREAD, n)


def clumped(rng: np.random.Generator, n: int) -> Values:
    """Searches that end at one of a few kernels."""
    found = rng.choice([0.0, 0.05, 0.6, 1.2], p=[0.1, 0.2, 0.5, 0.2], size=n)
    return np.asarray(found + rng.normal(0, 0.02, n))


def called_real(strata: list[Stratum]) -> bool:
    if permutation_p(strata) > 0.05:
        return False
    ends = interval(strata)
    assert ends is not None
    return not ends[0] <= 0 <= ends[1]


@pytest.mark.long
@pytest.mark.parametrize("n", one_in(3, [5, 10, 4]))
@pytest.mark.parametrize("draw", [normal, heavy, skewed, clumped])
def test_equal_configurations_are_called_different_at_most_once_in_twenty(
    draw: Draw, n: int
) -> None:
    rng = np.random.default_rng(n)
    pairs = [Stratum(first=draw(rng, n), second=draw(rng, n)) for _ in range(PAIRS)]
    wrong = sum(called_real([pair]) for pair in pairs)
    assert wrong <= 0.05 * PAIRS + 2 * math.sqrt(0.05 * 0.95 * PAIRS)


@pytest.mark.parametrize("draw", [normal, heavy, skewed, clumped])
def test_intervals_of_five_campaigns_each_hold_the_truth(draw: Draw) -> None:
    """Also where the two configurations differ in how campaigns spread."""
    rng = np.random.default_rng(7)
    mean = float(draw(rng, 1_000_000).mean())
    held = 0
    for _ in range(PAIRS):
        stratum = Stratum(first=rng.normal(0, SPREAD, 5), second=draw(rng, 5))
        ends = interval([stratum])
        assert ends is not None
        held += ends[0] <= mean <= ends[1]
    assert held >= 0.9 * PAIRS


@pytest.mark.parametrize(("effect", "tasks"), one_in(3, [(0.3, 1), (0.6, 1), (0.4, 2)]))
def test_as_many_campaigns_as_advised_show_it_about_four_times_in_five(
    effect: float, tasks: int
) -> None:
    n = campaigns_needed(effect, SPREAD, tasks)
    assert n is not None
    rng = np.random.default_rng(3)
    shown = 0
    for _ in range(200):
        strata = [
            Stratum(first=normal(rng, n), second=normal(rng, n) + effect) for _ in range(tasks)
        ]
        shown += called_real(strata)
    assert 0.7 <= shown / 200 <= 0.95


def test_more_campaigns_show_more() -> None:
    powers = [power(0.3, SPREAD, n) for n in (4, 8, 16, 32)]
    assert all(before < after for before, after in pairwise(powers))
    assert powers[0] < 0.3 and powers[-1] > 0.95
    assert campaigns_needed(0.001, SPREAD) is None
    assert campaigns_needed(0.0, SPREAD) is None
    assert campaigns_needed(0.1, 0.0) == least_campaigns()


def test_a_single_campaign_has_no_spread() -> None:
    alone = Stratum(first=np.array([0.1]), second=np.array([0.5, 0.6]))
    assert interval([alone]) is None
    assert difference([alone]) == pytest.approx(0.45)
    assert deviation([alone.first, alone.second]) == pytest.approx(np.std([0.5, 0.6], ddof=1))
    assert deviation([np.array([0.1]), np.array([0.5])]) is None


def test_the_same_values_give_the_same_interval_and_none_varies_by_chance() -> None:
    stratum = Stratum(first=np.array([0.1, 0.2, 0.4]), second=np.array([0.5, 0.6, 0.9]))
    assert interval([stratum]) == interval([stratum])
    same = np.array([0.5, 0.5, 0.5])
    assert mean_interval([(1.0, same)]) == pytest.approx((0.5, 0.5))


def test_labels_are_dealt_within_tasks_and_counted_exactly() -> None:
    low, high = np.arange(4.0), np.arange(4.0) + 10
    apart = Stratum(first=low, second=high)
    assert permutation_p([apart]) == pytest.approx(2 / 70) == least_p([(4, 4)])
    assert permutation_p([Stratum(first=low[:3], second=high[:3])]) == pytest.approx(0.1)
    # Of a hard and an easy task the tasks' own difference counts for nothing.
    hard = Stratum(first=low, second=high)
    easy = Stratum(first=low + 100, second=high + 100)
    assert permutation_p([hard, easy]) == pytest.approx(2 / 70**2)
    alike = Stratum(first=low, second=low[::-1].copy())
    assert permutation_p([alike]) == 1.0
    assert least_campaigns() == 4 and least_campaigns(2) == 3 and least_campaigns(1, 0.01) == 5


def test_many_campaigns_are_dealt_at_random() -> None:
    rng = np.random.default_rng(1)
    one = Stratum(first=normal(rng, 20), second=normal(rng, 20) + 1)
    assert permutation_p([one]) < 0.001
    other = Stratum(first=normal(rng, 20), second=normal(rng, 20))
    assert permutation_p([other]) > 0.05


def test_several_questions_at_once_are_adjusted_for() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


@pytest.mark.parametrize("counts", [(2, 10), (2, 20), (3, 20)])
@pytest.mark.parametrize("draw", [normal, skewed])
def test_intervals_hold_where_one_side_has_few_campaigns(
    draw: Draw, counts: tuple[int, int]
) -> None:
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(PAIRS // 2):
        ends = interval([Stratum(first=draw(rng, counts[0]), second=draw(rng, counts[1]))])
        assert ends is not None
        held += ends[0] <= 0 <= ends[1]
    assert held / (PAIRS // 2) >= 0.92
