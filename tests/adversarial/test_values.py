"""Kernels that are right on friendly values only are found by the classes that a task states."""

from collections.abc import Iterator

import pytest

from evaluators.device import backend
from evaluators.evaluate import Evaluator, compile_kernel
from evaluators.evaluation import Status
from evaluators.measuring.policy import Anchor, TimingPolicy
from evaluators.tasks.task_file import load_task
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


# --- on large shapes only -------------------------------------------------------------------------

LARGE: dict[str, tuple[str, dict[str, str]]] = {
    "softmax without its maximum": ("softmax", {"LARGEST": "(R * C >= 16384 ? 0.0f : largest)"}),
    "softmax of bounded inputs": (
        "softmax",
        {"IN": "(R * C < 16384) ? same : bounded"},
    ),
    "transpose without NaN": ("transpose", {"VALUE": "R * C < 100000 || v == v ? v : 0.0f"}),
    "transpose that bounds its elements": (
        "transpose",
        {"VALUE": "R * C < 100000 || !(fabsf(v) > 50.0f) ? v : 50.0f"},
    ),
}
"""Right on every shape of the tests."""


def large(name: str) -> tuple[str, str]:
    task, places = LARGE[name]
    if "IN" in places:  # a call of either
        chosen = "#define IN(x) (R * C < 16384 ? same(x) : bounded(x))\n"
        return task, kernel(task).replace("#define IN same\n", chosen)
    return task, kernel(task, **places)


@pytest.mark.parametrize("name", LARGE)
def test_so_it_is_on_held_out_shapes(name: str, checks: Checks) -> None:
    task, text = large(name)
    assert checks.verdict(task, text).passed
    verdict = checks.verdict(task, text, "held_out")
    assert verdict.status is Status.WRONG
    assert "held-out shape, of which no more is told" in verdict.reason


@pytest.mark.parametrize("name", ["transpose without NaN", "transpose that bounds its elements"])
def test_so_it_is_on_benchmark_shapes_where_it_would_win(name: str, checks: Checks) -> None:
    """What it is ahead of is itself, with each element transposed over and over."""
    name, text = large(name)
    task, device = load_task(name), backend("cpu").open_device(0)
    slow, slowly = compile_kernel(
        kernel(name).replace("y[(size_t)col * R + row] = v;", SLOWLY),
        task,
        backend("cpu").compiler(),
        "cpu",
    )
    policy = TimingPolicy(budget_s=0.1, min_blocks=2, interval_us=500.0)
    evaluator = Evaluator(task=task, device=device, secret=5, policy=policy)
    built, compiled = compile_kernel(text, task, backend("cpu").compiler(), "cpu")
    anchor = Anchor(kernel_id=slow.id, kernel=slow, compiled=slowly)
    evaluation = evaluator.measure(built, compiled, anchor)
    device.close()
    assert evaluation.status is Status.WRONG
    assert any(word in evaluation.reason for word in ("spikes", "large", "NaN", "infinity"))
    assert "expected" not in evaluation.reason + evaluation.log


SLOWLY = "for (int k = 0; k < 5; ++k) ((volatile float*)y)[(size_t)col * R + row] = v;"
