"""Reads and writes beyond a buffer, and writes to inputs, that change no output are found."""

import pytest

from evaluators.cpu.device import compiler, open_device
from evaluators.evaluate import Evaluator, compile_kernel
from evaluators.evaluation import Status
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from tests.evaluators.small_task import FRONT, PREPARED, kernel, write_task

READ = "if (i == 0) (void)((volatile const float *){})[{}];"
RESTORED = (
    "if (i == 0) {{ volatile float* q = (volatile float*){}; float v = q[0]; q[0] = 1; q[0] = v; }}"
)
SCRATCH = FRONT.replace("[w, x, t, y, N]", "[w, x, t, y, s, N]").replace(
    "---*/", 'scratch: {s: "4 * N"}\n---*/'
)
WITH_SCRATCH = "int* t, float* y, float* s"
BEYOND = {
    "reads 256 bytes past an input": (READ.format("x", "N + 64"), "read past the end of x"),
    "reads just before an input": (READ.format("x", "-1"), "read before the start of x"),
    "reads past a constant": (READ.format("w", "N + 200"), "read past the end of w"),
    "reads before an output": (READ.format("y", "-3"), "read before the start of y"),
    "writes past an output": ("if (i == 0) y[N + 300] = 1.0f;", "wrote past the end of y"),
    "writes just past an output": ("if (i == 0) y[N] = 1.0f;", "wrote past the end of y"),
    "writes before an output": ("if (i == 0) t[-1] = 1;", "wrote before the start of t"),
    "restores an input": (RESTORED.format("x"), "wrote to its input x (byte 0)"),
    "restores a constant": (RESTORED.format("w"), "wrote to its input w (byte 0)"),
    "reads past scratch": (READ.format("s", "N + 64"), "read past the end of s"),
}


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return load_task(write_task(tmp_path_factory.mktemp("task")))


@pytest.fixture(scope="module")
def evaluator(task: Task) -> Evaluator:
    return Evaluator(task=task, device=open_device(0), secret=1)


@pytest.mark.parametrize("name", BEYOND)
def test_what_lies_beyond_a_buffer_is_out_of_reach(
    name: str, task: Task, evaluator: Evaluator
) -> None:
    line, words = BEYOND[name]
    text = kernel(after=line)
    if "scratch" in name:
        text = kernel(after=line, front=SCRATCH).replace("int* t, float* y", WITH_SCRATCH)
    made, compiled = compile_kernel(text, task, compiler(), "cpu")
    verdict = evaluator.verify(made, compiled, "tests")
    assert verdict.status is Status.WRONG, verdict.reason
    assert words in verdict.reason


def test_a_kernel_that_reads_its_whole_buffers_passes(task: Task, evaluator: Evaluator) -> None:
    """Every element of each, first and last too, and scratch that outlives a launch."""
    text = kernel(
        before="if (i == 0) { float all = 0; for (int k = 0; k < N; ++k) all += w[k] * x[k] + t[k];"
        " s[N - 1] = all; s[0] = all; }",
        front=SCRATCH,
    ).replace("int* t, float* y", WITH_SCRATCH)
    made, compiled = compile_kernel(text, task, compiler(), "cpu")
    verdict = evaluator.verify(made, compiled, "tests")
    assert verdict.status is Status.PASSED, verdict.reason


def test_a_kernel_keeps_what_prepare_made(task: Task, evaluator: Evaluator) -> None:
    text = PREPARED + kernel(front="")
    made, compiled = compile_kernel(text, task, compiler(), "cpu")
    for suite in ("tests", "held_out"):
        verdict = evaluator.verify(made, compiled, suite)
        assert verdict.status is Status.PASSED, verdict.reason
