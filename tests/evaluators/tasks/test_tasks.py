"""The shipped tasks: what they promise to kernels, and that their seeds keep it."""

import numpy as np
import pytest

from evaluators.checks.compare import compare
from evaluators.device import backend
from evaluators.device_info import BACKENDS, target_of
from evaluators.evaluate import compile_kernel
from evaluators.kernel.source import parse_kernel
from evaluators.measuring.correctness import workloads_of
from evaluators.measuring.evaluator import Evaluator
from evaluators.tasks.arguments import SUITES
from evaluators.tasks.task import Task, Workload
from evaluators.tasks.task_file import load_task, shipped_tasks

SIGNATURES = {
    "sgemm": (["a", "b", "c"], ("M", "N", "K")),
    "softmax": (["x", "y"], ("R", "C")),
    "sum_reduction": (["x", "out"], ("N",)),
    "transpose": (["x", "y"], ("R", "C")),
}


@pytest.fixture(params=sorted(SIGNATURES))
def task(request: pytest.FixtureRequest) -> Task:
    return load_task(request.param)


def test_these_tasks_are_shipped() -> None:
    assert set(SIGNATURES) <= set(shipped_tasks())


def test_arguments_and_dims_keep_their_order(task: Task) -> None:
    names, dims = SIGNATURES[task.name]
    assert [argument.name for argument in task.arguments] == names
    assert task.dims == dims
    assert {argument.dtype for argument in task.arguments} == {"float32"}
    assert [argument.name for argument in task.arguments if argument.written] == names[-1:]
    assert task.description


@pytest.mark.parametrize("name", BACKENDS)
def test_every_suite_has_shapes_and_held_out_ones_are_new(task: Task, name: str) -> None:
    labels = {suite: {w.label for w in task.workloads(suite, name)} for suite in SUITES}
    assert all(len(found) >= 2 for found in labels.values())
    assert not labels["held_out"] & (labels["tests"] | labels["benchmarks"])


@pytest.mark.parametrize("dim", ["M", "N", "K", "R", "C"])
def test_tests_are_ragged(dim: str) -> None:
    """Some test shape is no multiple of 2 in any dim, so that edges are met."""
    for name, (_, dims) in SIGNATURES.items():
        if dim in dims:
            sizes = {w.dims[dim] for w in load_task(name).workloads("tests", "cpu")}
            assert any(size % 2 for size in sizes if size > 1), (name, dim)


def test_sgemm_is_measured_on_the_promised_shapes_and_tolerance() -> None:
    task = load_task("sgemm")
    shapes = [tuple(w.dims.values()) for w in task.workloads("benchmarks", "cpu")]
    assert shapes == [(256, 256, 256), (384, 384, 384), (512, 512, 512), (500, 300, 400)]
    (c,) = task.outputs
    dims = {"M": 8, "N": 8, "K": 500}
    assert c.rtol(dims) == pytest.approx(1e-4)
    assert c.atol(dims) == pytest.approx(1e-3)
    assert task.flops is not None
    assert task.flops.evaluate({"M": 2, "N": 3, "K": 5}) == 60


def expected(task: Task, workload: Workload) -> np.ndarray:
    """The output by other means than reference.py: einsum, and loops in extended precision."""
    arrays = {name: array.astype(np.longdouble) for name, array in task.inputs(workload, 5).items()}
    if task.name == "sgemm":
        return np.asarray(np.einsum("mk,kn->mn", arrays["a"], arrays["b"]))
    x = arrays["x"]
    if task.name == "softmax":
        return np.stack([np.exp(row) / np.exp(row).sum() for row in x])
    if task.name == "sum_reduction":
        return np.array([np.add.reduce(x)])
    return np.array([[x[r, c] for r in range(x.shape[0])] for c in range(x.shape[1])])


def test_references_are_right(task: Task) -> None:
    (output,) = task.outputs
    for workload in task.workloads("tests", "cpu"):
        result = task.reference(workload, task.inputs(workload, 5))[output.name]
        np.testing.assert_allclose(
            result, expected(task, workload).astype(np.float64), rtol=1e-9, atol=1e-9
        )


def test_tolerances_tell_a_lost_term_from_rounding(task: Task) -> None:
    """float32 arithmetic in the worst order passes; one input element left out does not."""
    (output,) = task.outputs
    for workload in task.workloads("tests", "cpu")[1:]:
        inputs = task.inputs(workload, 3)
        right = task.reference(workload, inputs)[output.name]
        rtol, atol = output.rtol(workload.dims), output.atol(workload.dims)
        rounded = right.astype(np.float32)
        if task.name == "sgemm":
            rounded = np.zeros_like(rounded)
            for k in range(workload.dims["K"]):
                rounded += inputs["a"][:, k : k + 1] * inputs["b"][k : k + 1]
        elif task.name == "sum_reduction":
            rounded = np.cumsum(inputs["x"], dtype=np.float32)[-1:]
        assert compare(rounded, right, rtol=rtol, atol=atol).error < 1.0
        lost = {name: array.copy() for name, array in inputs.items()}
        first = lost["a" if task.name == "sgemm" else "x"]
        first[(0,) * first.ndim] = 0
        wrong = task.reference(workload, lost)[output.name].astype(np.float32)
        assert compare(wrong, right, rtol=rtol, atol=atol).error > 1.0


@pytest.mark.parametrize("name", BACKENDS)
def test_naive_seeds_plan_for_every_workload(task: Task, name: str) -> None:
    kernel = parse_kernel(task.naive)
    for workload in workloads_of(task, SUITES, name):
        assert kernel.plan(task, workload, target_of(name)).launches


def test_naive_seeds_are_right_on_cpu(task: Task) -> None:
    module = backend("cpu")
    kernel, compiled = compile_kernel(task.naive, task, module.compiler(), "cpu")
    device = module.open_device(0)
    try:
        evaluator = Evaluator(task=task, device=device, secret=11)
        for suite in SUITES:
            verdict = evaluator.verify(kernel, compiled, suite)
            assert verdict.passed, verdict.reason
    finally:
        device.close()
