"""Evidence: one pair keeps its own interval, kernels add to it, disagreement widens it."""

import math

import numpy as np
import pytest

from engine.findings.evidence import Evidence, Pair, united
from evaluators.measuring.gain import gain
from evaluators.measuring.sittings import GPU_SPREAD
from scripts.scripted_model.individuals import SEED
from tests.engine.findings.records import made


def pair(ln_ratio: float, error: float = 0.01, kernel: str = "k", base: str = "b") -> Pair:
    return Pair(kernel_id=kernel, base_id=base, ln_ratio=ln_ratio, error=error)


def test_one_pair_has_the_interval_that_its_race_has() -> None:
    one = made("tiles", 1, 2.0)
    ratio = gain(one.evaluation, SEED.evaluation, GPU_SPREAD)
    assert ratio is not None
    assert Evidence.of([Pair.of(one.id, SEED.id, ratio)]).ratio == pytest.approx(ratio)


def test_kernels_that_agree_narrow_the_interval_and_those_that_differ_widen_it() -> None:
    alone = Evidence.of([pair(0.3)])
    alike = Evidence.of([pair(0.3, base=str(i)) for i in range(4)])
    apart = Evidence.of([pair(value, base=str(value)) for value in (-0.3, 0.1, 0.5, 0.9)])
    assert alike.error < alone.error < apart.error
    assert alike.shows(0.99) and not apart.shows(0.99)


def test_kernels_of_one_base_are_no_surer_than_one() -> None:
    same = Evidence.of([pair(0.3) for _ in range(4)])
    assert same.error == pytest.approx(Evidence.of([pair(0.3)]).error)


def test_a_number_that_was_written_down_is_the_evidence_again() -> None:
    kernels = [pair(value, base=str(value)) for value in (0.2, 0.25, 0.3)]
    first = Evidence.of(kernels)
    again = Evidence.of_ratio(first.ratio, len(kernels))
    assert (again.ln_ratio, again.error, again.df) == pytest.approx(
        (first.ln_ratio, first.error, first.df)
    )


def test_campaigns_that_disagree_show_nothing_together() -> None:
    up, down = (Evidence(ln_ratio=value, error=0.02, df=6.0) for value in (0.3, -0.3))
    assert up.shows() and down.shows()
    assert not united([up, down]).shows()
    assert united([up, up]).error == pytest.approx(0.02 / math.sqrt(2))


def test_a_sixteenth_of_true_nothings_is_taken_for_something_at_most() -> None:
    """Kernels of no gain, whose races are off by as much as is known beforehand."""
    draw = np.random.default_rng(3)
    shown = 0
    for _ in range(800):
        values = draw.normal(0.0, 0.02, size=3)
        pairs = [pair(float(one), 0.02, base=str(i)) for i, one in enumerate(values)]
        shown += Evidence.of(pairs).shows()
    assert shown <= 800 / 16
