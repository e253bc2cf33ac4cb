"""Held-out shapes that are derived where a task states none."""

from pathlib import Path

import pytest

from evaluators.tasks.arguments import Workload
from evaluators.tasks.ragged import ragged_shapes
from evaluators.tasks.task_file import load_task, shipped_tasks
from tests.evaluators.small_task import write_task


def suites(benchmarks: list[dict[str, int]], tests: list[dict[str, int]]) -> dict[str, object]:
    def shapes(dims: list[dict[str, int]]) -> dict[str, tuple[Workload, ...]]:
        return {"default": tuple(Workload(dims=one, suite="tests") for one in dims)}

    return {"tests": shapes(tests), "benchmarks": shapes(benchmarks), "held_out": {}}


def test_no_tile_fits_where_nothing_divides_all_shapes() -> None:
    made = ragged_shapes(
        suites([{"M": 512, "N": 256}, {"M": 1024, "N": 64}], [{"M": 1, "N": 7}])  # type: ignore[arg-type]
    )
    (first, second) = made["default"]
    assert all(value % 2 == 1 for one in (first, second) for value in one.dims.values())
    assert first.dims["M"] < 512 and first.dims["N"] < 256


def test_a_dim_stays_a_multiple_of_what_all_stated_values_are() -> None:
    """Others may be no shapes of the task at all."""
    made = ragged_shapes(
        suites([{"N": 4096, "H": 8}, {"N": 1024, "H": 8}], [{"N": 64, "H": 8}])  # type: ignore[arg-type]
    )
    assert [one.dims["N"] % 64 for one in made["default"]] == [0, 0]
    assert {one.dims["H"] for one in made["default"]} == {8}


@pytest.mark.parametrize("stated", [True, False])
def test_a_task_knows_whether_it_states_them(tmp_path: Path, stated: bool) -> None:
    folder = write_task(tmp_path / "small")
    text = (folder / "task.yaml").read_text()
    if not stated:
        (folder / "task.yaml").write_text(text.replace("held_out: [{N: 7000}]\n", ""))
    task = load_task(folder)
    assert task.derives_held_out == (not stated)
    labels = {one.label for one in task.workloads("held_out", "cpu")}
    known = {one.label for one in (*task.suites["benchmarks"]["default"],)}
    assert labels and not labels & known
    assert (labels == {"N=7000"}) == stated


def test_shipped_tasks_state_theirs() -> None:
    assert not any(load_task(name).derives_held_out for name in shipped_tasks())
