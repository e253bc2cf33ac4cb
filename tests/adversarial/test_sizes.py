"""Kernels that are right on sizes of the remainders that a task states, and wrong on others."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import pytest

from evaluators.checks.disclosure import WITHHELD
from evaluators.device import backend
from evaluators.evaluate import Evaluator, TimingPolicy, compile_kernel
from evaluators.evaluation import Status, Verdict
from evaluators.tasks.task_file import load_task
from tests.adversarial.arithmetic import kernel
from tests.soaked import one_in

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
    "transpose that divides in single precision": (
        "transpose",
        """/*---
launches: [{kernel: transpose, grid: ["ceil_div(R * C, 256)"], block: [256], args: [x, y, R, C]}]
---*/
__global__ void transpose(const float* x, float* y, int R, int C) {
    int at = blockIdx.x * 256 + threadIdx.x;
    if (at >= R * C) return;
    int c = (int)(((float)at + 0.5f) * (1.0f / R)); // exact below 4 million elements
    y[at] = x[(at - c * R) * C + c];
}
""",
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


@pytest.mark.parametrize("what", one_in(4, SHORT))
def test_a_remainder_that_no_stated_size_has_is_met(what: str, judge: Judge) -> None:
    name, text = SHORT[what]
    assert text != kernel(name)
    verdict = judge(name, text)
    assert verdict.status is Status.WRONG
    assert "held-out shape, of which no more is told" in verdict.reason


@pytest.mark.parametrize("name", one_in(4, ["transpose", "sgemm", "softmax", "sum_reduction"]))
def test_the_honest_twin_is_right_on_all_of_them(name: str, judge: Judge) -> None:
    verdict = judge(name, kernel(name))
    assert verdict.passed, verdict.reason


# --- sizes that only a kernel's own conditions tell apart -----------------------------------------

WINDOW = """/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - {kernel: total, grid: ["min(ceil_div(N, 64 * U), 256)"], block: [64], args: [x, out, N]}
  - {kernel: tail, when: "TAIL", grid: [1], block: [1], args: [x, out, N]}
params: {U: 4}
variants: [{when: "N > 120000 and N < 1900000", params: {U: 8}}]
---*/
__global__ void tail(const float* x, float* out, int N) {
    for (int i = N / U * U; i < N; ++i) out[0] += x[i];
}
__global__ void total(const float* x, float* out, int N) {
    float mine = 0;
    for (int i = blockIdx.x * 64 + threadIdx.x; i < N / U; i += gridDim.x * 64)
        for (int u = 0; u < U; ++u) mine += x[i * U + u];
    __shared__ float part[64];
    part[threadIdx.x] = mine;
    for (int w = 32; w > 0; w /= 2) {
        __syncthreads();
        if (threadIdx.x < w) part[threadIdx.x] += part[threadIdx.x + w];
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
"""


def test_a_variant_for_sizes_that_no_checked_shape_has_is_met(judge: Judge) -> None:
    verdict = judge("sum_reduction", WINDOW.replace("TAIL", "N % U > 0 and U < 8"))
    assert verdict.status is Status.WRONG
    assert "held-out shape, of which no more is told" in verdict.reason


@pytest.mark.soak
def test_the_honest_variant_is_right_there(judge: Judge) -> None:
    verdict = judge("sum_reduction", WINDOW.replace("TAIL", "N % U > 0"))
    assert verdict.passed, verdict.reason


# --- holes between all stated and derived sizes ---------------------------------------------------

HOLES = {
    "transpose that leaves the last rows of some sizes": (
        "transpose",
        TRANSPOSE.replace(
            "row < R &&",
            "row < R && !(R > 128 && R % 128 / 4 == 25 && row >= R / 128 * 128 + 96) &&",
        ),
    ),
    "softmax that leaves the last of some long rows": (
        "softmax",
        SOFTMAX.replace(
            "for (int i = 0; i < C; ++i) {",
            "for (int i = 0; i < C - (C > 128 && C % 64 / 4 == 13); ++i) {",
        ),
    ),
    "sum that leaves the last of some vectors": (
        "sum_reduction",
        SUM.replace("i < N;", "i < N - (N > 128 && N % 128 / 8 == 9);"),
    ),
    "sgemm that leaves the last of some sums": (
        "sgemm",
        SGEMM.replace("k < K;", "k < K - (K > 130 && K % 128 / 8 == 3);"),
    ),
}


@pytest.fixture(scope="module")
def sweep() -> Iterator[Judge]:
    """The held-out shapes of a thorough evaluation, without unusual values."""
    device = backend("cpu").open_device(0)
    policy = TimingPolicy(thorough=True)

    @cache
    def evaluator(name: str) -> Evaluator:
        task = replace(load_task(name), values=())
        return Evaluator(task=task, device=device, secret=5, policy=policy)

    def verdict(name: str, text: str) -> Verdict:
        built = compile_kernel(text, load_task(name), backend("cpu").compiler(), "cpu")
        return evaluator(name).verify(*built, "held_out")

    yield verdict
    device.close()


@pytest.mark.parametrize("what", one_in(4, HOLES))
def test_a_hole_between_the_sizes_is_met(what: str, sweep: Judge) -> None:
    name, text = HOLES[what]
    assert text != kernel(name)
    verdict = sweep(name, text)
    assert verdict.status is Status.WRONG
    assert verdict.reason == WITHHELD


@pytest.mark.parametrize("name", one_in(4, ["transpose", "sgemm", "softmax", "sum_reduction"]))
def test_the_honest_twin_has_none(name: str, sweep: Judge) -> None:
    verdict = sweep(name, kernel(name))
    assert verdict.passed, verdict.reason
