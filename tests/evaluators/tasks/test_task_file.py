"""A user's own task folder: what it means, and what a mistake in it is answered with."""

from pathlib import Path

import numpy as np
import pytest

from evaluators.tasks.task import Task, TaskError
from evaluators.tasks.task_file import load_task

TASK = """description: scale and shift
dims: [R, C]
arguments:
  - {name: x, dtype: float32, shape: [R, "C + 1"], role: in,
     distribution: {kind: uniform, low: 2, high: 3}}
  - {name: idx, dtype: int32, shape: [R], role: constant,
     distribution: {kind: integers, low: 5, high: 9}}
  - {name: h, dtype: bfloat16, shape: [R], role: inout,
     distribution: {kind: normal, scale: 2, through: float8_e4m3fnuz}, rtol: 0, atol: 0}
  - {name: y, dtype: float32, shape: [R, C], role: out, rtol: 1.0e-4, atol: "1e-6 * C"}
flops: "R * C"
bytes: "8 * R * C"
tests: [{R: 3, C: 5}]
benchmarks: {cpu: [{R: 64, C: 64}], default: [{R: 4096, C: 4096}]}
"""
REFERENCE = """
def reference(x, idx, h, R, C):
    return {"y": x[:, :C] * idx[:, None], "h": h}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "b.hip").write_text("b")
    (tmp_path / "seeds" / "a.hip").write_text("a")
    (tmp_path / "task.yaml").write_text(TASK)
    (tmp_path / "reference.py").write_text(REFERENCE)
    return tmp_path


def test_a_folder_anywhere_is_a_task(folder: Path) -> None:
    task = load_task(folder)
    assert task.name == folder.name and task.dims == ("R", "C")
    assert task.naive == "a"
    (folder / "seeds" / "naive.hip").write_text("n")
    assert load_task(folder).naive == "n"
    (small,) = task.workloads("tests", "cuda")
    assert small.label == "R=3 C=5"
    assert task.workloads("benchmarks", "cpu")[0].dims == {"R": 64, "C": 64}
    assert task.workloads("benchmarks", "hip")[0].dims == {"R": 4096, "C": 4096}
    assert task.derives_held_out
    y = task.arguments[3]
    assert y.shape(small.dims) == (3, 5) and y.nbytes(small.dims) == 60
    assert y.rtol(small.dims) == 1e-4 and y.atol(small.dims) == pytest.approx(5e-6)


def test_a_task_states_the_classes_of_values_that_kernels_are_tried_with(folder: Path) -> None:
    silent = load_task(folder)
    assert silent.values is None
    assert {c: [a.name for a in on] for c, on in silent.unusual().items()} == {
        "spikes": ["h"],  # normal; x is uniform, which says that nothing else comes
        "large": ["h"],
        "small": ["h"],
    }
    (folder / "task.yaml").write_text(TASK + "values: [nan]\n")
    assert {c: [a.name for a in on] for c, on in load_task(folder).unusual().items()} == {
        "nan": ["x", "h"]
    }
    (folder / "task.yaml").write_text(TASK + "values: []\n")
    assert load_task(folder).unusual() == {}


def test_inputs_are_drawn_as_told_and_anew_for_each_seed(folder: Path) -> None:
    task = load_task(folder)
    (workload,) = task.workloads("benchmarks", "cpu")
    first, again, other = (task.inputs(workload, seed) for seed in (1, 1, 2))
    assert set(first) == {"x", "idx", "h"}
    assert first["x"].shape == (64, 65) and first["x"].dtype == np.float32
    assert 2 <= first["x"].min() < first["x"].max() < 3
    assert set(np.unique(first["idx"])) == {5, 6, 7, 8}
    assert first["h"].dtype.name == "bfloat16"
    assert np.array_equal(first["x"], again["x"]) and not np.array_equal(first["x"], other["x"])


def test_the_reference_sees_wide_numbers(folder: Path) -> None:
    task = load_task(folder)
    (workload,) = task.workloads("tests", "cpu")
    inputs = task.inputs(workload, 7)
    results = task.reference(workload, inputs)
    assert results["y"].dtype == np.float64
    wide = inputs["x"][:, :5].astype(np.float64) * inputs["idx"][:, None]
    assert np.array_equal(results["y"], wide)


def test_operations_are_no_part_of_the_hash_since_they_change_no_verdict(folder: Path) -> None:
    plain = load_task(folder)
    for operations in ('operations: {exp: "R * C"}\n', "operations:\n  exp: R\n  div: 3\n"):
        (folder / "task.yaml").write_text(TASK.replace("bytes:", f"{operations}bytes:"))
        task = load_task(folder)
        assert task.hash == plain.hash and task.operations
    (folder / "task.yaml").write_text(TASK + 'operations: {exp: "R * C"}\n')
    assert load_task(folder).hash == plain.hash
    assert load_task("softmax").operations["exp"].text == "R * C"


def test_the_hash_follows_the_task_and_its_reference(folder: Path) -> None:
    first = load_task(folder).hash
    (folder / "reference.py").write_text(REFERENCE + "\n# changed\n")
    second = load_task(folder).hash
    (folder / "task.yaml").write_text(TASK.replace("R: 3", "R: 4"))
    assert len({first, second, load_task(folder).hash}) == 3


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("dims: [R, C]\n", "", "'R' is not in dims"),
        ("dims: [R, C]", "dims: [R, C, min]", "'min' is not a name"),
        ("dims: [R, C]", "dims: [R, R]", "a name stands twice"),
        ("flops:", "flop:", "unknown key 'flop'"),
        ("dtype: float32, shape: [R, C]", "dtype: float80, shape: [R, C]", "dtype 'float80'"),
        ("dtype: int32", "dtype: [int32]", "dtype ['int32']"),
        ("dims: [R, C]", "compute_dtype: {a: 1}\ndims: [R, C]", "compute_dtype {'a': 1}"),
        ("bytes:", "operations: [exp]\nbytes:", "'operations' must be a mapping"),
        ("bytes:", "operations: {expp: R}\nbytes:", "operations: 'expp' is not one of rsqrt"),
        ("bytes:", "operations: {exp: Q}\nbytes:", "operations: exp: 'Q' is not in dims"),
        ("bytes:", 'operations: {exp: "R - C"}\nbytes:', "operations: exp is -2 on R=3 C=5"),
        ("bytes:", 'operations: {exp: "R // (C - 5)"}\nbytes:', "on R=3 C=5: division by zero"),
        ('"8 * R * C"', '"R - C"', "bytes is -2 on R=3 C=5"),
        ("role: constant", "role: weight", "role 'weight'"),
        ("name: h", "name: x", "a name stands twice"),
        ('"C + 1"', '"D + 1"', "'D' is not in dims"),
        ('"C + 1"', '"C - 9"', "x: shape is -4 on R=3 C=5"),
        ('"C + 1"', '"C / 2"', "Div is not allowed here: // divides integers"),
        (", rtol: 0, atol: 0", "", "an output needs a tolerance"),
        (", rtol: 0, atol: 0", ", rtol: 0, atol: 0, error_budget: no", "from 1 to 100"),
        (", rtol: 0, atol: 0", ", rtol: 0, atol: 0, error_budget: 0.5", "not 0.5"),
        ("role: constant", "role: constant, error_budget: 2", "outputs with a tolerance"),
        ("kind: uniform", "kind: gamma", "distribution 'gamma'"),
        ("kind: uniform", "kind: [uniform]", "distribution ['uniform']"),
        ("kind: integers, low: 5, high: 9", "kind: uniform", "drawn from 'integers'"),
        ("low: 5", "mean: 5", "has no 'mean'"),
        ("role: out", "role: out, distribution: ones", "an out is never drawn"),
        ("through: float8_e4m3fnuz", "through: fp8", "through 'fp8'"),
        ("through: float8_e4m3fnuz", "through: [a]", "through ['a']"),
        ("{R: 3, C: 5}", "{R: 3}", "gives each of R, C"),
        ("{R: 3, C: 5}", "{R: 3, C: 0}", "C must be a positive integer"),
        ("cpu: [", "gpu: [", "unknown key 'gpu'"),
        ("tests: [{R: 3, C: 5}]", "tests: []", "at least one entry"),
        ("tests:", "values: [spikes, odd]\ntests:", "values 'odd'"),
        ("tests:", "values: spikes\ntests:", "'values' must be a list"),
        ("tests:", "tests: [", "not YAML"),
    ],
)
def test_a_mistake_in_task_yaml_is_one_sentence_with_file_and_line(
    folder: Path, old: str, new: str, told: str
) -> None:
    assert old in TASK
    (folder / "task.yaml").write_text(TASK.replace(old, new))
    with pytest.raises(TaskError) as caught:
        load_task(folder)
    assert told in str(caught.value)
    assert "task.yaml, line " in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def reference(x, idx, h, R, C):\n    return 1", "must return a dict"),
        ("def reference(**_):\n    return {'h': 0}", "returned no|shape"),
        (
            "import numpy as np\ndef reference(x, idx, h, R, C):\n"
            "    return {'h': h, 'y': np.zeros((C, R))}",
            r"y has shape \(5, 3\), task.yaml says \(3, 5\)",
        ),
    ],
)
def test_a_wrong_reference_is_told(folder: Path, text: str, told: str) -> None:
    (folder / "reference.py").write_text(text)
    task: Task = load_task(folder)
    (workload,) = task.workloads("tests", "cpu")
    with pytest.raises(TaskError, match=told):
        task.reference(workload, task.inputs(workload, 0))


def test_what_is_missing_is_named(folder: Path) -> None:
    (folder / "reference.py").write_text("def reference(:")
    with pytest.raises(TaskError, match=r"reference.py, line 1"):
        load_task(folder)
    (folder / "reference.py").unlink()
    with pytest.raises(TaskError, match="every task needs a reference"):
        load_task(folder)
    with pytest.raises(TaskError, match=r"no task 'sgem' .*: name one of .*sgemm"):
        load_task("sgem")
