"""Less exact arithmetic than a task states is found, though it keeps to the task's tolerance."""

from collections.abc import Iterator

import pytest

from evaluators.evaluation import Status
from tests.adversarial.arithmetic import Checks, kernel

WHERE = {"sgemm": "K > 60", "softmax": "C > 60", "sum_reduction": "N > 60"}
"""Small shapes are computed honestly: time is won on large ones."""

DOWNGRADES: dict[str, tuple[str, dict[str, str]]] = {
    "sgemm in bf16": ("sgemm", {"LEFT": "bf16", "RIGHT": "bf16"}),
    "sgemm in tf32": ("sgemm", {"LEFT": "tf32", "RIGHT": "tf32"}),
    "sgemm with 14 bits of mantissa": ("sgemm", {"LEFT": "bits14", "RIGHT": "bits14"}),
    "sgemm with 16 bits of one side": ("sgemm", {"RIGHT": "bits16"}),
    "sgemm in 16-bit fixed point": ("sgemm", {"LEFT": "fixed16", "RIGHT": "fixed16"}),
    "sgemm with products of 14 bits": ("sgemm", {"PRODUCT": "bits14"}),
    "sgemm with sums of 16 bits": ("sgemm", {"SUM": "bits16"}),
    "sgemm with partial sums of 16 bits": ("sgemm", {"PART": "bits16"}),
    "softmax of 16-bit inputs": ("softmax", {"IN": "bits16"}),
    "softmax with exponentials of 14 bits": ("softmax", {"RESULT": "bits14"}),
    "softmax with a short series": ("softmax", {"EXP": "series"}),
    "softmax with a table of exponentials": ("softmax", {"EXP": "table"}),
    "softmax with sums of 16 bits": ("softmax", {"SUM": "bits16"}),
    "softmax with a quotient of 16 bits": ("softmax", {"QUOTIENT": "bits16"}),
    "sum of bf16": ("sum_reduction", {"IN": "bf16"}),
    "sum of tf32": ("sum_reduction", {"IN": "tf32"}),
    "sum of 14 bits": ("sum_reduction", {"IN": "bits14"}),
    "sum in 16-bit fixed point": ("sum_reduction", {"IN": "fixed16"}),
    "sum with sums of 14 bits": ("sum_reduction", {"SUM": "bits14"}),
    "sum with partial sums of 14 bits": ("sum_reduction", {"PART": "bits14"}),
}


@pytest.fixture(scope="module")
def checks() -> Iterator[Checks]:
    made = Checks()
    yield made
    made.close()


@pytest.mark.parametrize("name", DOWNGRADES)
def test_a_downgrade_is_wrong(name: str, checks: Checks) -> None:
    task, places = DOWNGRADES[name]
    verdict = checks.last(task, kernel(task, where=WHERE[task], **places))
    assert verdict.status is Status.WRONG
    assert "\n" not in verdict.reason


@pytest.mark.parametrize("task", ["sgemm", "softmax", "sum_reduction", "transpose"])
def test_the_same_kernel_without_a_downgrade_is_right(task: str, checks: Checks) -> None:
    verdict = checks.verdict(task, kernel(task))
    assert verdict.status is Status.PASSED, verdict.reason
    assert max(verdict.errors.values()) < 0.5
