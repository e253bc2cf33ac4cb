"""Tests of the scoreboard: the best, the early stop's bounds, the anchors."""

from dataclasses import replace
from math import exp

import pytest

from engine.store.events import EpochStarted, Evaluated
from engine.store.kinds.contests import Contested
from engine.store.scoreboard import Scoreboard
from evaluators.evaluation import Evaluation
from tests.engine.conftest import evaluation_of


def measured(kernel_id: str, anchor_id: str, gains: dict[str, float]) -> Evaluation:
    """gains: ln(anchor time / kernel time) by label."""
    return replace(
        evaluation_of(kernel_id, dict.fromkeys(gains, 10.0)),
        anchor_id=anchor_id,
        blocks={label: (gain - 0.1, gain + 0.1) for label, gain in gains.items()},
        speedup=2.0 ** sum(gains.values()),
    )


@pytest.fixture
def scores() -> Scoreboard:
    board = Scoreboard()
    board.apply(Evaluated(evaluation=evaluation_of("seed", {"a": 100.0, "b": 100.0})))
    board.apply(EpochStarted(number=0, anchor_id="seed"))
    return board


def test_bounds_are_the_best_on_each_shape(scores: Scoreboard) -> None:
    scores.apply(Evaluated(evaluation=measured("k1", "seed", {"a": 2.0, "b": 0.0})))
    scores.apply(Evaluated(evaluation=measured("k2", "seed", {"a": 1.0, "b": 0.5})))
    assert scores.bounds() == pytest.approx({"a": 2.0, "b": 0.5})


def test_bounds_follow_the_anchor(scores: Scoreboard) -> None:
    scores.apply(Evaluated(evaluation=measured("k1", "seed", {"a": 2.0, "b": 0.5})))
    link = {"a": (1.9, 1.9), "b": (0.5, 0.5)}
    scores.apply(EpochStarted(number=1, anchor_id="k1", link=link))
    assert scores.bounds() == pytest.approx({"a": 0.1, "b": 0.0})
    scores.apply(Evaluated(evaluation=measured("k2", "k1", {"a": 0.4, "b": -1.0})))
    assert scores.bounds() == pytest.approx({"a": 0.4, "b": 0.0})
    # An evaluation that began under the old anchor still counts from there.
    scores.apply(Evaluated(evaluation=measured("k3", "seed", {"a": 0.0, "b": 0.7})))
    assert scores.bounds() == pytest.approx({"a": 0.4, "b": 0.2})


def test_links_add_up_from_the_seed(scores: Scoreboard) -> None:
    scores.apply(EpochStarted(number=1, anchor_id="k1", link={"a": (1.0,)}))
    scores.apply(EpochStarted(number=2, anchor_id="k2", link={"a": (0.5,)}))
    assert scores.links == ({"a": (1.0,)}, {"a": (0.5,)})
    scores.apply(Evaluated(evaluation=measured("k3", "k2", {"a": 0.25})))
    assert scores.bounds() == pytest.approx({"a": 0.25, "b": -0.0})


def test_only_a_verified_kernel_is_the_best(scores: Scoreboard) -> None:
    scores.apply(Evaluated(evaluation=measured("fast", "seed", {"a": 3.0})))
    assert scores.best is None
    scores.apply(Evaluated(evaluation=measured("sure", "seed", {"a": 2.0}), verified=True))
    assert scores.best is not None and scores.best.kernel_id == "sure"
    scores.apply(Evaluated(evaluation=measured("slower", "seed", {"a": 1.0}), verified=True))
    assert scores.best.kernel_id == "sure"


def test_failures_count_and_change_nothing_else(scores: Scoreboard) -> None:
    before = scores.bounds()
    scores.apply(Evaluated(evaluation=evaluation_of("bad", {})))
    assert scores.by_status == {"PASSED": 1, "WRONG": 1}
    assert scores.bounds() == before


def test_measuring_again_counts_once_and_the_later_one_holds(scores: Scoreboard) -> None:
    first = measured("k1", "seed", {"a": 9.0})
    scores.apply(Evaluated(evaluation=first, verified=True))
    assert scores.next_number("k1") == 1
    scores.apply(Evaluated(evaluation=measured("k1", "seed", {"a": 1.0}), number=1, verified=True))
    assert scores.by_status["PASSED"] == 2
    assert scores.bounds()["a"] == pytest.approx(1.0)
    assert scores.best is not None and scores.best.speedup == pytest.approx(2.0)
    assert scores.first("k1") == first and scores.evaluations["k1"] != first
    assert scores.next_number("k1") == 2


def test_a_store_of_before_paired_gains_gets_them_from_its_blocks(scores: Scoreboard) -> None:
    scores.apply(EpochStarted(number=1, anchor_id="k1", link={"a": (1.0, 1.0), "b": (0.0, 0.0)}))
    stored = replace(measured("k2", "k1", {"a": 0.5, "b": 0.25}), gains={}, speedup=exp(1.75 / 2))
    assert scores.with_gains(stored).gains == pytest.approx({"a": 1.5, "b": 0.25})
    other = replace(stored, kernel_id="k3", speedup=9.0)  # its blocks are not what made its speedup
    assert scores.with_gains(other) is other
    kept = replace(stored, gains={"a": 1.0, "b": 1.0})
    assert scores.with_gains(kept) is kept


def won(number: int, kernel_id: str, rival_id: str, gains: dict[str, float]) -> Contested:
    return Contested(
        number=number,
        kernel_id=kernel_id,
        rival_id=rival_id,
        why="contender",
        outcome="won",
        ratio=(1.1, 1.0, 1.2),
        gains=gains,
        speedup=2.0,
    )


def test_shapes_that_only_contests_time_add_up_from_the_seed(scores: Scoreboard) -> None:
    """The search times a and b here; the next anchor is linked on these alone."""
    scores.apply(Evaluated(evaluation=scores.evaluations["seed"], number=1, verified=True))
    scores.apply(Evaluated(evaluation=measured("k1", "seed", {"a": 2.0, "b": 2.0})))
    scores.apply(won(0, "k1", "seed", {"a": 2.1, "b": 2.0, "c": 1.5}))
    assert scores.best_over_anchor() == pytest.approx(exp(5.6 / 3))
    scores.apply(EpochStarted(number=1, anchor_id="k1", link={"a": (2.0,), "b": (2.0,)}))
    assert scores.best_over_anchor() == pytest.approx(1.0)
    scores.apply(Evaluated(evaluation=measured("k2", "k1", {"a": 0.2, "b": 0.2})))
    assert scores.lead("k2") == pytest.approx(0.2)
    scores.apply(won(1, "k2", "k1", {"a": 0.2, "b": 0.3, "c": -0.1}))
    assert scores.titles.places["k2"] == pytest.approx({"a": 2.2, "b": 2.3, "c": 1.4})
    assert scores.best_over_anchor() == pytest.approx(exp(0.25))
