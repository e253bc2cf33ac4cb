"""Limits from the naive seed: which values a silent task admits, and a seed that fails its own."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from evaluators.checks.budget import Limit
from evaluators.device import Device, backend
from evaluators.evaluate import Evaluator, compile_kernel, evaluate_file
from evaluators.evaluation import Rejected, Status, Verdict
from evaluators.measuring.policy import Anchor
from evaluators.tasks.arguments import TaskError
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task

TASK = """
description: y = exp(-x^2)
dims: [N]
arguments:
  - {name: x, dtype: float32, shape: [N], role: in}
  - {name: y, dtype: float32, shape: [N], role: out, rtol: 1.0e-3, atol: 1.0e-3}
tests: [{N: 100}, {N: 333}]
benchmarks: [{N: 1000}]
"""
REFERENCE = """
import numpy as np

def reference(x, N):
    return {"y": np.exp(-x * x)}
"""
KERNEL = """/*---
launches: [{kernel: bell, grid: ["ceil_div(N, 64)"], block: [64], args: [x, y, N]}]
---*/
__global__ void bell(const float* x, float* y, int N) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < N) y[i] = VALUE;
}
"""
RIGHT = KERNEL.replace("VALUE", "expf(-x[i] * x[i])")
NOT_FAR = KERNEL.replace("VALUE", "fabsf(x[i]) < 16.0f ? expf(-x[i] * x[i]) : x[i] - x[i] + NAN")
CLIPPED = KERNEL.replace("VALUE", "expf(-fminf(x[i] * x[i], 1e-4f + 16.0f))")
LESS_EXACT = KERNEL.replace("VALUE", "rintf(expf(-x[i] * x[i]) * 16384.0f) * (1.0f / 16384.0f)")


def write_task(folder: Path, *, naive: str = RIGHT, values: str = "") -> Task:
    (folder / "seeds").mkdir(parents=True)
    (folder / "task.yaml").write_text(TASK + values)
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "seeds" / "naive.hip").write_text(naive)
    return load_task(folder)


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    device = backend("cpu").open_device(0)
    yield device
    device.close()


def verdict(task: Task, text: str, device: Device) -> Verdict:
    evaluator = Evaluator(task=task, device=device, secret=3)
    return evaluator.verify(*compile_kernel(text, task, backend("cpu").compiler(), "cpu"), "tests")


def test_a_silent_task_is_tried_with_what_its_seed_bears(tmp_path: Path, device: Device) -> None:
    far = verdict(write_task(tmp_path / "a"), NOT_FAR, device)
    assert far.status is Status.WRONG
    assert "is nan, expected " in far.reason  # 0, or next to it
    assert " inputs on N=" in far.reason  # large, or with spikes
    bears_less = write_task(tmp_path / "b", naive=NOT_FAR)
    assert verdict(bears_less, NOT_FAR, device).passed
    nothing = write_task(tmp_path / "c", values="values: []\n")
    assert verdict(nothing, NOT_FAR, device).passed


PROPORTIONAL = "\ndef reference(x, N):\n    return {'y': x * abs(x)}\n"
SQUARES = KERNEL.replace("VALUE", "x[i] * fabsf(x[i])")
NOT_SMALL = KERNEL.replace("VALUE", "fabsf(x[i]) < 1e-4f ? 0.0f : x[i] * fabsf(x[i])")
NEAR_ONE = KERNEL.replace("VALUE", "fabsf(x[i]) < 1e-4f ? 1.0f : expf(-x[i] * x[i])")


def test_small_values_come_to_silent_tasks_whose_outputs_follow_the_size_of_inputs(
    tmp_path: Path, device: Device
) -> None:
    task = write_task(tmp_path / "a", naive=SQUARES)
    (task.folder / "reference.py").write_text(PROPORTIONAL)
    task = load_task(task.folder)
    small = verdict(task, NOT_SMALL, device)
    assert small.status is Status.WRONG
    assert " with small inputs on N=" in small.reason
    assert verdict(task, SQUARES + "// again", device).passed
    assert verdict(write_task(tmp_path / "b"), NEAR_ONE, device).passed


def test_less_exact_than_the_seed_is_told_by_how_much(tmp_path: Path, device: Device) -> None:
    told = verdict(write_task(tmp_path / "a"), LESS_EXACT, device)
    assert told.status is Status.WRONG
    assert told.reason.startswith("y is less exact than float32 arithmetic: its rms error is ")
    assert (
        "x that of the task's naive seed, or of rounding alone (limit 6x) on N=100" in told.reason
    )
    less = write_task(tmp_path / "b", naive=LESS_EXACT)
    assert verdict(less, LESS_EXACT + "// again", device).passed
    assert verdict(less, RIGHT, device).passed


def test_a_task_may_allow_for_less_exact_algorithms(tmp_path: Path, device: Device) -> None:
    task = write_task(tmp_path, values="values: []\n")
    text = (task.folder / "task.yaml").read_text()
    (task.folder / "task.yaml").write_text(text.replace("atol: ", "error_budget: 100, atol: "))
    wide = load_task(tmp_path)
    assert wide.hash != task.hash
    assert verdict(wide, LESS_EXACT, device).passed
    far = LESS_EXACT.replace("16384.0f", "1024.0f")
    told = verdict(wide, far, device)
    assert told.status is Status.WRONG and "(limit 600x)" in told.reason


CANCELLING = """
description: y = a b + c d, where the sum of both may be next to nothing
dims: [N]
arguments:
  - {name: a, dtype: float32, shape: [N], role: in}
  - {name: b, dtype: float32, shape: [N], role: in}
  - {name: c, dtype: float32, shape: [N], role: in}
  - {name: d, dtype: float32, shape: [N], role: in}
  - {name: y, dtype: float32, shape: [N], role: out, rtol: 1.0, atol: 1.0e-6}
tests: [{N: 4097}]
benchmarks: [{N: 4097}]
values: []
"""
TWO_PRODUCTS = (
    KERNEL.replace("x[i]", "")
    .replace("args: [x,", "args: [a, b, c, d,")
    .replace("const float* x", "const float* a, const float* b, const float* c, const float* d")
)
CANCELS = TWO_PRODUCTS.replace("VALUE", "a[i] * b[i] + c[i] * d[i]")
CANCELS_WORSE = TWO_PRODUCTS.replace("VALUE", "(a[i] * b[i] + c[i] * d[i]) * 1.02f")


def cancelling(folder: Path) -> Task:
    task = write_task(folder / "a", naive=CANCELS)
    (task.folder / "task.yaml").write_text(CANCELLING)
    (task.folder / "reference.py").write_text(
        "def reference(a, b, c, d):\n    return {'y': a * b + c * d}\n"
    )
    return load_task(task.folder)


def test_ill_conditioned_results_are_held_to_the_seeds_on_the_same_inputs(
    tmp_path: Path, device: Device
) -> None:
    """A few elements that cancel outweigh all others: those of other draws tell nothing of them."""
    task = cancelling(tmp_path)
    made = compile_kernel(CANCELS, task, backend("cpu").compiler(), "cpu")
    for secret in range(30):
        evaluator = Evaluator(task=task, device=device, secret=secret, naive=made)
        assert evaluator.verify(*made, "tests").reason == ""
    assert "less exact than float32" in verdict(task, CANCELS_WORSE, device).reason


def test_so_they_are_where_they_are_timed(tmp_path: Path, device: Device) -> None:
    task = cancelling(tmp_path)
    right, worse = (
        compile_kernel(text, task, backend("cpu").compiler(), "cpu")
        for text in (CANCELS, CANCELS_WORSE)
    )
    evaluator = Evaluator(task=task, device=device, secret=3, naive=right)
    anchor = Anchor(kernel_id=right[0].id, kernel=right[0], compiled=right[1])
    (workload,) = evaluator.benchmarks
    (draw,) = evaluator.pool.draws(workload, evaluator.rng, 1)
    for made, fails in (right, False), (worse, True):
        draw.standard.limits["y"] = Limit(rms=1e-9, largest=1e-9)
        with pytest.raises(Rejected, match="less exact") if fails else nullcontext():
            evaluator.link(*made, anchor)
        assert draw.standard.limits["y"].rms > 1e-9


def test_so_they_are_where_blocks_are_watched(tmp_path: Path, device: Device) -> None:
    task = cancelling(tmp_path)
    made = compile_kernel(CANCELS, task, backend("cpu").compiler(), "cpu")
    evaluator = Evaluator(task=task, device=device, secret=3, naive=made)
    (workload,) = evaluator.benchmarks
    (draw,) = evaluator.pool.draws(workload, evaluator.rng, 1)
    limits = draw.standard.limits
    evaluator.correctness.races(made[0])  # in other orders as well, which it is once only
    narrow = limits["y"] = Limit(rms=1e-9, largest=1e-9)
    assert evaluator.correctness.races(made[0]) == ""
    assert limits["y"] != narrow
    worse = compile_kernel(CANCELS_WORSE, task, backend("cpu").compiler(), "cpu")
    with pytest.raises(Rejected, match="with blocks and threads in another order: y is less exact"):
        evaluator.correctness.races(worse[0])


def test_a_seed_that_fails_on_values_that_its_task_states_is_told(tmp_path: Path) -> None:
    task = write_task(tmp_path / "a", naive=NOT_FAR, values="values: [large]\n")
    itself = evaluate_file(tmp_path / "a" / "seeds" / "naive.hip", task, "cpu")
    assert itself.status is Status.WRONG
    assert itself.reason.startswith("y[") and " with large inputs on N=" in itself.reason
    other = tmp_path / "other.hip"
    other.write_text(RIGHT)
    with pytest.raises(TaskError) as caught:
        evaluate_file(other, task, "cpu")
    said = str(caught.value)
    assert said.startswith(f"{task.folder}: its naive seed, ")
    assert " with large inputs on N=" in said and "tolerance or values" in said
    assert "\n" not in said


def test_a_seed_that_clips_has_another_result_than_its_reference(tmp_path: Path) -> None:
    task = write_task(tmp_path / "a", naive=CLIPPED, values="values: [large]\n")
    itself = evaluate_file(tmp_path / "a" / "seeds" / "naive.hip", task, "cpu")
    assert itself.status is Status.WRONG
    assert itself.reason.startswith("y is far from its reference")
