"""Comparison with the reference, and the words in which a wrong kernel is told."""

import math

import ml_dtypes
import numpy as np
import pytest

from evaluators.checks.compare import (
    ELEMENTS,
    UNWRITTEN,
    check_agreement,
    check_limits,
    check_output,
    compare,
)
from evaluators.checks.disclosure import on
from evaluators.checks.region import poison_byte
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import LaunchStep, Plan
from evaluators.tasks.arguments import Argument, Workload
from evaluators.tasks.task_file import load_task

TASK = load_task("sgemm")
C = TASK.outputs[0]
WORKLOAD = Workload(dims={"M": 64, "N": 64, "K": 64}, suite="tests")


def reason_of(argument: Argument, out: np.ndarray, reference: np.ndarray) -> Rejected:
    with pytest.raises(Rejected) as caught, on(WORKLOAD):
        check_output(argument, WORKLOAD, out, reference)
    assert caught.value.status is Status.WRONG
    return caught.value


def reference() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(64, 64)) + 4.0


def test_right_output_has_an_error_below_one() -> None:
    expected = reference()
    error = check_output(C, WORKLOAD, expected.astype(np.float32), expected)
    assert 0 <= error.largest == error.fraction < 0.01


def test_tolerance_is_absolute_plus_relative() -> None:
    expected = np.array([0.0, 100.0])
    assert compare(np.array([0.5, 100.5]), expected, rtol=0.01, atol=0.5).error == 1.0
    beyond = compare(np.array([0.6, 101.4]), expected, rtol=0.01, atol=0.5)
    assert beyond.wrong.tolist() == [True, False]


def test_zero_tolerance_means_equal() -> None:
    expected = np.array([1.0, 2.0])
    assert compare(np.array([1.0, 2.0]), expected, rtol=0, atol=0).error == 0
    assert compare(np.array([1.0, 2.0000001]), expected, rtol=0, atol=0).error == np.inf


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_count_only_where_the_reference_has_them(value: float) -> None:
    finite, odd = np.array([1.0, 2.0]), np.array([1.0, value])
    assert compare(odd, odd, rtol=1e-4, atol=1e-4).error == 0
    assert compare(odd, finite, rtol=1e-4, atol=1e-4).wrong.tolist() == [False, True]
    assert compare(finite, odd, rtol=1e-4, atol=1e-4).wrong.tolist() == [False, True]
    assert compare(-odd, odd, rtol=1, atol=1).wrong[1] == (not np.isnan(value))


def test_integers_are_compared_exactly() -> None:
    expected = np.array([2**40, -5], dtype=np.int64)
    assert compare(np.array([-5], np.int32), expected[1:], rtol=0, atol=0).error == 0
    assert compare(np.array([-4], np.int32), expected[1:], rtol=0, atol=0).wrong.all()


def test_float8_is_compared_by_value() -> None:
    out = np.array([1.0, 2.0], dtype=ml_dtypes.float8_e4m3fnuz)
    assert compare(out, np.array([1.0, 2.1]), rtol=0.07, atol=0).error < 1


@pytest.mark.parametrize("place", [0, ELEMENTS - 1, ELEMENTS, 3 * ELEMENTS + 4])
def test_of_large_outputs_every_element_counts(place: int) -> None:
    """They are compared a piece at a time."""
    expected = np.linspace(1.0, 2.0, 3 * ELEMENTS + 5)
    out = expected.astype(np.float32)
    right = compare(out, expected, rtol=1e-6, atol=0)
    assert right.error < 0.1 and not right.wrong.any()
    out[place] += 0.01
    found = compare(out, expected, rtol=1e-6, atol=0)
    assert np.flatnonzero(found.wrong).tolist() == [place]
    assert found.error == pytest.approx(0.01 / (1e-6 * expected[place]), rel=1e-3)
    assert found.rms == pytest.approx(found.error / math.sqrt(expected.size), rel=1e-3)
    assert found.ulp == right.ulp
    out[place] = np.nan
    assert np.flatnonzero(compare(out, expected, rtol=1e-6, atol=0).wrong).tolist() == [place]


def test_a_wrong_element_is_shown_with_its_place_and_the_count() -> None:
    expected = np.full((64, 64), 1.25)
    rejected = reason_of(C, np.zeros((64, 64), np.float32), expected)
    assert rejected.reason == (
        "c[0, 0] is 0, expected 1.25 (4096 of 4096 elements wrong) on M=64 N=64 K=64"
    )


def test_the_log_tells_where_the_wrong_elements_lie() -> None:
    expected = reference()
    out = expected.astype(np.float32)
    out[48:, 32:40] = 0
    rejected = reason_of(C, out, expected)
    assert rejected.reason.startswith("c[48, 32] is 0, expected ")
    assert "(128 of 4096 elements wrong)" in rejected.reason
    assert "all wrong elements lie in c[48:64, 32:40]" in rejected.log


def test_an_output_never_written_is_called_so() -> None:
    poisoned = np.full(64 * 64 * 4, poison_byte(C.np_dtype), np.uint8).view(np.float32)
    rejected = reason_of(C, poisoned.reshape(64, 64), reference())
    assert rejected.reason == f"c {UNWRITTEN} (all 4096 elements) on M=64 N=64 K=64"


def test_a_part_never_written_is_counted() -> None:
    expected = reference()
    out = expected.astype(np.float32)
    out.view(np.uint8).reshape(64, 256)[63] = poison_byte(C.np_dtype)
    rejected = reason_of(C, out, expected)
    assert rejected.reason.startswith(f"c[63, 0] {UNWRITTEN} (64 of 4096 elements)")


def test_a_computed_nan_is_wrong_and_not_called_unwritten() -> None:
    expected = reference()
    out = expected.astype(np.float32)
    out[3, 17] = np.nan
    rejected = reason_of(C, out, expected)
    assert rejected.reason.startswith("c[3, 17] is nan, expected ")


def test_lower_precision_than_the_task_states_is_wrong() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.uniform(-1, 1, (64, 512)), rng.uniform(-1, 1, (512, 64))
    a, b = a.astype(np.float32), b.astype(np.float32)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    workload = Workload(dims={"M": 64, "N": 64, "K": 512}, suite="tests")
    check_output(C, workload, a @ b, exact)
    short = a.astype(ml_dtypes.bfloat16).astype(np.float32) @ b
    with pytest.raises(Rejected, match="elements wrong"):
        check_output(C, workload, short, exact)


def test_two_runs_must_agree() -> None:
    expected = reference()
    first = expected.astype(np.float32)
    check_agreement(C, WORKLOAD, first, first.copy(), expected)
    check_agreement(C, WORKLOAD, first, np.nextafter(first, np.float32(9)), expected)
    second = first.copy()
    second[1, 2] += np.float32(0.1)
    with pytest.raises(Rejected, match=r"c\[1, 2\] differs between two runs on the same input"):
        check_agreement(C, WORKLOAD, first, second, expected)


INFO = DeviceInfo(
    backend="cpu",
    judges_on_device=False,
    private_process=False,
    name="any",
    arch="x86-64",
    engine="cpu-fission",
    compiler="g++ 12",
    wavefront=64,
    lds_bytes=65536,
    max_threads=1024,
    cache_bytes=1 << 25,
)


def plan(block: tuple[int, int, int], lds_bytes: int, scratch_bytes: int = 4) -> Plan:
    step = LaunchStep(entry="k", grid=(1, 1, 1), block=block, lds_bytes=lds_bytes, args=())
    return Plan(defines=(), steps=(step,), prepare=(), scratch={"s": scratch_bytes})


def test_limits_are_checked_before_anything_is_launched() -> None:
    check_limits(plan((32, 32, 1), 65536), INFO)
    with pytest.raises(Rejected, match="a block of 2048 threads, the limit is 1024") as caught:
        check_limits(plan((64, 32, 1), 0), INFO)
    assert caught.value.status is Status.LAUNCH_ERROR
    with pytest.raises(Rejected, match="65540 bytes of dynamic LDS, the limit is 65536"):
        check_limits(plan((1, 1, 1), 65540), INFO)
    with pytest.raises(Rejected, match="274,877,906,944 bytes of scratch, the limit is"):
        check_limits(plan((1, 1, 1), 0, 2**38), INFO)
