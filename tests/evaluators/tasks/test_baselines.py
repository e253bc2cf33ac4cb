"""Weights and baselines in task.yaml: what is read, and how mistakes are told."""

from pathlib import Path

import pytest

from evaluators.tasks.baselines import baselines_on
from evaluators.tasks.task import Task, TaskError
from evaluators.tasks.task_file import load_task, shipped_tasks
from evaluators.weights import weights_of

TASK = """dims: [N]
arguments:
  - {name: x, dtype: float32, shape: [N], role: in}
  - {name: y, dtype: float32, shape: [N], role: out, rtol: 1.0e-5, atol: 0}
tests: [{N: 3}]
benchmarks: {cpu: [{N: 64, weight: 3}, {N: 100}], default: [{N: 4096}]}
"""
BASELINES = """baselines:
  - {name: torch, torch: "2 * x"}
  - {name: numpy, numpy: "2 * x"}
  - {name: lib, call: "calls.py:twice", backends: [cuda]}
  - {name: tuned, kernel: tuned.hip}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "naive.hip").write_text("a")
    (tmp_path / "reference.py").write_text("def reference(x, N):\n    return {'y': 2 * x}\n")
    (tmp_path / "calls.py").write_text("raise RuntimeError('read too early')\n")
    (tmp_path / "tuned.hip").write_text("k")
    return tmp_path


def loaded(folder: Path, text: str) -> Task:
    (folder / "task.yaml").write_text(text)
    return load_task(folder)


def test_benchmarks_have_weights(folder: Path) -> None:
    task = loaded(folder, TASK)
    assert weights_of(task.workloads("benchmarks", "cpu")) == {"N=64": 3.0, "N=100": 1.0}
    assert weights_of(task.workloads("benchmarks", "cuda")) == {}
    assert task.workloads("benchmarks", "cpu")[0].dims == {"N": 64}


@pytest.mark.parametrize("weight", ["0", "-1", "yes", ".inf", ".nan", "x", "[1]", "null"])
def test_a_weight_is_a_positive_number(folder: Path, weight: str) -> None:
    with pytest.raises(TaskError, match="weight"):
        loaded(folder, TASK.replace("weight: 3", f"weight: {weight}"))


def test_only_benchmarks_are_weighed(folder: Path) -> None:
    with pytest.raises(TaskError, match="weight"):
        loaded(folder, TASK.replace("tests: [{N: 3}]", "tests: [{N: 3, weight: 2}]"))


def test_baselines_are_read_and_are_no_part_of_the_hash(folder: Path) -> None:
    bare = loaded(folder, TASK)
    task = loaded(folder, TASK + BASELINES)
    between = loaded(folder, TASK.replace("tests:", BASELINES + "tests:"))
    assert task.hash == bare.hash == between.hash and bare.baselines == ()
    assert task.baselines == between.baselines
    names = {
        backend: [one.name for one in baselines_on(task.baselines, backend)]
        for backend in ("cpu", "cuda", "hip")
    }
    assert names == {
        "cpu": ["torch", "numpy", "tuned"],
        "cuda": ["torch", "lib", "tuned"],
        "hip": ["torch", "tuned"],
    }
    lib, tuned = task.baselines[2:]
    assert (lib.file, lib.function) == (folder.resolve() / "calls.py", "twice")
    assert tuned.file == folder.resolve() / "tuned.hip"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("- 3", "a baseline is a mapping"),
        ("- {torch: x}", "'name' is missing"),
        ("- {name: naive, torch: x}", "no name"),
        ("- {name: a b, torch: x}", "no name"),
        ("- {name: a}", "one of the keys kernel, torch, call, numpy"),
        ("- {name: a, torch: x, numpy: x}", "one of the keys"),
        ("- {name: a, torch: 3}", "torch must be text"),
        ('- {name: a, torch: "x +"}', "no Python expression"),
        ("- {name: a, torch: x, backend: [cpu]}", "unknown key 'backend'"),
        ("- {name: a, torch: x, backends: [tpu]}", "tpu"),
        ("- {name: a, numpy: x, backends: [cuda]}", "'cuda' is not one of cpu"),
        ("- {name: a, kernel: none.hip}", "there is no file"),
        ("- {name: a, call: calls.py}", "names a function"),
        ('- {name: a, call: "none.py:go"}', "there is no file"),
        ("- {name: a, torch: x}\n  - {name: a, numpy: x}", "stands twice"),
    ],
)
def test_a_mistake_is_one_sentence_with_its_line(folder: Path, line: str, told: str) -> None:
    with pytest.raises(TaskError) as caught:
        loaded(folder, f"{TASK}baselines:\n  {line}\n")
    assert told in str(caught.value)
    assert "task.yaml, line " in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("name", shipped_tasks())
def test_shipped_tasks_name_torch(name: str) -> None:
    kinds = {one.kind for one in load_task(name).baselines}
    assert "torch" in kinds or name in ("attention", "cross_entropy")  # refused on an H200
