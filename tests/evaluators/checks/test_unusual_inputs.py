"""Inputs with unusual values, of more elements than are changed at a time."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evaluators.checks.compare import ELEMENTS, in_pieces
from evaluators.checks.unusual_inputs import unusual
from evaluators.tasks.task_file import load_task

Array = np.ndarray[Any, Any]

ROWS, COLUMNS = 640, 3 * ELEMENTS // 640
FACTOR = 8.0


def _share(places: Array) -> float:
    return float(np.mean(places))


def _spikes(before: Array, after: Array) -> None:
    moved = before != after
    assert 0.005 < _share(moved) < 0.011
    assert np.array_equal(after[moved], before[moved] * np.float32(FACTOR))


def _large(before: Array, after: Array) -> None:
    assert np.array_equal(after, before * np.float32(FACTOR))


def _small(before: Array, after: Array) -> None:
    assert np.array_equal(after, before * np.float32(FACTOR))  # all stay normal


def _denormals(before: Array, after: Array) -> None:
    assert 0 < np.abs(after).max() < np.finfo(np.float32).tiny
    assert np.array_equal(np.sign(after[after != 0]), np.sign(before[after != 0]))


def _signed_zeros(before: Array, after: Array) -> None:
    zeros = after == 0
    assert 0.2 < _share(zeros) < 0.35
    assert 0.45 < _share(np.signbit(after[zeros])) < 0.55
    assert np.array_equal(after[~zeros], before[~zeros])


def _nan(before: Array, after: Array) -> None:
    nan = np.isnan(after)
    assert 0.002 < _share(nan) < 0.004
    bits = after[nan].view(np.uint32)
    assert 0.3 < _share(bits >> 31) < 0.7 and (bits >> 22 & 1).all()  # both signs, all quiet
    assert len(np.unique(bits)) > len(bits) // 2
    assert np.array_equal(after[~nan], before[~nan])


def _infinity(before: Array, after: Array) -> None:
    infinite = np.isinf(after)
    assert 0.002 < _share(infinite) < 0.004
    assert 0.3 < _share(after[infinite] > 0) < 0.7
    assert np.array_equal(after[~infinite], before[~infinite])


def _cancellation(before: Array, after: Array) -> None:
    half = COLUMNS // 2
    left = np.abs(after[:, :half] + after[:, half : 2 * half])
    assert 0 < left.max() < 0.01 * np.abs(before).max()
    assert np.array_equal(after[:, :half], before[:, :half])


def _offset(before: Array, after: Array) -> None:
    apart = after.astype(np.float64) - before
    assert np.ptp(apart, axis=1).max() < 1e-4
    assert np.abs(apart[:, 0]).min() >= FACTOR - 1e-4
    assert (apart[:, 0] > 0).any() and (apart[:, 0] < 0).any()


@pytest.mark.parametrize(
    ("values", "check"),
    [
        (check.__name__[1:], check)
        for check in (
            _spikes,
            _large,
            _small,
            _denormals,
            _signed_zeros,
            _nan,
            _infinity,
            _cancellation,
            _offset,
        )
    ],
)
def test_values_are_what_their_class_says(
    values: str, check: Callable[[Array, Array], None]
) -> None:
    argument = load_task("softmax").arguments[0]
    rng = np.random.default_rng(0)
    before = rng.standard_normal((ROWS, COLUMNS), dtype=np.float32)
    factor = 2.0**-20 if values == "small" else FACTOR
    kept = before.copy()
    found = unusual((argument,), {argument.name: before}, values, factor, rng, nan_signs=True)
    after = found[argument.name]
    assert after.dtype == np.float32 and np.array_equal(before, kept)
    check(before * np.float32(factor / FACTOR) if values == "small" else before, after)


def test_values_are_rounded_through_the_type_that_they_are_drawn_through() -> None:
    given = load_task("softmax").arguments[0]
    argument = replace(given, distribution=replace(given.distribution, through="bfloat16"))
    before = np.full((4, 4), 1.0078125, np.float32)  # 1 + 2**-7, which bfloat16 holds
    found = unusual(
        (argument,), {"x": before}, "large", 3.0, np.random.default_rng(0), nan_signs=False
    )
    assert (found["x"] == np.float32(3.03125)).all()  # of 3.0234375, halfway to the even one


def test_pieces_of_contiguous_arrays_are_views_in_any_order_of_axes() -> None:
    rows = np.arange(3.0 * ELEMENTS).reshape(3, -1)
    for array in (rows, rows.T):
        assert all(np.shares_memory(piece, rows) for (piece,) in in_pieces(array))
    one, other = rows.T, rows.T.copy()  # alike to the eye, not in memory
    assert all(np.array_equal(a, b) for a, b in in_pieces(one, other))
    assert sum(piece.size for (piece,) in in_pieces(rows[:, 1:])) == rows.size - 3
    assert list(in_pieces(np.empty((0, 5)))) == []
