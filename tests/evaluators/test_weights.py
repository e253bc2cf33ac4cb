"""Weights of shapes: the mean that every figure over shapes is, and the whole by calls."""

import math

import pytest

from evaluators.evaluation import Evaluation, Status
from evaluators.measuring.gain import gain
from evaluators.measuring.intervals import (
    Sittings,
    Spread,
    half_width,
    shown_behind,
    speedup,
    tight,
    wins,
)
from evaluators.measuring.sittings import GPU_SPREAD
from evaluators.tasks.arguments import Workload
from evaluators.weights import EQUAL, mean_text, of_whole, over_shapes, shares, weights_of

WEIGHTS = {"a": 3.0, "b": 1.0}
GAINS = {"a": math.log(2), "b": math.log(32)}
BLOCKS = {label: [gain - 0.01, gain, gain + 0.01] for label, gain in GAINS.items()}


def timed(kernel_id: str, gains: dict[str, float], *, anchor: str, **times: float) -> Evaluation:
    blocks = {label: (gain, gain + 0.001, gain - 0.001) for label, gain in gains.items()}
    estimate, low, high = speedup(blocks, (), weights=WEIGHTS)
    return Evaluation(
        kernel_id=kernel_id,
        task_hash="t",
        device_class="cpu/x",
        status=Status.PASSED,
        times_us=times or dict.fromkeys(gains, 1.0),
        blocks=blocks,
        gains=gains,
        anchor_id=anchor,
        speedup=estimate,
        ci95=(low, high),
        weights=WEIGHTS,
    )


def test_without_weights_all_shapes_count_the_same() -> None:
    shapes = [Workload(dims={"N": n}, suite="benchmarks") for n in (1, 2)]
    assert weights_of(shapes) == EQUAL == {}
    assert over_shapes(GAINS, EQUAL) == pytest.approx(math.log(8))
    assert shares(["a", "b"], EQUAL) == [0.5, 0.5]
    assert over_shapes({}, EQUAL) == over_shapes({}, WEIGHTS) == 0.0
    assert of_whole({"a": 1.0, "b": 1.0}, GAINS, EQUAL) is None
    assert mean_text(4, EQUAL) == "geometric mean of 4 shapes" and mean_text(1, EQUAL) == ""


def test_weights_are_kept_by_label_where_any_is_stated() -> None:
    shapes = [
        Workload(dims={"N": 1}, suite="benchmarks"),
        Workload(dims={"N": 2}, suite="benchmarks", weight=2.5),
    ]
    assert weights_of(shapes) == {"N=1": 1.0, "N=2": 2.5}
    assert mean_text(2, weights_of(shapes)) == "weighted geometric mean of 2 shapes"


def test_the_score_is_the_weighted_geometric_mean() -> None:
    """2x thrice and 32x once: (2^3 * 32)^(1/4) = 4, where without weights it is 8."""
    assert math.exp(over_shapes(GAINS, WEIGHTS)) == pytest.approx(4)
    assert speedup(BLOCKS, weights=WEIGHTS)[0] == pytest.approx(4)
    assert speedup(BLOCKS, weights=EQUAL)[0] == pytest.approx(8)
    links = [{"a": [math.log(3)] * 2, "b": [math.log(3)] * 2}]
    assert speedup(BLOCKS, links, weights=WEIGHTS)[0] == pytest.approx(12)
    spread = Spread(sitting=0.003, distance=0.0, run=0.8)
    assert Sittings([BLOCKS] * 3, spread, WEIGHTS).ratio(0.95)[0] == pytest.approx(4)


def test_a_shape_of_little_weight_decides_little() -> None:
    """Slower where it counts, much faster where it does not: a win only without weights."""
    blocks = {"a": [-0.1, -0.11, -0.1, -0.09], "b": [0.5, 0.51, 0.5, 0.49]}
    heavy = {"a": 99.0, "b": 1.0}
    assert wins(blocks, weights=EQUAL) and not wins(blocks, weights=heavy)
    best = {"a": 0.0, "b": 0.0}
    assert shown_behind(blocks, best, 0.05, weights=heavy)
    assert not shown_behind(blocks, best, 0.05, weights=EQUAL)
    noisy = {"a": [0.1, 0.1001, 0.1], "b": [0.1, 0.9, -0.7]}
    assert half_width(noisy, weights={"a": 999.0, "b": 1.0}) < half_width(noisy, weights=EQUAL)
    assert tight(noisy, width=0.01, loosest=0.05, weights={"a": 999.0, "b": 1.0})
    assert not tight(noisy, width=0.01, loosest=0.05, weights=EQUAL)


def test_gains_between_kernels_are_weighted() -> None:
    base = timed("base", {"a": 0.0, "b": 0.0}, anchor="seed")
    child = timed("child", GAINS, anchor="base")
    found = gain(child, base, GPU_SPREAD)
    assert found is not None and found[0] == pytest.approx(4)
    on_b = gain(child, base, GPU_SPREAD, label="b")
    assert on_b is not None and on_b[0] == pytest.approx(32)


def test_the_whole_is_the_calls_time_before_over_their_time_now() -> None:
    """Three calls of 10 us that took 20, one of 2 us that took 64: (60 + 64) / (30 + 2)."""
    found = timed("k", GAINS, anchor="seed", a=10.0, b=2.0)
    assert found.whole == pytest.approx((3 * 20 + 64) / (3 * 10 + 2))
    assert of_whole({"a": 1.0, "c": 1.0}, GAINS, WEIGHTS) is None, "no gain on c"


def test_costs_are_ordered_by_the_weighted_mean() -> None:
    one = Evaluation(
        kernel_id="k",
        task_hash="t",
        device_class="hip/x",
        status=Status.PASSED,
        costs={"a": 1.0, "b": 1.0},
        gains=GAINS,
        weights=WEIGHTS,
    )
    assert one.over_seed == pytest.approx(4)
