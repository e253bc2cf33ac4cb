"""What the catalogue can search for a task, and the sweep over what is left of a small space."""

from pathlib import Path

import numpy as np
import pytest

from evaluators.kernel import grid
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from operators.catalog.search_space import MOST_COUNTED, Sweep, search_space
from operators.operator import Declined
from tests.evaluators.small_task import kernel, write_task

SPACE = """/*---
params: {TX: 2, TY: 1}
space: {TX: [1, 2, 4, 8], TY: [1, 2, 3]}
constraints: ["TX * TY <= 8"]
launches:
  - {kernel: go, grid: ["ceil_div(N, 64)"], block: [64], args: [w, x, t, y, N]}
---*/
"""
FEASIBLE = 9  # of 12


def own_task(folder: Path, front: str | None = SPACE) -> Task:
    """A task of no known kind; front: of its naive seed."""
    write_task(folder)
    if front is not None:
        (folder / "seeds" / "naive.hip").write_text(kernel(front=front))
    return load_task(folder)


def test_a_seeds_own_space_is_counted_with_its_constraints(tmp_path: Path) -> None:
    space = search_space(own_task(tmp_path / "own"), "families")
    assert (space.kind, space.largest, space.count()) == (None, 12, FEASIBLE)
    assert str(space) == f"{FEASIBLE} kernels of the naive seed's own space"
    assert space.lack == ""


def test_without_family_and_space_it_says_what_to_do(tmp_path: Path) -> None:
    space = search_space(own_task(tmp_path / "own", front=None), "families")
    assert space.count() == 0
    for words in ("for the task own", "gemm, softmax, sum, transpose", "space", "kind llm"):
        assert words in space.lack


def test_a_seed_without_a_space_is_edited(tmp_path: Path) -> None:
    space = search_space(own_task(tmp_path / "own", front=None))
    assert space.edits > 0 and space.lack == ""
    assert str(space) == f"generic edits, {space.edits} of the naive seed alone"
    sweep = Sweep(space, np.random.default_rng(0))
    with pytest.raises(Declined):
        sweep.draw(set())
    assert not sweep.exhausted  # edits lead to kernels that admit others


def test_generic_techniques_alone_leave_families_out() -> None:
    space = search_space(load_task("sgemm"), "generic")
    assert space.kind is None and not space.sources and space.edits > 0


def test_a_known_problem_has_its_families() -> None:
    space = search_space(load_task("sgemm"))
    assert space.largest > MOST_COUNTED and space.count() is None
    assert str(space) == f"up to {space.largest} kernels of 5 gemm families"


def test_a_sweep_hands_out_every_kernel_once_and_none_that_is_known(tmp_path: Path) -> None:
    space = search_space(own_task(tmp_path / "own"), "families")
    seed = space.sources["the seed"]
    known = {seed.id}
    sweep = Sweep(space, np.random.default_rng(0))
    drawn = []
    while not sweep.exhausted:
        draft = sweep.draw(known)
        drawn.append(draft.candidate.source)
    with pytest.raises(Declined, match="every kernel of the space was tried"):
        sweep.draw(known)
    assert len(set(drawn)) == len(drawn) == FEASIBLE - 1
    assert seed.text not in drawn


def test_a_large_space_is_never_enumerated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "MOST_POINTS", 1000)
    sweep = Sweep(search_space(load_task("sgemm")), np.random.default_rng(0))
    with pytest.raises(Declined, match="too large"):
        sweep.draw(set())
    assert not sweep.exhausted
