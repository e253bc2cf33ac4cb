"""The pool of secret inputs: references computed once, within a bound of memory."""

from pathlib import Path

import numpy as np
import pytest

from evaluators.checks.inputs import InputPool
from evaluators.tasks.task_file import load_task

TASK = load_task("sgemm")
WORKLOAD = TASK.workloads("tests", "cpu")[1]


def test_draws_carry_their_reference() -> None:
    draw = InputPool(TASK, secret=1).get(WORKLOAD, 0)
    expected = draw.inputs["a"].astype(np.float64) @ draw.inputs["b"].astype(np.float64)
    np.testing.assert_allclose(draw.reference["c"], expected)


def test_a_draw_is_made_once() -> None:
    pool = InputPool(TASK, secret=1)
    assert pool.get(WORKLOAD, 2) is pool.get(WORKLOAD, 2)


def test_secrets_and_indices_give_different_data() -> None:
    pool, other = InputPool(TASK, secret=1), InputPool(TASK, secret=2)
    first, second, foreign = pool.get(WORKLOAD, 0), pool.get(WORKLOAD, 1), other.get(WORKLOAD, 0)
    assert not np.array_equal(first.inputs["a"], second.inputs["a"])
    assert not np.array_equal(first.inputs["a"], foreign.inputs["a"])
    again = InputPool(TASK, secret=1).get(WORKLOAD, 0)
    np.testing.assert_array_equal(first.inputs["a"], again.inputs["a"])


def test_draws_are_all_different_as_long_as_there_are_enough() -> None:
    pool = InputPool(TASK, secret=1, size=4)
    rng = np.random.default_rng(0)
    assert {draw.index for draw in pool.draws(WORKLOAD, rng, 4)} == {0, 1, 2, 3}
    assert len(pool.draws(WORKLOAD, rng, 7)) == 7
    orders = {tuple(d.index for d in pool.draws(WORKLOAD, rng, 4)) for _ in range(20)}
    assert len(orders) > 5


def test_memory_is_bounded_and_what_was_dropped_is_made_again_equal() -> None:
    size = InputPool(TASK, secret=1).get(WORKLOAD, 0).nbytes
    pool = InputPool(TASK, secret=1, size=5, limit_bytes=2 * size)
    first = pool.get(WORKLOAD, 0)
    for index in range(1, 5):
        pool.get(WORKLOAD, index)
    again = pool.get(WORKLOAD, 0)
    assert again is not first
    np.testing.assert_array_equal(again.inputs["a"], first.inputs["a"])
    assert pool.get(WORKLOAD, 4) is pool.get(WORKLOAD, 4)


def test_a_pool_of_one_is_refused() -> None:
    with pytest.raises(ValueError, match="two draws or more"):
        InputPool(TASK, secret=1, size=1)


def test_draws_share_constant_arguments(tmp_path: Path) -> None:
    folder = tmp_path / "weighted"
    (folder / "seeds").mkdir(parents=True)
    (folder / "task.yaml").write_text(
        """
description: y = w x, elementwise, w constant.
dims: [N]
arguments:
  - {name: w, dtype: float32, shape: [N], role: constant}
  - {name: x, dtype: float32, shape: [N], role: in}
  - {name: y, dtype: float32, shape: [N], role: out, rtol: 1.0e-6, atol: 0}
tests: [{N: 8}]
benchmarks: [{N: 64}]
"""
    )
    (folder / "reference.py").write_text("def reference(w, x, N):\n    return {'y': w * x}\n")
    (folder / "seeds" / "naive.hip").write_text("")
    task = load_task(folder)
    pool = InputPool(task, secret=1)
    workload = task.workloads("tests", "cpu")[0]
    first, second = pool.get(workload, 0), pool.get(workload, 1)
    np.testing.assert_array_equal(first.inputs["w"], second.inputs["w"])
    assert not np.array_equal(first.inputs["x"], second.inputs["x"])
    np.testing.assert_allclose(
        second.reference["y"],
        second.inputs["w"].astype(np.float64) * second.inputs["x"].astype(np.float64),
    )


def test_unseen_inputs_are_new_each_time() -> None:
    pool, rng = InputPool(TASK, secret=1), np.random.default_rng(0)
    first, second = pool.unseen(WORKLOAD, rng), pool.unseen(WORKLOAD, rng)
    assert not np.array_equal(first["a"], second["a"])
    assert all(
        not np.array_equal(first["a"], pool.get(WORKLOAD, i).inputs["a"])
        for i in range(pool.size(WORKLOAD))
    )


def test_large_shapes_have_fewer_draws_but_never_one() -> None:
    draw = InputPool(TASK, secret=1).get(WORKLOAD, 0)
    assert InputPool(TASK, secret=1).size(WORKLOAD) == 6
    assert InputPool(TASK, secret=1, shape_bytes=3 * draw.nbytes).size(WORKLOAD) == 3
    assert InputPool(TASK, secret=1, shape_bytes=1).size(WORKLOAD) == 2
