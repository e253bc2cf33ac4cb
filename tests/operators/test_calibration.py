"""Tests of calibration: its numbers by hand, what a designer is told, and what is chosen."""

import math

import pytest

from operators.calibration import (
    SCATTER,
    UNTRIED,
    Calibration,
    Prediction,
    choose_calibrated,
    middle,
)
from operators.individual import Experiment
from operators.operator import choose_experiments


def experiment(name: str, low: float, high: float, innovation: int) -> Experiment:
    return Experiment(
        technique=name,
        description=name,
        rubric="1. Do it.",
        performance=(low, high),
        innovation=innovation,
    )


def of(*predictions: tuple[float, float, float | None]) -> Calibration:
    return Calibration.of(
        Prediction(low=low, high=high, gain=gain) for low, high, gain in predictions
    )


def test_nothing_is_known_at_first() -> None:
    assert of() == UNTRIED and UNTRIED.told == ""
    assert (UNTRIED.slope, UNTRIED.scatter) == (1.0, SCATTER)


def test_its_numbers_by_hand() -> None:
    # Middle 0.2, measured 0.1; 4 experiments of the prior at 0.15 came out as predicted.
    range_ = 100 * math.expm1(0.1), 100 * math.expm1(0.3)
    found = of((*range_, 0.1 + 1e-9), (*range_, 0.0), (*range_, 0.5), (*range_, None))
    slope = (0.2 * (0.1 + 0.0 + 0.5) + 4 * 0.15**2) / (3 * 0.2**2 + 4 * 0.15**2)
    off = sum((gain - slope * 0.2) ** 2 for gain in (0.1, 0.0, 0.5))
    assert (found.made, found.measured, found.held, found.less) == (4, 3, 1, 1)
    assert found.slope == pytest.approx(slope, rel=1e-6)
    assert found.scatter == pytest.approx(math.sqrt((off + 4 * 0.2**2) / 7), rel=1e-6)


def test_a_range_below_nothing_is_read_as_nearly_that() -> None:
    assert middle(-100, 0) == pytest.approx(math.log(0.05) / 2)


def test_a_designer_that_promises_too_much_is_told_so() -> None:
    found = of(*[(50.0, 100.0, 0.05)] * 6, (50.0, 100.0, None))
    assert found.slope < 0.3
    assert found.told == (
        "Of your 6 predictions that were measured 0 held, 6 brought less and 0 more; 1 more had no "
        f"time, as the kernel failed or was too slow. A measured gain was {found.slope:.2g} times "
        "the middle of its range: predict by that."
    )


def test_the_highest_expected_gain_with_a_bonus_for_the_new() -> None:
    known, new, poor = (
        experiment("known", 20, 30, 0),
        experiment("new", 10, 20, 90),
        experiment("poor", 0, 5, 10),
    )
    chosen = choose_calibrated([poor, known, new], UNTRIED, 2)
    assert [one.technique for one in chosen] == ["new", "known"]
    score = UNTRIED.slope * middle(10, 20) + 0.9 * UNTRIED.scatter
    assert UNTRIED.score(new) == pytest.approx(score)


def test_promises_count_less_where_they_were_not_kept() -> None:
    promising, new = experiment("promising", 60, 80, 10), experiment("new", 0, 10, 90)
    broken = of(*[(50.0, 100.0, 0.0)] * 20)
    first = [choose_calibrated([promising, new], one, 1)[0].technique for one in (UNTRIED, broken)]
    assert first == ["promising", "new"]
    assert choose_experiments([promising, new], 2)[0].technique == "new"  # the paper's rule
