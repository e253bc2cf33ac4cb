"""Kernels that keep results, or bring them along, and copy them instead of computing."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.device import Device, backend
from evaluators.evaluation import Status
from evaluators.tasks.task_file import load_task
from tests.adversarial.timed_task import (
    COUNTED,
    FRONT,
    POLICY,
    TASK,
    Contest,
    kernel,
    write_task,
)

FOUND = """
int at = -1;
for (int k = 0; k < count; ++k) if (key[k] == x[0] + N) at = k;
if (at >= 0) {
    if (i < N) y[i] = kept[at * 8192 + i];
    return;
}
"""
KEEP = """
if (i < N && count < ROOM) kept[count * 8192 + i] = y[i];
if (i == N - 1 && count < ROOM) key[count++] = x[0] + N;
"""
IN_GLOBALS = "__device__ float kept[64 * 8192]; __device__ float key[64]; __device__ int count;"
GIVE_UP = "if (count >= MANY) { if (i < N) y[i] = 0.0f; return; }"
"""The race is over once so many draws are known: what comes is never looked at."""

IN_SCRATCH = """
float* key = kept + 39 * 8192;
int& count = *(int*)(kept + 39 * 8192 + 64);
if (i == 0 && (count < 0 || count > 64)) count = 0;
"""

REMEMBERING = {
    "in globals, by content": kernel(
        preamble=IN_GLOBALS, before=FOUND, after=KEEP.replace("ROOM", "63")
    ),
    "in globals, garbage for what is new in the end": kernel(
        preamble=IN_GLOBALS,
        before=FOUND + GIVE_UP.replace("MANY", "8"),
        after=KEEP.replace("ROOM", "63"),
    ),
    "in scratch, by content": kernel(
        scratch=True, before=IN_SCRATCH + FOUND, after=KEEP.replace("ROOM", "39")
    ),
    "in scratch, garbage for what is new in the end": kernel(
        scratch=True,
        before=IN_SCRATCH + FOUND + GIVE_UP.replace("MANY", "4"),
        after=KEEP.replace("ROOM", "39"),
    ),
}
"""Known by their first element. A race took four draws for each of the
two shapes, which share globals and have scratch of their own."""


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    device = backend("cpu").open_device(0)
    yield device
    device.close()


@pytest.fixture(scope="module")
def contest(device: Device, tmp_path_factory: pytest.TempPathFactory) -> Contest:
    return Contest(write_task(tmp_path_factory.mktemp("timed") / "task"), device)


@pytest.mark.parametrize("how", REMEMBERING)
def test_remembering_results_gains_nothing(how: str, contest: Contest) -> None:
    """It is told to be WRONG, or had nothing that it could remember where it counts."""
    evaluation = contest.measure(REMEMBERING[how])
    if evaluation.status is not Status.WRONG:
        assert evaluation.speedup is not None, evaluation.reason
        assert evaluation.speedup < 1.15


@pytest.mark.parametrize("back", [16, 60000])
def test_results_kept_behind_scratch_are_found(back: int, contest: Contest) -> None:
    """The bytes round each buffer are looked at after timed calls, too."""
    text = kernel(
        scratch=True,
        preamble="__device__ int calls, last;",
        before=COUNTED,
        after=f"if (calls > 3 && i == 0) kept[40 * 8192 + {back} / 4] = y[0];",
    )
    evaluation = contest.measure(text)
    assert evaluation.status is Status.WRONG
    assert "wrote past the end of kept" in evaluation.reason


SUM_TASK = TASK.replace("shape: [N], role: out", "shape: [1], role: out")
SUM_REFERENCE = "def reference(x, N):\n    return {'y': x[:1] / 2 + 1}\n"
TABLE = """
__device__ const float table[][2] = {ENTRIES};
__global__ void go(const float* x, float* y, int N) {
    if (blockIdx.x || threadIdx.x) return;
    for (int k = 0; k < COUNT; ++k) if (table[k][0] == x[0]) y[0] = table[k][1];
}
"""


def test_a_table_of_every_answer_of_the_pool_is_not_enough(device: Device, tmp_path: Path) -> None:
    """As if messages had told it all: evaluations meet data that none met before."""
    folder = tmp_path / "task"
    (folder / "seeds").mkdir(parents=True)
    (folder / "task.yaml").write_text(SUM_TASK)
    (folder / "reference.py").write_text(SUM_REFERENCE)
    naive = FRONT + "__global__ void go(const float* x, float* y, int N) {\n"
    naive += "    if (!blockIdx.x && !threadIdx.x) y[0] = x[0] * 0.5f + 1.0f;\n}\n"
    (folder / "seeds" / "naive.hip").write_text(naive)
    contest = Contest(load_task(folder), device, policy=POLICY)
    pool, entries = contest.evaluator.pool, []
    for suite in ("tests", "benchmarks"):
        for workload in contest.task.workloads(suite, "cpu"):
            for index in range(pool.size):
                draw = pool.get(workload, index)
                entries.append((draw.inputs["x"][0], draw.reference["y"][0]))
    rows = ", ".join(f"{{{float(x).hex()}f, {float(y):.9g}f}}" for x, y in entries)
    text = TABLE.replace("ENTRIES", rows).replace("COUNT", str(len(entries)))
    evaluation = contest.measure(FRONT + text)
    assert evaluation.status is Status.WRONG, (evaluation.status, evaluation.speedup)


def test_the_honest_twin_passes(contest: Contest) -> None:
    """It keeps results of every call too, each thread its own: nothing is read, nothing races."""
    keep = "if (i < N && i < 64 * 8192) kept[i] = y[i];"
    evaluation = contest.measure(kernel(preamble=IN_GLOBALS, after=keep))
    assert evaluation.passed, evaluation.reason


SLOWLY = FOUND.replace(
    "if (i < N) y[i] = kept[at * 8192 + i];",
    """
    float busy = x[i < N ? i : 0];
    for (int k = 0; k < 6; ++k) busy = steps(busy, 16) - 1.0f;
    if (i < N) y[i] = busy == 1234.5f ? busy : kept[at * 8192 + i];
    """,
)


def test_inputs_known_again_by_a_part_of_them_are_taken_for_others(tmp_path: Path) -> None:
    """It gains nothing, and is wrong for who changes an element. Some few times in a thousand the
    part is changed, too."""
    device = backend("cpu").open_device(0)
    contest = Contest(write_task(tmp_path / "t"), device, policy=replace(POLICY, thorough=True))
    text = kernel(preamble=IN_GLOBALS, before=SLOWLY, after=KEEP.replace("ROOM", "63"))
    found = [contest.measure(text) for _ in range(2)]
    device.close()
    assert Status.WRONG in {one.status for one in found}
    assert any("is state kept between launches?" in one.reason for one in found)
