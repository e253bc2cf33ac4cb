"""Tests of the bandit: its weights at first, its floor, changes, and that failures cost."""

import numpy as np
import pytest

from engine.credit.bandit import Bandit, drawn

ONE = (1.0, 10.0, 0.0)
"""A kernel that took 10 s and no dollar."""


def bandit(*, gains_tell: bool = False, **weights: float) -> Bandit:
    return Bandit(
        weights or {"a": 1.0, "b": 1.0},
        floor=0.1,
        half_life=15,
        sharpness=8.0,
        gains_tell=gains_tell,
    )


def rng(number: int = 0) -> np.random.Generator:
    return np.random.default_rng(number)


def test_weights_alone_decide_at_first() -> None:
    assert bandit(a=3.0, b=1.0).shares(rng()) == pytest.approx({"a": 0.75, "b": 0.25})


def test_failures_alone_say_nothing_of_who_gains() -> None:
    one = bandit()
    for _ in range(10):
        one.take("a", 0.0, ONE)
    assert one.shares(rng()) == pytest.approx({"a": 0.5, "b": 0.5})


def test_an_arm_without_a_weight_is_not_drawn() -> None:
    assert bandit(a=1.0, b=0.0).shares(rng()) == {"a": 1.0}


def test_what_gains_is_drawn_more_often_and_failures_cost() -> None:
    one = bandit()
    for _ in range(12):
        one.take("a", 0.3, ONE)
        one.take("b", 0.0, ONE)
    shares = one.shares(rng())
    assert shares["a"] > 0.85
    assert one.rates()["a"] > 1 > one.rates()["b"]


def test_of_two_with_the_same_gains_the_cheaper_one_is_drawn_more_often() -> None:
    one = bandit()
    for _ in range(12):
        one.take("a", 0.3, (1.0, 10.0, 0.01))
        one.take("b", 0.3, (1.0, 40.0, 0.30))
    rates = one.rates()
    assert rates["a"] > 1.2 * rates["b"]


def test_no_arm_has_less_than_its_part_of_the_floor() -> None:
    one = bandit(a=3.0, b=1.0)
    for _ in range(200):
        one.take("a", 0.5, ONE)
        one.take("b", 0.0, ONE)
    shares = one.shares(rng())
    assert shares["b"] >= 0.1 / 4
    assert sum(shares.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("gains_tell", [False, True])
def test_it_follows_a_change(gains_tell: bool) -> None:
    one = bandit(gains_tell=gains_tell)
    for _ in range(30):
        one.take("a", 0.3, ONE)
        one.take("b", 0.0, ONE)
    before = one.shares(rng())
    for _ in range(20):
        one.take("a", 0.0, ONE)
        one.take("b", 0.3, ONE)
    after = one.shares(rng())
    assert before["a"] > 0.85 and after["b"] > 0.85


def test_who_no_longer_gains_is_left_though_nobody_else_was_asked() -> None:
    one = bandit()
    for _ in range(30):
        one.take("a", 0.3, ONE)
    before = one.shares(rng())["a"]
    for _ in range(15):
        one.take("a", 0.0, ONE)
    assert one.shares(rng())["a"] < before


def test_who_goes_on_as_before_keeps_the_record_and_who_changed_loses_it() -> None:
    steady, changed, faded = bandit(gains_tell=True), bandit(gains_tell=True), bandit()
    for one in (steady, changed, faded):
        for _ in range(60):
            one.take("a", 0.3, ONE)
            one.take("b", 0.0, ONE)
    steady.take("a", 0.0, ONE)
    for _ in range(8):
        changed.take("a", 0.0, ONE)
        faded.take("a", 0.0, ONE)
    assert steady.shares(rng())["a"] > 0.85
    assert changed.shares(rng())["a"] < 0.75 < faded.shares(rng())["a"]


def test_what_was_seen_counts_half_after_a_half_life() -> None:
    one = bandit()
    for _ in range(40):
        one.take("a", 0.3, ONE)
    before = one._arms["a"].sums(one._stays, one._taken)
    for _ in range(15):
        one.take("b", 0.0, ONE)
    assert one._arms["a"].sums(one._stays, one._taken) == pytest.approx(before / 2)


def test_who_gains_now_and_then_is_not_left_for_some_failures() -> None:
    one = bandit(gains_tell=True)
    for number in range(60):
        one.take("a", 0.3 if number % 3 == 0 else 0.0, ONE)
        one.take("b", 0.0, ONE)
    for _ in range(4):
        one.take("a", 0.0, ONE)
    assert one.shares(rng())["a"] > 0.7


def test_costs_besides_are_no_failures() -> None:
    plain, dear = bandit(gains_tell=True), bandit(gains_tell=True)
    for number in range(20):
        for one in (plain, dear):
            one.take("a", 0.3, ONE)
            one.take("b", 0.3 if number % 2 else 0.0, ONE)
        dear.take("a", 0.0, (0.0, 10.0, 0.0), kernel=False)
    assert 0.5 * plain.rates()["a"] < dear.rates()["a"] < plain.rates()["a"]


def test_draws_follow_the_shares() -> None:
    source = rng()
    names = [drawn({"a": 0.9, "b": 0.1}, source) for _ in range(500)]
    assert 0.85 < names.count("a") / 500 < 0.95


@pytest.mark.parametrize("half_life", [1e-320, 0.01, 0.1, 15, 1e308])
def test_what_faded_to_nothing_is_forgotten(half_life: float) -> None:
    one = Bandit({"a": 1.0, "b": 1.0}, floor=0.1, half_life=half_life, sharpness=8.0)
    one.take("a", 0.3, ONE)
    for _ in range(1200):
        one.take("b", 0.0, ONE)
        one.rates()
    shares = one.shares(rng())
    assert sum(shares.values()) == pytest.approx(1.0) and min(shares.values()) >= 0.05
