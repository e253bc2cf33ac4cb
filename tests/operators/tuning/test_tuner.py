"""Tests of the tuner: it finds what random search does not, keeps to the space, repeats nothing."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from evaluators.expression import parse_expression
from evaluators.kernel.grid import Grid
from operators.tuning.space import Space
from operators.tuning.tuner import FIRST, Measured, Tuner

VALUES = {
    "TILE": (1, 2, 4, 8, 16, 32, 64),
    "BLOCK": (32, 48, 64, 96, 128, 192, 256, 384, 512),
    "KIND": (0, 1, 2, 3),
    "UNROLL": (0, 1),
}
Speed = Callable[[Mapping[str, int]], float | None]


def space(*constraints: str) -> Space:
    return Space(Grid(VALUES, [parse_expression(one) for one in constraints], {"FIXED": 7}))


def cliff(point: Mapping[str, int]) -> float | None:
    """ln gain: one kind is right, a block of whole wavefronts, a tile of 16."""
    gain = -0.3 * abs(math.log2(point["TILE"] / 16)) - 0.2 * abs(math.log2(point["BLOCK"] / 256))
    gain -= 0.0 if point["KIND"] == 2 else 0.7 + 0.1 * point["KIND"]
    gain -= 0.3 if point["BLOCK"] % 64 else 0.0
    return gain + 0.1 * point["UNROLL"]


def search(
    tuner: Tuner, speed: Speed, count: int, *, seed: int = 0, batch: int = 1
) -> list[Measured]:
    measured: list[Measured] = []
    rng = np.random.default_rng(seed)
    while len(measured) < count:
        made = tuner.propose(measured, [], batch, rng)
        if not made:
            break
        for point in made:
            gain = speed(point)
            gains = None if gain is None else {"a": gain}
            measured.append(Measured(params=point, gains=gains))
    return measured


def best(measured: Sequence[Measured]) -> float:
    return max(one.gains["a"] for one in measured if one.gains)


@pytest.mark.parametrize("batch", [1, 4])
def test_it_finds_the_best_of_504_points_within_60(batch: int) -> None:
    found = [best(search(Tuner(space()), cliff, 60, seed=s, batch=batch)) for s in range(5)]
    assert found == pytest.approx([0.1] * 5), "random search needs some 250 for an even chance"


def test_it_keeps_to_the_constraints_and_repeats_nothing_until_nothing_is_left() -> None:
    constraints = ("TILE * BLOCK <= 256", "KIND < 2")
    measured = search(Tuner(space(*constraints)), cliff, 1000, batch=7)
    points = [tuple(sorted(one.params.items())) for one in measured]
    whole = Grid(VALUES, [parse_expression(one) for one in constraints], {})
    assert len(set(points)) == len(points) == len(whole.rows) > 20
    assert all(one.params["TILE"] * one.params["BLOCK"] <= 256 for one in measured)
    assert all(one.params["FIXED"] == 7 for one in measured)


def test_what_is_pending_is_not_proposed_and_leads_elsewhere() -> None:
    tuner = Tuner(space())
    measured = search(tuner, cliff, 30)
    first = tuner.propose(measured, [], 3, np.random.default_rng(1))
    others = tuner.propose(measured, first, 3, np.random.default_rng(1))
    assert len(first) == len(others) == 3
    assert not [point for point in others if point in first]


def test_where_kernels_fail_it_goes_no_more() -> None:
    def failing(point: Mapping[str, int]) -> float | None:
        return None if point["TILE"] * point["BLOCK"] > 2048 else cliff(point)

    measured = search(Tuner(space()), failing, 60)
    late = [one for one in measured[20:] if one.gains is None]
    assert len(late) < 8, "a third of the space fails"
    assert best(measured) > -0.45


def test_all_fail_and_it_goes_on() -> None:
    measured = search(Tuner(space()), lambda point: None, 40)
    assert len(measured) == 40


def test_slow_kernels_are_no_failures_but_are_avoided() -> None:
    tuner = Tuner(space())
    rng = np.random.default_rng(0)
    measured: list[Measured] = []
    for _ in range(50):
        (point,) = tuner.propose(measured, [], 1, rng)
        gain = cliff(point) or 0.0
        slow = gain < -1.0
        measured.append(Measured(params=point, gains=None if slow else {"a": gain}, slow=slow))
    assert sum(one.slow for one in measured[20:]) < 10 and best(measured) > -0.2


def test_each_shape_is_searched_for_its_own_best() -> None:
    """Two shapes want two tiles: the mean of the two alone would not lead to either."""
    tuner, rng = Tuner(space()), np.random.default_rng(0)
    measured: list[Measured] = []
    for _ in range(80):
        (point,) = tuner.propose(measured, [], 1, rng)
        wide, narrow = (-abs(math.log2(point["TILE"] / one)) for one in (64, 1))
        block = -0.3 * abs(math.log2(point["BLOCK"] / 256))
        measured.append(Measured(params=point, gains={"w": wide + block, "n": narrow + block}))
    for shape in ("w", "n"):
        assert max((one.gains or {})[shape] for one in measured) == 0.0


@pytest.mark.soak
def test_what_a_relative_taught_counts() -> None:
    """After five points of its own it stands where others stand after many."""
    told = [
        Measured(params=one.params, gains=one.gains, relative=1)
        for one in search(Tuner(space()), cliff, 60, seed=9)
    ]
    scores: dict[bool, list[float]] = {True: [], False: []}
    for helped in (True, False):
        for seed in range(6):
            tuner, rng = Tuner(space()), np.random.default_rng(seed)
            measured: list[Measured] = []
            for _ in range(FIRST + 3):
                known = [*measured, *told] if helped else measured
                (point,) = tuner.propose(known, [], 1, rng)
                measured.append(Measured(params=point, gains={"a": 0.5 + (cliff(point) or 0.0)}))
            scores[helped].append(best(measured))
    assert min(scores[True]) > np.mean(scores[False])


def test_a_space_too_large_to_be_enumerated_is_searched_too() -> None:
    many = {f"P{number}": tuple(range(1, 17)) for number in range(6)}
    large = Space(Grid(many, [parse_expression("P0 <= P1")], {}))

    def bowl(point: Mapping[str, int]) -> float | None:
        return -sum(abs(math.log2(value / 8)) for value in point.values())

    measured = search(Tuner(large), bowl, 80)
    assert all(one.params["P0"] <= one.params["P1"] for one in measured)
    rng = np.random.default_rng(0)
    lucky = max(bowl(large.params(row)) or 0.0 for row in large.draw(rng, 80))
    assert best(measured) > lucky / 2, "both are below zero"


def test_the_same_knowledge_gives_the_same_choice() -> None:
    first, second = (search(Tuner(space()), cliff, 25, seed=3) for _ in range(2))
    assert first == second
    fresh = Tuner(space()).propose(first[:20], [], 2, np.random.default_rng(5))
    used = Tuner(space())
    search(used, cliff, 20, seed=3)
    assert used.propose(first[:20], [], 2, np.random.default_rng(5)) == fresh


def test_what_is_tried_follows_the_weights_of_the_objectives() -> None:
    """One objective wants large tiles and the other small ones: the heavier one is followed."""

    def mean_tile(weights: dict[str, float]) -> float:
        tuner, measured, rng = Tuner(space(), weights), list[Measured](), np.random.default_rng(4)
        while len(measured) < 40:
            for point in tuner.propose(measured, [], 1, rng):
                large = 0.3 * math.log2(point["TILE"])
                measured.append(Measured(params=point, gains={"a": large, "b": -large}))
        return float(np.mean([math.log2(one.params["TILE"]) for one in measured[20:]]))

    assert mean_tile({"a": 9.0, "b": 1.0}) > mean_tile({"a": 1.0, "b": 9.0}) + 1.0
