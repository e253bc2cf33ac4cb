"""Budgets of error: honest kernels keep within limits that were measured on other draws."""

import numpy as np
import pytest

from evaluators.checks.budget import Error, limit_of
from evaluators.checks.compare import compare

RTOL, ATOL = 1e-5, 1.5e-5
"""As a sum of 64 random numbers has them."""


def of_a_sum(rng: np.random.Generator, count: int) -> Error:
    """Of adding float32 numbers one after another."""
    x = rng.uniform(-1, 1, count).astype(np.float32)
    made = np.cumsum(x, dtype=np.float32)[-1:]
    exact = x.astype(np.float64).sum(keepdims=True)
    compared = compare(made, exact, rtol=RTOL, atol=ATOL)
    return Error(largest=compared.error, rms=compared.rms, ulp=compared.ulp)


@pytest.mark.parametrize("count", [3, 64, 1000])
def test_single_sums_keep_within_the_limit_of_six_others(count: int) -> None:
    """What goes beyond an ulp of one says little: limits of that refused two or three of these."""
    rng = np.random.default_rng(2)
    for _ in range(2000):
        limit = limit_of([of_a_sum(rng, count) for _ in range(6)], few=True)
        found = of_a_sum(rng, count)
        assert found.rms <= limit.rms and found.largest <= limit.largest


def test_a_sum_that_was_rounded_to_14_bits_does_not() -> None:
    rng = np.random.default_rng(7)
    limit = limit_of([of_a_sum(rng, 64) for _ in range(6)], few=True)
    exact = np.array([3.7])
    coarse = np.round(exact * 2.0**12) / 2.0**12 + 2.0**-13
    compared = compare(coarse.astype(np.float32), exact, rtol=RTOL, atol=ATOL)
    assert compared.rms > limit.rms
