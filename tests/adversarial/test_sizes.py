"""Kernels that are right on sizes of the remainders that a task states, and wrong on others."""

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from evaluators.device import backend
from evaluators.evaluate import Evaluator, compile_kernel
from evaluators.evaluation import Status, Verdict
from evaluators.tasks.task_file import load_task
from tests.adversarial.arithmetic import kernel

Judge = Callable[[str, str], Verdict]

SGEMM, SOFTMAX, TRANSPOSE = kernel("sgemm"), kernel("softmax"), kernel("transpose")
SUM = kernel("sum_reduction")

SHORT = {
    "sgemm that takes one element of K's tail": (
        "sgemm",
        SGEMM.replace("k < K;", "k < K / 4 * 4 + (K % 4 ? 1 : 0);"),
    ),
    "sgemm that leaves K's tail of three": (
        "sgemm",
        SGEMM.replace("k < K;", "k < K - (K % 4 == 3);"),
    ),
    "softmax that leaves the last of a row": (
        "softmax",
        SOFTMAX.replace(
            "for (int i = 0; i < C; ++i) {", "for (int i = 0; i < C - (C % 4 == 2); ++i) {"
        ),
    ),
    "transpose that leaves the last column": (
        "transpose",
        TRANSPOSE.replace("col < C)", "col < C - (C % 4 == 2))"),
    ),
    "transpose that leaves the last row": (
        "transpose",
        TRANSPOSE.replace("row < R &&", "row < R - (R % 4 == 2) &&"),
    ),
    "sum that leaves the last two": (
        "sum_reduction",
        SUM.replace("i < N;", "i < N - 2 * (N % 4 == 2);"),
    ),
}


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    device = backend("cpu").open_device(0)
    compiler = backend("cpu").compiler()

    @cache
    def evaluator(name: str) -> Evaluator:
        return Evaluator(task=load_task(name), device=device, secret=5)

    def verdict(name: str, text: str) -> Verdict:
        """On tests, benchmarks' sizes aside, and held-out shapes."""
        built, compiled = compile_kernel(text, evaluator(name).task, compiler, "cpu")
        told = evaluator(name).verify(built, compiled, "tests")
        assert told.passed, told.reason
        return evaluator(name).verify(built, compiled, "held_out")

    yield verdict
    device.close()


@pytest.mark.parametrize("what", SHORT)
def test_a_remainder_that_no_stated_size_has_is_met(what: str, judge: Judge) -> None:
    name, text = SHORT[what]
    assert text != kernel(name)
    verdict = judge(name, text)
    assert verdict.status is Status.WRONG
    assert "held-out shape, of which no more is told" in verdict.reason


@pytest.mark.parametrize("name", ["sgemm", "softmax", "transpose", "sum_reduction"])
def test_the_honest_twin_is_right_on_all_of_them(name: str, judge: Judge) -> None:
    verdict = judge(name, kernel(name))
    assert verdict.passed, verdict.reason
