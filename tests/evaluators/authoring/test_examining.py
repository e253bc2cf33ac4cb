"""What check-task says of tasks that are bad in one way each, and of one that is not."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from evaluators.authoring.examining.costs import look_at_launches, look_at_light, needs
from evaluators.authoring.examining.examine import cases_without_device, examine
from evaluators.authoring.examining.finding import Finding
from evaluators.authoring.examining.inputs import look_at_inputs
from evaluators.authoring.examining.references import look_at_reference
from evaluators.authoring.examining.runs import error
from evaluators.authoring.examining.shapes import look_at_shapes
from evaluators.authoring.examining.tolerance import look_at_tolerance
from evaluators.tasks.arguments import TaskError
from evaluators.tasks.task_file import load_task, shipped_tasks

TASK = """
description: y = x + bias
dims: [N, C]
arguments:
  - {name: x, dtype: float32, shape: [N, C], role: in, distribution: DRAWN}
  - {name: bias, dtype: float32, shape: [C], role: in}
  - {name: y, dtype: float32, shape: [N, C], role: out, rtol: RTOL, atol: ATOL}
bytes: "8 * N * C + 4 * C"
tests: [{N: 1, C: 3}, {N: 30, C: 33}, {N: 65, C: 7}]
benchmarks: [{N: 512, C: 512}, {N: 300, C: 501}]
"""
REFERENCE = """
import numpy as np
def reference(x, bias, N, C):
    return {"y": x + bias}
"""
SEED = """/*---
launches:
  - {kernel: add, grid: ["ceil_div(N * C, 64)"], block: [64], args: [x, bias, y, N, C]}
---*/
__global__ void add(const float* x, const float* bias, float* y, int N, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N * C) {
        y[i] = x[i] + bias[i % C];
    }
}
"""


def write(
    folder: Path,
    *,
    reference: str = REFERENCE,
    seed: str = SEED,
    drawn: str = "normal",
    rtol: str = "1e-5",
    atol: str = "1e-6",
    changed: Sequence[tuple[str, str]] = (),
) -> Path:
    """changed: pairs of words in task.yaml and what stands in their place."""
    text = TASK.replace("DRAWN", drawn).replace("ATOL", atol).replace("RTOL", rtol)
    for old, new in changed:
        assert old in text
        text = text.replace(old, new)
    (folder / "seeds").mkdir(parents=True)
    (folder / "task.yaml").write_text(text)
    (folder / "reference.py").write_text(reference)
    (folder / "seeds" / "naive.hip").write_text(seed)
    return folder


def told(findings: Iterator[Finding], severity: str, words: str) -> bool:
    found = [*findings]
    assert any(one.severity == severity and words in one.found for one in found), found
    return True


def quiet(findings: Iterator[Finding]) -> bool:
    found = [one for one in findings if one.severity != "note"]
    assert not found, found
    return True


def returning(expression: str) -> str:
    return REFERENCE.replace("x + bias", expression)


# --- inputs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "severity", "words"),
    [
        ("x / 0 * bias", "wrong", "y holds NaN or infinity"),
        ("np.zeros_like(x) + np.arange(C)", "wrong", "y is the same whatever the inputs are"),
        ("x * 1e-6 + 5.0 + 1e-9 * bias", "weak", "all elements of y are nearly the same"),
        ("np.where(x > 2.9, x, 0.0) + 0 * bias", "weak", "almost all elements of y have one value"),
        ("x + 0 * bias", "weak", "bias makes no difference to any output"),
    ],
)
def test_inputs_that_test_nothing(
    tmp_path: Path, expression: str, severity: str, words: str
) -> None:
    task = load_task(write(tmp_path / "t", reference=returning(expression)))
    assert told(look_at_inputs(task, task.workloads("tests", "cpu")), severity, words)


# --- tolerance ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rtol", "atol", "expression", "severity", "words"),
    [
        ("1e-5", "100", "x + bias", "wrong", "zeros pass as y on every test"),
        ("1e-5", "1e-2", "5 + 1e-3 * x + 1e-3 * bias", "wrong", "constants (its mean) pass as y"),
        ("1e-5", "1e-2", "x + 1e-3 * bias", "wrong", "the inputs, unchanged, pass as y"),
        ("2e-1", "0", "x + bias", "weak", "of noise on each element passes"),
        ("1e-5", "1e-6", "0 * x * bias", "wrong", "y is zero on every test"),
    ],
)
def test_a_tolerance_that_everything_passes(
    tmp_path: Path, rtol: str, atol: str, expression: str, severity: str, words: str
) -> None:
    folder = write(tmp_path / "t", reference=returning(expression), rtol=rtol, atol=atol)
    task = load_task(folder)
    chosen = cases_without_device(task, task.workloads("tests", "cpu"))
    assert told(look_at_tolerance(task, chosen, []), severity, words)


def test_a_tolerance_that_nothing_passes(tmp_path: Path) -> None:
    task = load_task(write(tmp_path / "t", rtol="1e-8", atol="1e-9"))
    chosen = cases_without_device(task, task.workloads("tests", "cpu"))
    narrow = [{"y": one.draw.inputs["x"] + one.draw.inputs["bias"]} for one in chosen]
    assert max(error(task, *pair) for pair in zip(chosen, narrow, strict=True)) > 1
    assert told(look_at_tolerance(task, chosen, narrow), "weak", "of what the tolerance allows")


# --- references ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "severity", "words"),
    [
        ("x + bias + np.random.random()", "wrong", "another result for the same inputs"),
        ("np.add(x, bias, out=x)", "note", "reference() writes into x"),
    ],
)
def test_references_that_are_no_functions(
    tmp_path: Path, expression: str, severity: str, words: str
) -> None:
    task = load_task(write(tmp_path / "t", reference=returning(expression)))
    assert told(look_at_reference(task, task.workloads("tests", "cpu")), severity, words)


def test_a_reference_that_is_not_written_is_told_in_one_sentence(tmp_path: Path) -> None:
    unwritten = "def reference(x, bias, N, C):\n    raise NotImplementedError('write it')\n"
    found = examine(write(tmp_path / "t", reference=unwritten), "cpu", most=0)
    assert not found.fine
    assert "NotImplementedError: write it (line 2)" in found.findings[0].found


# --- shapes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "reference", "words"),
    [
        (
            [("{N: 1, C: 3}, {N: 30, C: 33}, {N: 65, C: 7}", "{N: 16, C: 16}, {N: 64, C: 32}"),
             ("{N: 300, C: 501}", "{N: 1024, C: 256}")],
            REFERENCE,
            "no test has a ragged N",
        ),
        (
            [("{N: 1, C: 3}, {N: 30, C: 33}, {N: 65, C: 7}", "{N: 30, C: 33}")],
            REFERENCE,
            "there is one test only",
        ),
        (
            [],
            returning("x + bias") + "    assert False\n",
            "no other shapes can be derived",
        ),
    ],
)  # fmt: skip
def test_shapes_that_test_little(
    tmp_path: Path, changed: list[tuple[str, str]], reference: str, words: str
) -> None:
    if "assert False" in reference:
        stated = "(N, C) in {(1, 3), (30, 33), (65, 7), (512, 512), (300, 501)}"
        reference = REFERENCE.replace(
            "    return", f"    assert {stated}, 'none of mine'\n    return"
        )
    task = load_task(write(tmp_path / "t", reference=reference, changed=changed))
    assert told(look_at_shapes(task, "cpu"), "weak", words)


# --- cost and speed of light --------------------------------------------------------------------


def test_more_work_than_there_is_shows_as_more_than_the_speed_of_light(tmp_path: Path) -> None:
    task = load_task(write(tmp_path / "t"))
    assert told(look_at_light(task, {"N=512 C=512": 1.4}), "wrong", "140% of it")
    assert quiet(look_at_light(task, {"N=512 C=512": 0.4}))


def test_nothing_said_of_work_is_noted(tmp_path: Path) -> None:
    task = load_task(write(tmp_path / "t", changed=[('bytes: "8 * N * C + 4 * C"\n', "")]))
    assert told(look_at_light(task, {}), "note", "neither flops nor bytes")


def test_sizes_that_are_over_before_a_launch_is(tmp_path: Path) -> None:
    task = load_task(write(tmp_path / "t"))
    assert told(look_at_launches(task), "weak", "what is measured there is launching")
    assert quiet(look_at_launches(load_task("softmax")))


def test_memory_and_time_are_told_of_every_benchmark(tmp_path: Path) -> None:
    task = load_task(write(tmp_path / "t"))
    found = needs(task, "cpu")
    assert {one.label for one in found} == {"N=512 C=512", "N=300 C=501"}
    large = max(found, key=lambda one: one.device_bytes)
    assert large.device_bytes == 8 * 512 * 512 + 4 * 512
    assert large.host_bytes > (4 + 8 + 8) * 512 * 512 and not large.estimated


# --- no false alarms ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", shipped_tasks())
def test_shipped_tasks_are_fine_as_far_as_no_device_is_asked(name: str) -> None:
    task = load_task(name)
    tests = task.workloads("tests", "cpu")
    assert quiet(look_at_reference(task, tests))
    assert quiet(look_at_inputs(task, tests))
    assert quiet(look_at_shapes(task, "cpu"))
    assert quiet(look_at_tolerance(task, cases_without_device(task, tests), []))
    assert quiet(look_at_launches(task))


def test_what_is_no_task_is_told(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="no task"):
        examine(tmp_path / "nothing", "cpu", most=0)
