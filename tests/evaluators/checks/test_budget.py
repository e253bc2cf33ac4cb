"""Budgets of error: honest kernels keep within limits that were measured on other draws."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from evaluators.checks.budget import Error, limit_of
from evaluators.checks.compare import compare


def of_a_sum(rng: np.random.Generator, count: int) -> Error:
    """Of adding float32 numbers one after another, in units of sum_reduction's tolerance."""
    x = rng.uniform(-1, 1, count).astype(np.float32)
    made = np.cumsum(x, dtype=np.float32)[-1:]
    exact = x.astype(np.float64).sum(keepdims=True)
    compared = compare(made, exact, rtol=1e-5, atol=1e-5 + 8e-8 * count)
    return Error(largest=compared.error, rms=compared.rms, ulp=compared.ulp)


@pytest.mark.parametrize("count", [3, 64, 1000])
def test_single_sums_keep_within_the_limit_of_twelve_others(count: int) -> None:
    """What goes beyond an ulp of one says little: limits of six of those refused two of these."""
    rng = np.random.default_rng(2)
    for _ in range(2000):
        limit = limit_of([of_a_sum(rng, count) for _ in range(12)], few=True)
        found = of_a_sum(rng, count)
        assert found.rms <= limit.rms and found.largest <= limit.largest


def test_a_sum_that_was_rounded_to_14_bits_does_not() -> None:
    rng = np.random.default_rng(7)
    limit = limit_of([of_a_sum(rng, 64) for _ in range(6)], few=True)
    exact = np.array([3.7])
    coarse = np.round(exact * 2.0**12) / 2.0**12 + 2.0**-13
    compared = compare(coarse.astype(np.float32), exact, rtol=1e-5, atol=1.5e-5)
    assert compared.rms > limit.rms


Array = np.ndarray[Any, Any]
NARROW = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]


def error_of(made: Array, exact: Array, dtype: np.dtype[Any]) -> Error:
    compared = compare(made.astype(dtype), exact, rtol=2e-2, atol=1e-3)
    return Error(largest=compared.error, rms=compared.rms, ulp=compared.ulp)


def gelu(v: Array) -> Array:
    made: Array = 0.5 * v * (1 + np.tanh(0.7978845608 * (v + 0.044715 * v**3)))
    return made


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_narrow_outputs_may_be_rounded_once_more_on_the_way(dtype: np.dtype[Any]) -> None:
    """As frameworks do: a bias is added in the type that x has, before an activation."""
    rng = np.random.default_rng(3)
    x, bias = (rng.normal(size=(64, 64)).astype(dtype).astype(np.float64) for _ in range(2))
    exact = gelu(x + bias)
    limit = limit_of([error_of(exact.astype(np.float32), exact, dtype)])
    found = error_of(gelu((x + bias).astype(dtype).astype(np.float64)), exact, dtype)
    assert found.rms <= limit.rms and found.largest <= limit.largest


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_sums_that_are_kept_in_a_narrow_type_are_found(dtype: np.dtype[Any]) -> None:
    rng = np.random.default_rng(4)
    a, b = (rng.normal(size=(64, 256)).astype(dtype).astype(np.float64) for _ in range(2))
    exact = (a * b).sum(axis=1)
    limit = limit_of([error_of(exact.astype(np.float32), exact, dtype)])
    made = np.zeros(64, dtype=dtype)
    for k in range(256):
        made = (made.astype(np.float64) + a[:, k] * b[:, k]).astype(dtype)
    assert error_of(made, exact, dtype).rms > limit.rms
