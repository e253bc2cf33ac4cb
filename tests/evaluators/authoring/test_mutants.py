"""Broken seeds: which mistakes are made of a seed, and that a task's checks find them."""

from pathlib import Path

import pytest

from evaluators.authoring.examining.examine import Examined, examine
from evaluators.authoring.examining.mutants import KINDS, mutants
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task_file import load_task, shipped_tasks
from tests.evaluators.authoring.test_examining import SEED, write

ROWS = """/*---
launches:
  - {kernel: rows, grid: ["N"], block: [64], args: [x, y, N, C]}
---*/
__device__ float twice(float v) { return 2.0f * v; }
__global__ void rows(const float* x, float* y, int N, int C) {
    __shared__ float part[64];
    float sum = 0.0f, largest = x[blockIdx.x * C];
    for (int c = threadIdx.x; c < C; c += 64) {
        sum += x[blockIdx.x * C + c];
        largest = fmaxf(largest, x[blockIdx.x * C + c]);
    }
    part[threadIdx.x] = sum + largest * 1e-5f;
    __syncthreads();
    if (threadIdx.x < N) y[blockIdx.x * 64 + threadIdx.x] = twice(part[63 - threadIdx.x]);
}
"""


def test_each_kind_of_mistake_is_made() -> None:
    made = {one.kind for one in (*mutants(ROWS, 100), *mutants(SEED, 100))}
    assert made == set(KINDS)


def test_a_mutant_differs_in_one_place_and_says_which() -> None:
    for one in mutants(ROWS, 100):
        lines, before = one.text.splitlines(), ROWS.splitlines()
        lines = [line for line in lines if not line.startswith("#include")]
        lines = [line for line in lines if line]
        changed = [i for i, (a, b) in enumerate(zip(lines, before, strict=True)) if a != b]
        assert changed == [one.line - 1], one
        assert "->" in one.change


def test_indices_and_small_constants_are_left_alone() -> None:
    changes = [one.change for one in mutants(ROWS, 100)]
    assert not any("1e-5f" in change.split("->")[0].split("*")[0] for change in changes)
    assert not any(change.startswith(("blockIdx", "63")) for change in changes)


def test_sums_in_half_precision_are_no_mistake_where_outputs_are_no_better() -> None:
    assert any("half" in one.kind for one in mutants(ROWS, 100))
    assert not any("half" in one.kind for one in mutants(ROWS, 100, exact=False))


def test_the_most_are_spread_over_kinds() -> None:
    assert len({one.kind for one in mutants(ROWS, len(KINDS) - 1)}) == len(KINDS) - 1


@pytest.mark.parametrize("name", shipped_tasks())
def test_mutants_of_shipped_seeds_are_kernels(name: str) -> None:
    made = mutants(load_task(name).naive, 40)
    assert len(made) >= 2  # one line of a histogram leaves little to get wrong
    for one in made:
        parse_kernel(one.text)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Examined:
    folder = write(tmp_path_factory.mktemp("tasks") / "good")
    return examine(folder, "cpu", most=5)


@pytest.mark.long
def test_a_good_task_finds_its_broken_seeds(good: Examined) -> None:
    assert good.fine and len(good.trials) >= 4
    assert {one.fate for one in good.trials} <= {"found by tests", "found by held-out shapes"}
    weak = [one for one in good.findings if one.severity == "weak"]
    assert all(one.part == "cost" for one in weak)  # it is a small one: launching is measured


def test_a_bad_seed_ends_the_examination_with_its_reason(tmp_path: Path) -> None:
    seed = SEED.replace("i < N * C", "i < N * C - 1")
    found = examine(write(tmp_path / "t", seed=seed), "cpu", most=4)
    assert not found.fine and not found.trials
    (wrong,) = (one for one in found.findings if one.severity == "wrong")
    assert "naive.hip" in wrong.found and "WRONG" in wrong.found


@pytest.mark.soak
def test_tests_that_never_reach_a_border_let_broken_seeds_live(tmp_path: Path) -> None:
    """All sizes are multiples of the block, and no other size is admitted."""
    reference = (
        "def reference(x, bias, N, C):\n"
        "    assert N * C % 64 == 0, 'a multiple of 64 elements'\n"
        "    return {'y': x + bias}\n"
    )
    shapes = "{N: 1, C: 3}, {N: 30, C: 33}, {N: 65, C: 7}"
    folder = write(
        tmp_path / "t",
        reference=reference,
        changed=[
            (shapes, "{N: 64, C: 64}, {N: 256, C: 32}"),
            ("{N: 300, C: 501}", "{N: 64, C: 64}"),
        ],
    )
    found = examine(folder, "cpu", most=3)
    same = [one for one in found.trials if one.fate == "same"]
    assert [one.mutant.kind for one in same] == ["border"]
    assert any("not held against the task" in one.found for one in found.findings)
    assert any("no test has a ragged" in one.found for one in found.findings)
