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


def test_draws_are_all_different() -> None:
    pool = InputPool(TASK, secret=1, size=4)
    rng = np.random.default_rng(0)
    assert {draw.index for draw in pool.draws(WORKLOAD, rng, 4)} == {0, 1, 2, 3}
    assert len({draw.index for draw in pool.draws(WORKLOAD, rng, 7)}) == 7
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


def test_fresh_draws_never_come_again() -> None:
    pool, rng = InputPool(TASK, secret=1, size=3), np.random.default_rng(0)
    first, second = pool.fresh(WORKLOAD, rng), pool.fresh(WORKLOAD, rng)
    assert min(first.index, second.index) >= 3
    a = [draw.inputs["a"].tobytes() for draw in (first, second, *pool.draws(WORKLOAD, rng, 3))]
    assert len(set(a)) == 5
    expected = first.inputs["a"].astype(np.float64) @ first.inputs["b"].astype(np.float64)
    np.testing.assert_allclose(first.reference["c"], expected)


def test_draws_that_were_met_do_not_come() -> None:
    pool, rng = InputPool(TASK, secret=1, size=6), np.random.default_rng(0)
    met = {0, 2, 3, 5}
    assert {draw.index for draw in pool.draws(WORKLOAD, rng, 2, met=met)} == {1, 4}
    more = [draw.index for draw in pool.draws(WORKLOAD, rng, 4, met=met)]
    assert set(more[:2]) == {1, 4}
    assert min(more[2:]) >= 6
    assert len(set(more)) == 4


def test_asking_for_few_draws_makes_no_others() -> None:
    pool = InputPool(TASK, secret=1, limit_bytes=1)
    (draw,) = pool.draws(WORKLOAD, np.random.default_rng(0), 1)
    assert pool.get(WORKLOAD, draw.index) is draw


def test_there_are_at_least_64_draws() -> None:
    assert InputPool(TASK, secret=1).size >= 64
