"""Generic edits of every kernel at hand: none raises, and each leads to a kernel that parses."""

from pathlib import Path

import pytest

from evaluators.device_info import target_of
from evaluators.evaluation import Rejected
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task, shipped_tasks
from operators.catalog.generic.analysis.reading import Reading, reading
from operators.catalog.generic.techniques import GENERIC, edits
from tests.soaked import one_in

TESTS = Path(__file__).parents[3]
SEEDS = sorted(TESTS.parent.glob("evaluators/tasks/*/seeds/*.hip"))
KERNELS = [*sorted(TESTS.glob("**/*.hip")), *SEEDS]
SGEMM = load_task("sgemm")


def task_of(file: Path) -> Task:
    """Its own, where it is a task's seed; else another, of whose dims it knows nothing."""
    own = file.parent.parent / "task.yaml"
    return load_task(own.parent) if own.exists() else SGEMM


def broken(text: str) -> bool:
    read = reading(text)
    return read is None or read.root.has_error


@pytest.mark.parametrize(
    "file", one_in(6, KERNELS), ids=lambda file: f"{file.parts[-3]}-{file.stem}"
)
def test_every_edit_is_a_kernel_file_of_its_own(file: Path) -> None:
    text = file.read_bytes().decode(errors="replace")
    task = task_of(file)
    for technique in GENERIC:
        for edit in edits(technique, text, task):
            kernel = parse_kernel(edit.text)
            assert kernel.id != parse_kernel(text).id, f"{technique.name} changes nothing"
            assert broken(text) or not broken(edit.text), f"{technique.name} {edit.place}"
            assert all(kernel.params[name] in values for name, values in kernel.space.items())


@pytest.mark.parametrize("name", shipped_tasks())
def test_every_edit_of_a_seed_plans_on_every_shape(name: str) -> None:
    task = load_task(name)
    for technique in GENERIC:
        for edit in edits(technique, task.naive, task):
            kernel = parse_kernel(edit.text)
            for suite in ("tests", "benchmarks"):
                for workload in task.workloads(suite, "cpu"):
                    kernel.plan(task, workload, target_of("cpu"))


@pytest.mark.parametrize(
    "code",
    [
        "",
        "}}}}((((",
        "__global__ void go(float* x) { for (;;) ; }",
        "__global__ void go(float* x) { auto f = [&](int i) { return x[i]; }; x[0] = f(1); }",
        "template <class T, int... N> __global__ void go(T* x) { ((x[N] = N), ...); }",
        "#define GO(n) __global__ void n(float* x) { x[0] = 1; }\nGO(go)",
        "__global__ void go(float* x) {\n#if A\n x[0] = 1; }\n#else\n x[1] = 2; }\n#endif",
        "__global__ void go(float (*x)[4], float& y) { int &z = *(int*)x; z = y; }",
        "__global__ void go(float* x) { int i, *j = &i, k[3] = {1, 2, 3}; x[k[*j]] = i; }",
        '__global__ void go(float* x) { x[0] = R"(})"[0]; /* ünïcode */ }',
        "__global__ void go(float* x) { int i = blockIdx.x; goto l; l:; }",
    ],
)
def test_odd_code_raises_nothing(code: str) -> None:
    front = "/*---\nlaunches:\n  - {kernel: go, grid: [1], block: [64], args: [a]}\n---*/\n"
    for technique in GENERIC:
        for edit in edits(technique, front + code, SGEMM):
            parse_kernel(edit.text)


def test_what_cannot_be_read_admits_no_edit() -> None:
    deep = SGEMM.naive.replace("0.0f", "(" * 300 + "0.0f" + ")" * 300)
    for text in ("no front matter", deep):
        assert all(not edits(technique, text, SGEMM) for technique in GENERIC)
    with pytest.raises(Rejected):
        Reading(parse_kernel("no front matter"))
