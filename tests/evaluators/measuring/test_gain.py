"""Tests of gains: paired through anchors, whatever the machine did meanwhile."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from evaluators.evaluation import Evaluation, Status
from evaluators.measuring.gain import gain, gains_over_seed
from evaluators.measuring.intervals import gains, speedup
from evaluators.measuring.sittings import CPU_SPREAD, GPU_SPREAD
from evaluators.weights import EQUAL

Link = Mapping[str, tuple[float, ...]]
SHAPES = ("a", "b")


def race(
    name: str,
    over_anchor: float,
    anchor: str = "seed",
    *,
    links: tuple[Link, ...] = (),
    raw_us: float = 10.0,
    noise: float = 0.002,
) -> Evaluation:
    """over_anchor: times as fast as the anchor; raw_us: what the clock said that day."""
    rng = np.random.default_rng(len(name))
    blocks = {
        label: tuple(math.log(over_anchor) + noise * rng.standard_normal(8)) for label in SHAPES
    }
    times_us = dict.fromkeys(SHAPES, raw_us)
    estimate, low, high = speedup(blocks, links, weights=EQUAL)
    return Evaluation(
        kernel_id=name,
        task_hash="task",
        device_class="class",
        status=Status.PASSED,
        times_us=times_us,
        blocks=blocks,
        gains=gains(blocks, links, times_us),
        links=len(links),
        anchor_id=anchor,
        speedup=estimate,
        ci95=(low, high),
    )


def test_raw_times_of_two_moments_decide_nothing() -> None:
    parent = race("parent", 2.0, raw_us=100.0)
    child = race("child", 3.0, raw_us=400.0)  # the machine had become four times slower
    found = gain(child, parent, CPU_SPREAD)
    assert found is not None
    assert found[0] == pytest.approx(1.5, rel=0.01)
    assert 1 < found[1] < found[0] < found[2]
    back = gain(parent, child, CPU_SPREAD)
    assert back is not None and back[2] < 1
    assert back[0] * found[0] == pytest.approx(1.0)


def test_a_difference_that_two_races_do_not_show_has_an_interval_that_holds_none() -> None:
    found = gain(race("one", 2.02), race("two", 2.0), CPU_SPREAD)
    assert found is not None and found[1] < 1 < found[2]
    closer = gain(race("one", 2.04, noise=1e-4), race("two", 2.0, noise=1e-4), GPU_SPREAD)
    assert closer is not None and closer[1] > 1


def test_one_race_beside_the_parent_tells_more_than_two() -> None:
    link = {label: (math.log(2.0),) * 30 for label in SHAPES}
    parent = race("parent", 2.0)
    beside = race("beside", 1.1, "parent", links=(link,))
    apart = race("child", 2.2)
    direct, indirect = gain(beside, parent, CPU_SPREAD), gain(apart, parent, CPU_SPREAD)
    assert direct is not None and indirect is not None
    assert direct[0] == pytest.approx(indirect[0], rel=0.01)
    assert direct[2] / direct[1] < indirect[2] / indirect[1]


def test_other_anchors_are_joined_by_their_links() -> None:
    link = {"a": (math.log(4.0),) * 30, "b": (math.log(1.0),) * 30}
    parent, child = race("parent", 2.0), race("child", 1.5, "second", links=(link,))
    on_a, on_b = (gain(child, parent, CPU_SPREAD, label=label) for label in SHAPES)
    both = gain(child, parent, CPU_SPREAD)
    assert on_a is not None and on_b is not None and both is not None
    assert on_a[0] == pytest.approx(3.0, rel=0.01)
    assert on_b[0] == pytest.approx(0.75, rel=0.01)
    assert both[0] == pytest.approx(1.5, rel=0.01)
    same = gain(race("child", 3.0), parent, CPU_SPREAD)
    assert same is not None and both[2] / both[1] > same[2] / same[1]


def test_what_is_not_comparable_has_no_gain() -> None:
    parent = race("parent", 2.0)
    wrong = replace(parent, kernel_id="w", status=Status.WRONG, reason="no", times_us={}, gains={})
    assert gain(wrong, parent, CPU_SPREAD) is None
    assert gain(parent, wrong, CPU_SPREAD) is None
    assert gain(parent, parent, CPU_SPREAD) is None
    assert gain(parent, race("child", 2.0), CPU_SPREAD, label="c") is None


def test_an_evaluation_of_before_has_its_one_speedup_on_every_shape() -> None:
    old = replace(race("old", 2.0), gains={}, blocks={})
    assert gains_over_seed(old) == pytest.approx(dict.fromkeys(SHAPES, math.log(2.0)), rel=0.01)
    found = gain(old, race("new", 1.0), CPU_SPREAD)
    assert found is not None and found[0] == pytest.approx(2.0, rel=0.01)


def test_signs_are_right_where_the_interval_leaves_no_gain_out() -> None:
    """2,000 pairs whose races are each off by as much as is known of them."""
    rng = np.random.default_rng(5)
    shown = wrong = 0
    for _ in range(2000):
        true = 0.05 * rng.standard_normal()
        off = CPU_SPREAD.sitting * rng.standard_normal(2)
        child = race("child", math.exp(0.5 + true + off[0]))
        found = gain(child, race("parent", math.exp(0.5 + off[1])), CPU_SPREAD)
        assert found is not None
        if not found[1] <= 1 <= found[2]:
            shown += 1
            wrong += (found[0] > 1) != (true > 0)
    assert shown > 400
    assert wrong < 0.01 * shown
