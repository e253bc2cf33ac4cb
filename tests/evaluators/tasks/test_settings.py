"""What a task.yaml says beside sizes and float32: attributes, dtypes, optional arguments, strides,
expressions in distributions; and its complaints."""

from pathlib import Path

import numpy as np
import pytest

from evaluators.checks.shapes import derived_shapes
from evaluators.dtypes import DTYPES
from evaluators.tasks.arguments import TaskError, Workload
from evaluators.tasks.covering import covering_shapes
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from evaluators.tasks.workload import Setting

TASK = """dims: [R, C]
attributes: {eps: 1.0e-5, causal: true, k: -3}
dtypes: {T: [float32, bfloat16]}
arguments:
  - {name: x, dtype: T, shape: [R, C], role: in,
     distribution: {kind: uniform, low: k, high: "C / 2"}}
  - {name: bias, dtype: float32, shape: [C], role: in, optional: true}
  - {name: index, dtype: int64, shape: [R], role: in, distribution: {kind: integers, high: C}}
  - {name: mask, dtype: bool, shape: [R], role: in}
  - {name: a, dtype: float32, shape: [R, C], strides: ["C + 1", 1], role: in}
  - {name: y, dtype: T, shape: [R, C], role: out, rtol: {float32: 1e-5, bfloat16: 2e-2}, atol: eps}
flops: "R * C / sizeof(T) + causal"
tests:
  - {R: 3, C: 5}
  - {R: 8, C: 4, eps: 0, causal: false, T: bfloat16, bias: null}
benchmarks:
  - {R: 64, C: 64, weight: 3, k: 2}
  - {R: 32, C: 64, T: bfloat16}
"""
REFERENCE = """
def reference(x, bias, R, **others):
    return {"y": x + (0 if bias is None else bias)}
"""
SEED = """/*---
launches: [{kernel: f, grid: [1], block: [1], args: []}]
---*/
__global__ void f() {}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "naive.hip").write_text(SEED)
    (tmp_path / "task.yaml").write_text(TASK)
    (tmp_path / "reference.py").write_text(REFERENCE)
    return tmp_path


def changed(folder: Path, old: str, new: str, file: str = "task.yaml") -> Task:
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))
    return load_task(folder)


def test_workloads_keep_what_they_set(folder: Path) -> None:
    task = load_task(folder)
    plain, other = task.workloads("tests", "cpu")
    assert plain.label == "R=3 C=5 eps=1e-05 causal=true k=-3 T=float32"
    assert other.label == "R=8 C=4 eps=0.0 causal=false k=-3 T=bfloat16 bias=null"
    assert plain.env == {
        "R": 3,
        "C": 5,
        "eps": 1e-5,
        "causal": 1,
        "k": -3,
        "T": "float32",
        "is_null(bias)": 0,
    }
    assert [w.weight for w in task.workloads("benchmarks", "cpu")] == [3.0, 1.0]
    assert task.flops is not None
    assert task.flops.evaluate(plain.env) == 15 / 4 + 1
    assert task.flops.evaluate(other.env) == 32 / 2


def test_a_workload_chooses_dtypes_and_leaves_null_arguments_out(folder: Path) -> None:
    task = load_task(folder)
    plain, other = task.workloads("tests", "cpu")
    assert task.on(plain) is task and task.arguments[0].dtype == "float32"
    there = task.on(other)
    assert [a.name for a in there.arguments] == ["x", "index", "mask", "a", "y"]
    assert there.arguments[0].dtype == "bfloat16" and there.on(plain) is task
    y, z = task.outputs[0], there.outputs[0]
    assert (y.rtol(plain.env), z.rtol(other.env)) == (1e-5, 2e-2)
    assert (y.atol(plain.env), z.atol(other.env)) == (1e-5, 0.0)


def test_inputs_are_drawn_by_expressions_and_strides_take_room(folder: Path) -> None:
    task = load_task(folder)
    plain, other = task.workloads("tests", "cpu")
    inputs = task.inputs(plain, 5)
    assert inputs["x"].min() >= -3 and inputs["x"].max() < 2.5
    assert set(np.unique(inputs["index"])) <= set(range(5)) and inputs["index"].dtype == np.int64
    assert inputs["mask"].dtype == np.bool_ and inputs["a"].shape == (3, 5)
    a = task.arguments[4]
    assert a.nbytes(plain.env) == 4 * (1 + 2 * 6 + 4)
    assert "bias" not in task.inputs(other, 5)
    assert task.reference(other, task.inputs(other, 5))["y"].shape == (8, 4)


def test_derived_shapes_keep_settings_and_meet_every_one(folder: Path) -> None:
    task = load_task(folder)
    stated = [w for suite in ("tests", "benchmarks") for w in task.suites[suite]["default"]]
    settings = [w.setting for w in stated]
    derived = derived_shapes(task, "cpu")
    assert all(w.setting in settings for w in derived)
    assert all(any(w.setting == one for w in derived) for one in settings)
    assert {w.label for w in task.workloads("held_out", "cpu")}  # ragged ones, of each benchmark
    assert [w.setting for w in task.workloads("held_out", "cpu")] == settings[2:]


def test_more_settings_than_shapes_are_all_met() -> None:
    stated = [
        Workload(dims={"N": 64 * (i + 1)}, suite="tests", setting=Setting(attributes={"k": i}))
        for i in range(14)
    ]
    made = covering_shapes(stated, lambda _: True)
    assert {w.setting.attributes["k"] for w in made} == set(range(14))


def test_an_attribute_that_no_dim_is_below_bounds_derived_shapes_too() -> None:
    stated = [
        Workload(dims={"N": n}, suite="tests", setting=Setting(attributes={"k": k}))
        for n, k in ((8, 4), (500, 64), (1000, 100))
    ]
    made = covering_shapes(stated, lambda _: True)
    assert made and all(w.dims["N"] >= w.setting.attributes["k"] for w in made)


def test_a_task_without_dims_has_one_shape(folder: Path) -> None:
    text = "arguments:\n  - {name: y, dtype: float32, shape: [3], role: out, rtol: 0, atol: 0}\n"
    (folder / "task.yaml").write_text(text + "tests: [{}]\nbenchmarks: [{}]\n")
    (folder / "reference.py").write_text("def reference():\n    return {'y': [1, 2, 3]}\n")
    task = load_task(folder)
    (only,) = task.workloads("tests", "cpu")
    assert (only.label, only.env, task.dims) == ("the one shape", {}, ())
    assert derived_shapes(task, "cpu") == ()
    assert np.array_equal(task.reference(only, {})["y"], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("dtype", [name for name, one in DTYPES.items() if one.kind in "biu"])
def test_every_integer_type_is_drawn_to_its_ends(dtype: str, folder: Path) -> None:
    info = np.iinfo(np.uint8 if dtype == "bool" else DTYPES[dtype])
    low, high = (0, 2) if dtype == "bool" else (int(info.min), min(int(info.max), 2**63 - 1))
    drawn = f"{{kind: integers, low: {low}, high: {high}}}"
    task = changed(
        folder,
        "dtype: int64, shape: [R], role: in, distribution: {kind: integers, high: C}",
        f"dtype: {dtype}, shape: [R, 1000], role: in, distribution: {drawn}",
    )
    values = task.inputs(task.workloads("tests", "cpu")[0], 1)["index"]
    assert values.dtype == DTYPES[dtype]
    assert float(values.max()) - float(values.min()) > 0.9 * (high - 1 - low)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("k: -3", "k: minus", "attributes: k must be an integer, a decimal number, true or false"),
        ("k: -3", "k: .inf", "attributes: k must be finite"),
        ("k: -3", "R: 3", "'R' stands in two of dims, attributes and dtypes"),
        ("k: -3", "rng: 3", "attributes: 'rng' is not a name that it can have"),
        ("k: -3", "bool: 3", "attributes: 'bool' is not a name that it can have"),
        ("T: [float32", "T: [float31", "dtypes: T: 'float31' is not one of float32"),
        ("T: [float32, bfloat16]", "T: []", "dtypes: T needs a list of dtypes"),
        ("T: [float32, bfloat16]", "T: [float32, float32]", "dtypes: T: a dtype stands twice"),
        ("dtype: T, shape: [R, C], role: in", "dtype: U, shape: [R, C], role: in", "x: dtype 'U'"),
        ("bfloat16: 2e-2}", "float16: 2e-2}", "y: rtol: it gives each of float32, bfloat16"),
        ("atol: eps", "atol: {float32: 1}", "y: atol: it gives each of float32, bfloat16"),
        ("role: in, optional: true", "role: in, optional: 1", "bias: optional must be true or"),
        ('strides: ["C + 1", 1]', "strides: [1]", "a: strides: 1 of them for a shape of 2"),
        ('strides: ["C + 1", 1]', 'strides: ["C - 1", 1]', "of shape [3, 5] share a place"),
        ('strides: ["C + 1", 1]', "strides: [C, 0]", "a: strides is 0 on R=3 C=5"),
        ('strides: ["C + 1", 1]', "strides: [LD, 1]", "a: strides: 'LD' is not in dims, attr"),
        ("high: C}", "high: 0}", "index: distribution on R=3 C=5 eps=1e-05 causal=true k=-3 T=flo"),
        ("high: C}", "high: [C]}", "index: high must be a number or an expression"),
        ("high: C}", "high: D}", "index: high: 'D' is not in dims, attributes or dtypes"),
        ("dtype: bool,", "dtype: bool, distribution: normal,", "a bool is drawn from 'integers'"),
        ("dtype: int64", "dtype: int8", "is more than -128 to 127"),
        ("R: 3, C: 5", "R: 3, C: 5, eps: true", "tests: eps must be a number, as its default"),
        ("R: 3, C: 5", "R: 3, C: 5, causal: 1", "tests: causal must be true or false"),
        ("R: 3, C: 5", "R: 3, C: 5, k: 1.5", "tests: k must be an integer, as its default is"),
        ("R: 3, C: 5", "R: 3, C: 5, T: float16", "tests: T 'float16' is not one of float32, bf"),
        ("R: 3, C: 5", "R: 3, C: 5, bias: 1", "tests: bias may be null or left out, no more"),
        ("R: 3, C: 5", "R: 3, C: 5, x: null", "and maybe eps, causal, k, T, bias, not x"),
        ("R: 3, C: 5", "R: 3, C: 5, weight: 2", "and maybe eps, causal, k, T, bias, not weight"),
        ("weight: 3", "weight: 0", "benchmarks: weight must be a positive number, not 0"),
        ('"R * C / sizeof(T) + causal"', '"T * 2"', "T is a dtype and no number"),
        ('"R * C / sizeof(T) + causal"', '"T == 2"', "a dtype is compared with another one"),
        ('"R * C / sizeof(T) + causal"', '"sizeof(C)"', "sizeof takes a dtype, not 'C'"),
        ('"R * C / sizeof(T) + causal"', '"is_null(x)"', "flops: 'is_null(x)' is not in dims"),
        ('"R * C / sizeof(T) + causal"', '"sqrt(k)"', "sqrt needs a number that is not negative"),
        ("shape: [C], role: in", "shape: [eps], role: in", "is not an integer, but must be"),
    ],
)
def test_a_mistake_is_one_sentence_with_file_and_line(
    folder: Path, old: str, new: str, told: str
) -> None:
    if "high: C" in old or "dtype: int64" in old:
        (folder / "task.yaml").write_text(TASK.replace("R: 3, C: 5", "R: 3, C: 500"))
        told = told.replace("C=5 ", "C=500 ")
    with pytest.raises(TaskError) as caught:
        changed(folder, old, new)
    assert told in str(caught.value)
    assert "task.yaml, line " in str(caught.value) and "\n" not in str(caught.value)


def test_decimals_without_a_point_are_numbers(folder: Path) -> None:
    task = changed(folder, "eps: 1.0e-5", "eps: 1e-5")
    assert task.attributes["eps"] == 1e-5


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("def reference(x, D): pass", "missing 1 required positional argument: 'D'"),
        ("inputs = 3\ndef reference(): pass", "inputs is no function"),
        (
            REFERENCE + "def inputs(rng, R): return [R]",
            "inputs() on R=3 C=5 eps=1e-05 causal=true k=-3 T=float32 must return a dict by name",
        ),
        (REFERENCE + "def inputs(rng): return {'y': 1}", "returned 'y', which is no input there"),
        (REFERENCE + "def inputs(rng): return {'mask': [True]}", "mask has shape (1,), task.yaml"),
        (
            REFERENCE + "def inputs(rng, R): return {'index': [0.5] * R}",
            "index has dtype float64, but must hold integers",
        ),
        (
            REFERENCE + "def inputs(rng, R): return {'mask': [3] * R}",
            "mask holds numbers that bool does not",
        ),
        (REFERENCE + "def inputs(rng, R):\n    return R / 0", "raised ZeroDivisionError: division"),
    ],
)
def test_what_functions_may_not_do_is_told(folder: Path, reference: str, told: str) -> None:
    (folder / "reference.py").write_text(reference)
    with pytest.raises(TaskError) as caught:
        task = load_task(folder)
        workload = task.workloads("tests", "cpu")[0]
        task.reference(workload, task.inputs(workload, 1))
    assert told in str(caught.value) and "reference.py" in str(caught.value)


def test_inputs_returns_the_same_names_for_each_workload(folder: Path) -> None:
    made = (
        "import numpy as np\ndef inputs(rng, R, causal):\n    made = {'mask': np.ones(R, bool)}\n"
    )
    made += "    return made if causal else {'index': np.zeros(R, int)}\n"
    (folder / "reference.py").write_text(made + REFERENCE)
    task = load_task(folder)
    plain, other = task.workloads("tests", "cpu")
    assert task.inputs(plain, 1)["mask"].all() and task.makes == {"mask"}
    with pytest.raises(TaskError, match="it must return the same names for each workload"):
        task.inputs(other, 1)


def test_an_integer_input_needs_a_distribution_or_inputs(folder: Path) -> None:
    whole = "role: in, distribution: {kind: integers, high: C}"
    with pytest.raises(TaskError, match="an int64 is drawn from 'integers', not 'normal'"):
        changed(folder, whole, "role: in")
    (folder / "reference.py").write_text(REFERENCE + "def inputs(rng): return {}\n")
    task = load_task(folder)
    with pytest.raises(TaskError, match="index has no distribution, and inputs\\(\\) does not"):
        task.inputs(task.workloads("tests", "cpu")[0], 1)


def test_a_check_spares_outputs_their_tolerance_but_no_others(folder: Path) -> None:
    text = TASK.replace(", rtol: {float32: 1e-5, bfloat16: 2e-2}, atol: eps", "")
    (folder / "task.yaml").write_text(text)
    with pytest.raises(TaskError, match="y: an output needs a tolerance"):
        load_task(folder)
    check = "def check(outputs, inputs): pass\n"
    (folder / "reference.py").write_text(check)
    task = load_task(folder)
    assert task.compares == frozenset()
    (folder / "reference.py").write_text(check + REFERENCE)
    with pytest.raises(TaskError, match="returned y, which has no tolerance in task"):
        _ = load_task(folder).compares
    (folder / "task.yaml").write_text(TASK)
    assert load_task(folder).compares == {"y"}
    (folder / "reference.py").write_text(check)
    with pytest.raises(TaskError, match="y has a tolerance, but reference"):
        load_task(folder)
