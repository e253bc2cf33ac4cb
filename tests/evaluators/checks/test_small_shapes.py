"""Shapes on which an emulated device runs kernels."""

import pytest

from evaluators.checks.shapes import EMULATED_BYTES, EMULATED_FLOPS, LEAST_SIZE, costed, split
from evaluators.tasks.task_file import load_task, shipped_tasks


@pytest.mark.parametrize("name", shipped_tasks())
def test_costs_are_taken_on_small_versions_of_the_benchmarks(name: str) -> None:
    """Or on tests, where halving the large dims does not make them small (conv2d)."""
    task = load_task(name)
    found = costed(task, "hip")
    tests = {one.label for one in task.workloads("tests", "hip")}
    assert found
    for shape in found:
        assert task.nbytes(shape) <= EMULATED_BYTES
        assert task.flops is None or task.flops.evaluate(shape.env) <= EMULATED_FLOPS
        assert max(shape.dims.values()) >= LEAST_SIZE or shape.label in tests


def test_large_shapes_are_left_out_and_told() -> None:
    task = load_task("sgemm")
    tests, benchmarks = task.workloads("tests", "hip"), task.workloads("benchmarks", "hip")
    found = split(task, [*tests, *benchmarks])
    assert list(found.run) == list(tests)
    assert list(found.left_out) == list(benchmarks)
