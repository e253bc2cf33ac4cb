"""Kernels that are right on friendly values only are found by the classes that a task states."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluators.device import backend
from evaluators.evaluation import Status
from tests.adversarial.arithmetic import Checks, kernel
from tests.adversarial.timed_task import Contest, write_task
from tests.adversarial.timed_task import kernel as timed_kernel
from tests.soaked import one_in

CHEATS: dict[str, tuple[str, dict[str, str]]] = {
    "softmax without its maximum": ("softmax", {"LARGEST": "0.0f"}),
    "softmax less the first element": ("softmax", {"LARGEST": "in[0]"}),
    "softmax of bounded inputs": ("softmax", {"IN": "bounded"}),
    "softmax with the smallest cut off": ("softmax", {"EXP": "limited"}),
    "sgemm with clamped products": ("sgemm", {"PRODUCT": "clamped"}),
    "sgemm of clamped inputs": ("sgemm", {"LEFT": "clamped", "RIGHT": "clamped"}),
    "sgemm with bounded sums": ("sgemm", {"SUM": "bounded"}),
    "sgemm that takes small elements for none": ("sgemm", {"LEFT": "sizeable"}),
    "sum in fixed point": ("sum_reduction", {"IN": "fixed24"}),
    "sum of clamped elements": ("sum_reduction", {"IN": "clamped"}),
    "sum without NaN": ("sum_reduction", {"IN": "numbers"}),
    "transpose that loses the sign of zero": ("transpose", {"VALUE": "v + 0.0f"}),
    "transpose that loses a NaN's payload": (
        "transpose",
        {"VALUE": "v == v ? v : __int_as_float(0x7fc00000)"},
    ),
    "transpose that loses a NaN's sign": (
        "transpose",
        {"VALUE": "v == v ? v : __int_as_float(__float_as_int(v) & 0x7fffffff)"},
    ),
    "transpose that flushes denormals": ("transpose", {"VALUE": "fabsf(v) < 1.2e-38f ? 0 * v : v"}),
    "transpose that takes small elements for none": (
        "transpose",
        {"VALUE": "fabsf(v) > 1e-30f ? sizeable(v) : v"},
    ),
    "transpose that bounds its elements": ("transpose", {"VALUE": "v != v ? v : bounded(v)"}),
}


@pytest.fixture(scope="module")
def checks() -> Iterator[Checks]:
    made = Checks()
    yield made
    made.close()


@pytest.mark.parametrize("name", one_in(2, CHEATS))
def test_a_kernel_for_friendly_values_is_wrong(name: str, checks: Checks) -> None:
    task, places = CHEATS[name]
    verdict = checks.last(task, kernel(task, **places))
    assert verdict.status is Status.WRONG
    assert "\n" not in verdict.reason


# --- on large shapes only -------------------------------------------------------------------------

LARGE: dict[str, tuple[str, dict[str, str]]] = {
    "softmax without its maximum": ("softmax", {"LARGEST": "(R * C >= 16384 ? 0.0f : largest)"}),
    "softmax of bounded inputs": (
        "softmax",
        {"IN": "(R * C < 16384) ? same : bounded"},
    ),
    "softmax that takes its maximum where sums overflow or vanish": (
        "softmax",
        {"LARGEST": "(R * C < 16384 || lazy ? largest : 0.0f)"},
    ),
    "transpose without NaN": ("transpose", {"VALUE": "R * C < 100000 || v == v ? v : 0.0f"}),
    "transpose that bounds its elements": (
        "transpose",
        {"VALUE": "R * C < 100000 || !(fabsf(v) > 50.0f) ? v : 50.0f"},
    ),
}
"""Right on every shape of the tests."""

LAZILY = """
    float all = 0.0f;
    for (int i = 0; i < C; ++i) all += expf(in[i]);
    const bool lazy = !(all > LEAST && all < MOST);
"""
"""Whether a row needs its largest element: too late just below the least normal float32."""


def large(name: str) -> tuple[str, str]:
    task, places = LARGE[name]
    if "IN" in places:  # a call of either
        chosen = "#define IN(x) (R * C < 16384 ? same(x) : bounded(x))\n"
        return task, kernel(task).replace("#define IN same\n", chosen)
    text = kernel(task, **places)
    return task, with_lazily(text, "0.0f", "INFINITY")


def with_lazily(text: str, least: str, most: str) -> str:
    looked = LAZILY.replace("LEAST", least).replace("MOST", most)
    return text.replace("    float largest", looked + "    float largest", 1)


@pytest.mark.parametrize("name", one_in(6, LARGE))
def test_so_it_is_on_held_out_shapes(name: str, checks: Checks) -> None:
    task, text = large(name)
    assert checks.verdict(task, text).passed
    verdict = checks.verdict(task, text, "held_out")
    assert verdict.status is Status.WRONG
    assert "held-out shape, of which no more is told" in verdict.reason


def test_so_is_a_sum_of_large_vectors_that_leaves_nan_out(checks: Checks) -> None:
    task, text = "sum_reduction", kernel("sum_reduction", where="N > 200000", IN="numbers")
    assert checks.verdict(task, text).passed
    assert checks.verdict(task, text, "held_out").status is Status.WRONG


def test_a_softmax_that_takes_its_maximum_soon_enough_is_right(checks: Checks) -> None:
    text = kernel("softmax", LARGEST="(lazy ? largest : 0.0f)")
    text = with_lazily(text, "1e-12f", "1e30f")
    for suite in ("tests", "benchmarks", "held_out"):
        verdict = checks.verdict("softmax", text, suite)
        assert verdict.passed, verdict.reason


AHEAD = {
    "that bounds its elements": "fminf(fmaxf(x[i], -60.0f), 60.0f)",
    "that takes large ones for none": "(fabsf(x[i]) < 60.0f ? x[i] : 0.0f)",
}


@pytest.mark.parametrize("what", AHEAD)
def test_so_it_is_on_benchmark_shapes_where_it_would_win(what: str, tmp_path: Path) -> None:
    device = backend("cpu").open_device(0)
    contest = Contest(write_task(tmp_path / "task"), device)
    before = f"if (i < N) {{ y[i] = steps(N > 1000 ? {AHEAD[what]} : x[i], 4); return; }}"
    evaluation = contest.measure(timed_kernel(before=before), crowning=True)
    device.close()
    assert evaluation.status is Status.WRONG
    assert "large inputs on N=" in evaluation.reason or "with spikes in its" in evaluation.reason
    assert "expected" not in evaluation.reason + evaluation.log
