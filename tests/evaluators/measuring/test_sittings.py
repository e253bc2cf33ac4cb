"""Intervals over sittings: they hold what varies between sittings and between runs."""

import math

import numpy as np
import pytest

from evaluators.measuring.intervals import Sittings, Spread, product
from evaluators.weights import EQUAL

SPREAD = Spread(sitting=0.02, distance=0.0, run=0.8)
Rng = np.random.Generator


def held(rng: Rng, mean: float, sitting_sd: float, count: int) -> list[dict[str, list[float]]]:
    """Sittings of four shapes; blocks in one differ by 1%, sittings by sitting_sd."""
    middles = mean + rng.normal(0, sitting_sd, count)
    return [
        {f"N={shape}": list(rng.normal(middle, 0.01, 6)) for shape in range(4)}
        for middle in middles
    ]


@pytest.mark.parametrize("sitting_sd", [0.01, 0.02, 0.05])
@pytest.mark.parametrize("count", [3, 6])
def test_a_later_measurement_lies_in_the_interval(sitting_sd: float, count: int) -> None:
    """Also where sittings, and runs, differ by more than was known beforehand."""
    rng = np.random.default_rng(5)
    inside = 0
    for _ in range(120):
        first, later = rng.normal(1.0, 0.8 * sitting_sd, 2)  # two runs
        low, high = Sittings(held(rng, first, sitting_sd, count), SPREAD, EQUAL).interval(
            0.95, later=True
        )
        inside += low < later + rng.normal(0, sitting_sd / 4) < high
    assert inside >= 0.9 * 120


def test_what_blocks_of_one_sitting_agree_on_is_not_believed() -> None:
    """The same 5% in every block of one sitting is no win, in six sittings it is one."""
    one = {f"N={shape}": [0.05, 0.0501, 0.0499] for shape in range(4)}
    assert not Sittings([one], SPREAD, EQUAL).wins()
    assert Sittings([one] * 6, SPREAD, EQUAL).wins()
    low, high = Sittings([one], SPREAD, EQUAL).interval(0.95)
    assert high - low > 0.1


def test_equals_do_not_win_and_a_true_gain_does() -> None:
    rng = np.random.default_rng(6)
    false = sum(Sittings(held(rng, 0.0, 0.02, 6), SPREAD, EQUAL).wins() for _ in range(200))
    found = sum(Sittings(held(rng, 0.08, 0.02, 6), SPREAD, EQUAL).wins() for _ in range(50))
    assert false <= 4 and found >= 45


def test_sides_exchanged_give_reciprocal_ratios() -> None:
    sittings = held(np.random.default_rng(7), 0.3, 0.02, 4)
    turned = [{label: [-v for v in values] for label, values in one.items()} for one in sittings]
    estimate, low, high = Sittings(sittings, SPREAD, EQUAL).ratio(0.95)
    back, back_low, back_high = Sittings(turned, SPREAD, EQUAL).ratio(0.95)
    assert back == pytest.approx(1 / estimate)
    assert back_low == pytest.approx(1 / high, rel=0.02)
    assert back_high == pytest.approx(1 / low, rel=0.02)


def test_far_apart_kernels_get_wider_intervals() -> None:
    far = Spread(sitting=0.02, distance=0.01, run=0.8)
    one = {"N=1": [3.0, 3.01, 2.99]}
    near, wide = (Sittings([one] * 3, spread, EQUAL).interval(0.95) for spread in (SPREAD, far))
    assert wide[1] - wide[0] > 1.3 * (near[1] - near[0])


def test_the_same_blocks_give_the_same_interval() -> None:
    sittings = held(np.random.default_rng(8), 0.1, 0.02, 3)
    first, again = (Sittings(sittings, SPREAD, EQUAL) for _ in range(2))
    assert first.ratio(0.99) == again.ratio(0.99)


def test_uncertainties_of_a_product_add_in_quadrature() -> None:
    estimate, low, high = product((2.0, 2.0 / 1.03, 2.0 * 1.03), (3.0, 3.0 / 1.04, 3.0 * 1.04))
    assert estimate == 6.0 and low * high == pytest.approx(36.0)
    assert math.log(high / 6.0) == pytest.approx(math.hypot(math.log(1.03), math.log(1.04)))
