"""Landscape: measurements speak for their surroundings, and only for those."""

from dataclasses import replace

import numpy as np
import pytest

from evaluators.evaluation import Status
from operators.catalog.families import families, random_params
from operators.catalog.landscape import BEST, LATEST, Key, Landscape, key_of, known_points
from operators.individual import Candidate, Individual
from tests.operators.examples import SGEMM, individual

KNOWN = families(SGEMM)
SOURCE = KNOWN.sources["gemm_tile"]


def point(**params: int) -> Key:
    return key_of(SOURCE, {**SOURCE.params, **params})


def tile(speedup: float, **params: int) -> Individual:
    return individual(KNOWN.render("gemm_tile", params).text, speedup)


def test_without_measurements_nothing_is_expected() -> None:
    gains = Landscape([]).gains(point(), [point(TM=8), point(TM=8, TN=32)])
    assert list(gains.mean) == [0, 0]
    np.testing.assert_allclose(gains.deviation, gains.prior)
    assert gains.prior[1] > gains.prior[0] > 0


def test_measured_gains_are_recovered() -> None:
    measured = [tile(2.0), tile(6.0, TM=8), tile(1.0, TM=1)]
    gains = Landscape(measured).gains(point(), [point(TM=8), point(TM=1)])
    np.testing.assert_allclose(np.exp(gains.mean), [3.0, 0.5], rtol=0.1)
    assert all(gains.deviation < 0.25 * gains.prior)


def test_neighbours_share_in_what_was_measured_and_strangers_less() -> None:
    measured = [tile(2.0), tile(8.0, TM=8)]
    near, far = point(TM=8, KU=2), point(TM=8, TN=64, BX=1, BY=1, KU=8, ORDER=2)
    gains = Landscape(measured).gains(point(), [near, far])
    assert gains.mean[0] > gains.mean[1] > 0
    assert gains.deviation[0] < gains.deviation[1]


def test_another_family_counts_where_parameters_are_shared() -> None:
    split = KNOWN.sources["gemm_split"]
    measured = [tile(2.0), tile(9.0, TM=8)]
    before = key_of(split, split.params)
    gains = Landscape(measured).gains(before, [key_of(split, {**split.params, "TM": 8})])
    assert gains.mean[0] > 0.3


def test_what_was_stopped_early_counts_as_slow() -> None:
    slow = tile(1.0, TN=1)
    stopped = replace(
        slow,
        evaluation=replace(
            slow.evaluation,
            status=Status.STOPPED_EARLY,
            reason="slower",
            times_us={},
            speedup=None,
        ),
    )
    gains = Landscape([tile(4.0), tile(5.0, TM=8), stopped]).gains(point(), [point(TN=1)])
    assert gains.mean[0] < -0.5


def test_what_does_not_parse_is_left_out() -> None:
    broken = replace(individual(SGEMM.naive), candidate=Candidate.from_source("int main() {}"))
    assert known_points([broken]) == set()
    gains = Landscape([broken]).gains(point(), [point(TM=8)])
    assert gains.mean[0] == 0


def test_the_best_and_the_latest_are_used() -> None:
    """However long a campaign, an operator answers at once; early records are not forgotten."""
    record = tile(50.0, TM=8, TN=32)
    space = [(tm, ku, bx) for tm in (1, 2, 3, 4) for ku in (1, 2, 4, 8) for bx in (1, 2, 4, 8, 16)]
    later = [tile(2.0, TM=tm, KU=ku, BX=bx) for tm, ku, bx in space]
    assert len(later) > BEST + LATEST
    gains = Landscape([record, *later]).gains(point(), [point(TM=8, TN=32)])
    assert gains.mean[0] > 1.0


def test_samples_follow_the_means_and_stay_in_range() -> None:
    measured = [tile(2.0), tile(9.0, TM=8), tile(0.5, TM=1), tile(9.0, TM=6)]
    gains = Landscape(measured).gains(point(), [point(TM=1), point(TM=8), point(TM=12)])
    rng = np.random.default_rng(0)
    drawn = [gains.sample(rng, 0, 2) for _ in range(200)]
    assert drawn.count(1) > 190
    assert {gains.sample(rng, 1, 3) for _ in range(200)} == {0, 1}


@pytest.mark.parametrize("count", [0, 1, 200])
def test_it_can_be_asked_of_no_point(count: int) -> None:
    assert Landscape([tile(1.0)] * count).gains(point(), []).mean.shape == (0,)


def test_points_of_all_families_have_a_covariance() -> None:
    """No variance below nothing: parameters that a family lacks once broke the distances."""
    rng = np.random.default_rng(3)
    sources = list(KNOWN.sources.values())
    points = [key_of(one, random_params(one, rng)) for one in sources for _ in range(12)]
    measured = [
        individual(sources[0].text, 1.0),
        *(individual(one.with_params(random_params(one, rng)).text, 5.0) for one in sources),
    ]
    gains = Landscape(measured).gains(points[0], points[1:])
    assert all(gains.deviation <= gains.prior + 1e-9)
    covariance = Landscape([])._covariance(points, points)
    assert np.linalg.eigvalsh(covariance).min() > -1e-9
