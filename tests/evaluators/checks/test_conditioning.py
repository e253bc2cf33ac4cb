"""How far outputs move when inputs do."""

from collections.abc import Mapping

import numpy as np
import pytest

from evaluators.checks.conditioning import Array, Moving, conditioning
from evaluators.checks.inputs import InputPool
from evaluators.checks.values import UnusualDraws
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task

TASK = load_task("fp8_gemm")
SHAPE = TASK.workloads("tests", "cpu")[1]


class InOwnTypes:
    """As a device makes them. told: whether it says so."""

    def __init__(self, told: bool, task: Task = TASK) -> None:
        self._told, self._task = told, task
        self.calls = 0

    def reference(self, workload: Workload, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        self.calls += 1
        types = {a.name: a.np_dtype for a in self._task.arguments}
        given = {name: array.astype(types[name]) for name, array in inputs.items()}
        return self._task.reference(workload, given)

    def narrows(self, _: Workload) -> bool:
        return self._told


def moving(told: bool) -> Moving:
    return Moving(TASK, SHAPE, TASK.inputs(SHAPE, seed=5), InOwnTypes(told))


def test_what_rounding_takes_back_is_not_moved() -> None:
    told, untold = moving(told=True), moving(told=False)
    assert set(told.signs(np.random.default_rng(0))) == {"a_scale", "b_scale"}
    signs = untold.signs(np.random.default_rng(0))
    assert set(signs) == {"a", "b", "a_scale", "b_scale"}
    some = {name: signs[name] for name in ("a_scale", "b_scale")}
    near, far = (told.moved(some, times)["c"] for times in (1.0, 64.0))
    assert np.any(near)
    assert np.abs(far - 64.0 * near).max() < 0.1 * np.abs(far).max()
    near, far = (untold.moved(signs, times)["c"] for times in (1.0, 64.0))
    assert np.abs(far - 64.0 * near).max() > 0.1 * np.abs(far).max()


@pytest.mark.parametrize("name", ["fp8_gemm", "sgemm"])
@pytest.mark.parametrize("values", ["spikes", "large"])
def test_a_device_tries_large_values_on_large_shapes(name: str, values: str) -> None:
    """It makes references of rounded inputs, which must move in proportion all the same."""
    task = load_task(name)
    shape = min(task.workloads("benchmarks", "cpu"), key=task.nbytes)
    pool, rng = InputPool(task, secret=1), np.random.default_rng(3)
    draws = UnusualDraws(task, pool, rng, references=InOwnTypes(True, task))
    assert len(draws.of(shape, values)) == 1


def test_nothing_moves_without_exact_inputs() -> None:
    references = InOwnTypes(told=True)
    narrow = {n: a for n, a in TASK.inputs(SHAPE, seed=5).items() if n in ("a", "b")}
    ones = {n: np.ones_like(TASK.inputs(SHAPE, seed=5)[n]) for n in ("a_scale", "b_scale")}
    made = Moving(TASK, SHAPE, {**narrow, **ones}, references)
    made.inputs = narrow  # of which none can move
    scales = conditioning(made, "large", 4, np.random.default_rng(1))
    assert scales is not None
    assert references.calls == 1
    assert scales["c"].shape == made.reference["c"].shape
    assert np.all(scales["c"] > 0)


@pytest.mark.parametrize("told", [False, True])
def test_scales_are_of_the_size_of_a_rounding(told: bool) -> None:
    made = moving(told)
    scales = conditioning(made, "", 8, np.random.default_rng(2))
    assert scales is not None
    relative = scales["c"] / np.maximum(np.abs(made.reference["c"]), 1.0)
    assert 2.0**-24 < np.median(relative) < 2.0**-16
