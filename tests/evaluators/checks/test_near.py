"""A draw near another one: what inputs() makes is never mixed from two draws."""

from pathlib import Path

import numpy as np
import pytest

from evaluators.checks.inputs import InputPool
from evaluators.tasks.task_file import load_task

TASK = """
description: rows of a table
dims: [R]
arguments:
  - {name: starts, dtype: int32, shape: ["R + 1"], role: in}
  - {name: x, dtype: float32, shape: [R], role: in}
  - {name: y, dtype: float32, shape: [R], role: out, rtol: 0, atol: 0}
tests: [{R: 500}]
benchmarks: [{R: 900}]
"""
SEED = """/*---
launches:
  - {kernel: k, grid: [1], block: [64], args: [starts, x, y, R]}
---*/
__global__ void k(const int* starts, const float* x, float* y, int R) {}
"""
STARTS = """
def inputs(rng, R):
    return MADE
"""


@pytest.mark.parametrize("every", [False, True])
def test_rows_stay_in_order(tmp_path: Path, every: bool) -> None:
    made = '{"starts": np.sort(rng.integers(0, 10**6, R + 1))'
    made += ', "x": rng.standard_normal(R)}' if every else "}"
    (tmp_path / "seeds").mkdir()
    (tmp_path / "task.yaml").write_text(TASK)
    (tmp_path / "reference.py").write_text(
        "import numpy as np\n"
        "def reference(starts, x, R):\n    return {'y': x * np.diff(starts)}\n"
        + STARTS.replace("MADE", made)
    )
    (tmp_path / "seeds" / "naive.hip").write_text(SEED)
    task = load_task(tmp_path)
    (workload,) = task.workloads("tests", "cpu")
    pool, rng = InputPool(task, secret=1), np.random.default_rng(0)
    draw = pool.get(workload, 0)
    near = pool.near(workload, draw, rng)
    assert (np.diff(near.inputs["starts"]) >= 0).all()
    assert not np.array_equal(near.inputs["x"], draw.inputs["x"])
    assert np.array_equal(near.inputs["starts"], draw.inputs["starts"]) is not every
