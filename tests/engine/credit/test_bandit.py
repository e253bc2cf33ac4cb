"""Tests of the bandit: its weights at first, its floor, what fades, and that failures cost."""

import numpy as np
import pytest

from engine.credit.bandit import Bandit, drawn

ONE = (1.0, 10.0, 0.0)
"""A kernel that took 10 s and no dollar."""


def bandit(**weights: float) -> Bandit:
    return Bandit(weights or {"a": 1.0, "b": 1.0}, floor=0.1, half_life=15, sharpness=8.0)


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


def test_it_follows_a_change() -> None:
    one = bandit()
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
