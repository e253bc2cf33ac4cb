"""Kernels that are right on friendly values only are found by the classes that a task states."""

from collections.abc import Iterator

import pytest

from evaluators.evaluation import Status
from tests.adversarial.arithmetic import Checks, kernel

CHEATS: dict[str, tuple[str, dict[str, str]]] = {
    "softmax without its maximum": ("softmax", {"LARGEST": "0.0f"}),
    "softmax less the first element": ("softmax", {"LARGEST": "in[0]"}),
    "softmax of bounded inputs": ("softmax", {"IN": "bounded"}),
    "softmax with the smallest cut off": ("softmax", {"EXP": "limited"}),
    "sgemm with clamped products": ("sgemm", {"PRODUCT": "clamped"}),
    "sgemm of clamped inputs": ("sgemm", {"LEFT": "clamped", "RIGHT": "clamped"}),
    "sgemm with bounded sums": ("sgemm", {"SUM": "bounded"}),
    "sum of clamped elements": ("sum_reduction", {"IN": "clamped"}),
    "sum without NaN": ("sum_reduction", {"IN": "numbers"}),
    "transpose that loses the sign of zero": ("transpose", {"VALUE": "v + 0.0f"}),
    "transpose that loses a NaN's payload": (
        "transpose",
        {"VALUE": "v == v ? v : __int_as_float(0x7fc00000)"},
    ),
    "transpose that flushes denormals": ("transpose", {"VALUE": "fabsf(v) < 1.2e-38f ? 0 * v : v"}),
    "transpose that bounds its elements": ("transpose", {"VALUE": "v != v ? v : bounded(v)"}),
}


@pytest.fixture(scope="module")
def checks() -> Iterator[Checks]:
    made = Checks()
    yield made
    made.close()


@pytest.mark.parametrize("name", CHEATS)
def test_a_kernel_for_friendly_values_is_wrong(name: str, checks: Checks) -> None:
    task, places = CHEATS[name]
    verdict = checks.verdict(task, kernel(task, **places))
    assert verdict.status is Status.WRONG
    assert "\n" not in verdict.reason
