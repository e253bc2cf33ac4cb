"""Judging on the device and a child that faults, on the HIP runtime double."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluators.checks.disclosure import WITHHELD
from evaluators.checks.gpu_kernels import PROBED, compile_trusted
from evaluators.checks.gpu_work import entries_for
from evaluators.cuda.nvrtc import NvrtcChild
from evaluators.device import Compiled, Compiler, backend
from evaluators.device_info import BackendMissing
from evaluators.evaluation import Status
from evaluators.hip import device as hip
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.kernel.plan import Plan
from evaluators.kernel.source import KernelSource
from evaluators.tasks.task_file import load_task, shipped_tasks
from tests.evaluators.hip import test_hip_double
from tests.evaluators.test_evaluate import WRONG_KERNELS
from tests.soaked import one_in

SCRIPT = "from tests.evaluators.hip import on_double; on_double.main()"


def asked(question: str, folder: Path, *arguments: str) -> Any:
    said = test_hip_double.python(SCRIPT, question, str(folder), *arguments)
    return json.loads(said.splitlines()[-1])


@pytest.mark.long
def test_every_wrong_kernel_is_told_in_the_same_words(
    double: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = asked("verdicts", tmp_path)
    assert found.pop("right") == ["PASSED", ""]
    assert found.pop("held out") == ["PASSED", ""]
    assert len(found) >= 12
    for name, (status, reason) in found.items():
        _, wanted, words = WRONG_KERNELS[name]
        assert status == wanted, f"{name}: {reason}"
        if wanted is Status.WRONG:
            assert words in reason


@pytest.mark.long
def test_a_hole_between_the_sizes_is_met(double: pytest.MonkeyPatch, tmp_path: Path) -> None:
    right, hole = asked("swept", tmp_path)
    assert right == ["PASSED", ""]
    assert hole == ["WRONG", WITHHELD]


@pytest.mark.soak
def test_tasks_of_their_own_are_drawn_and_judged(
    double: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = asked("own", tmp_path)
    for name, (status, reason) in found.items():
        if name.endswith(": right"):
            assert (status, reason) == ("PASSED", ""), name
        else:
            assert status == "WRONG", name
    assert found["rows: changes what is made"][1].startswith("changed its input cols")
    assert "check() raised IndexError" in found["largest: beyond the row"][1]
    told = "the task's own check finds the outputs wrong on R="  # of benchmarks no more is told
    assert found["largest: the first is left out"][1].startswith(told)
    assert "p[0] is 2" in found["settings: a bool of two"][1]


def test_the_device_compares_as_numpy_does(double: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = asked("comparisons", tmp_path)
    assert len(found) == 8 * 17
    for name, got, wanted in found:
        assert got == wanted, name
    assert len({error for _, (error, _), _ in found}) > 15


SOME = ("linear", "mla_decode", "residual_add", "sum_reduction", "top_k")
"""Of each kind one: dtypes and null, inout by a reference.hip with scratch and without one, summed
up by atomics, with check(), exact."""


@pytest.mark.parametrize("names", [SOME, pytest.param(shipped_tasks(), marks=pytest.mark.soak)])
def test_references_on_the_device_are_checked_and_judge(
    double: pytest.MonkeyPatch, tmp_path: Path, names: tuple[str, ...]
) -> None:
    """In one process, since starting one takes longer than a task does; all only in the soak, as
    each is compiled by hiprtc and g++ (test_seeds.py looks at every reference on cpu)."""
    found = asked("references", tmp_path, *names)
    assert set(found) == set(names)
    for name, errors in found.items():
        task = load_task(name)
        tests = task.workloads("tests", "hip")
        assert len(errors) >= len(tests), name
        assert max(errors.values()) < 1, name  # of secret data; one in 1,000 sums is beyond a half
        rounded = any(output.rounded(w.env) for w in tests for output in task.on(w).outputs)
        assert (max(errors.values()) > 0) == rounded, name


@pytest.mark.long
def test_a_fault_costs_one_kernel_and_a_sick_device_is_told(
    double: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Launch 2 is the probe's; go is the kernel, and draw_jobs makes its data."""
    wanted = {
        "illegal_address:2": ("SICK", "can't be used: the harness's own kernels failed"),
        "abort:1:draw_jobs": (
            "CRASHED",
            "the device failed 3 times while this kernel was measured",
        ),
        "abort:1:_Z2go": (
            "CRASHED",
            "the process that ran go ended with SIGABRT: Memory access fault",
        ),
        "hang:1:_Z2go": ("TIMEOUT", "the launches took longer than 3 s on N=1"),
    }
    found = asked("faults", tmp_path, *wanted)
    for fault, (status, words) in wanted.items():
        assert found[fault][0] == status, found[fault]
        assert words in found[fault][1], found[fault]
        assert found[fault][2] in ("", "PASSED")
    assert not list(tmp_path.glob("gpucore.*"))  # as large as the device's memory


def test_a_harness_that_does_not_compile_is_no_fault_of_a_device(
    gfx942: HiprtcChild, tmp_path: Path
) -> None:
    """As where ROCm's headers are not installed."""
    without = HiprtcChild(replace(gfx942.toolchain, include=tmp_path))
    with without as child, pytest.raises(BackendMissing) as caught:
        compile_trusted(load_task("sgemm"), hip.compiler(arch="gfx942", child=child), "hip")
    said = str(caught.value)
    assert "harness's own kernels do not compile for hip" in said
    assert "file not found" in said
    assert "kernel-scientist doctor" in said


def test_a_machine_without_headers_is_not_taken_for_a_sick_device(
    double: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kind, said = asked("without_headers", tmp_path)
    assert kind == "BackendMissing", said
    assert "file not found" in said


class Once:
    """A compiler that remembers: the harness is the same for every task."""

    def __init__(self, compiler: Compiler) -> None:
        self._compiler = compiler
        self._made: dict[str, Compiled] = {}

    def compile(self, kernel: KernelSource, plans: Sequence[Plan]) -> Compiled:
        asked = repr((kernel, plans))
        if asked not in self._made:
            self._made[asked] = self._compiler.compile(kernel, plans)
        return self._made[asked]


@pytest.fixture(scope="module")
def for_nvidia() -> Compiler:
    try:
        with NvrtcChild() as child:
            assert child.version
    except BackendMissing as missing:
        pytest.skip(str(missing))
    return Once(backend("cuda").compiler(arch="sm_90"))


@pytest.mark.parametrize("task", one_in(3, shipped_tasks()))
def test_what_is_trusted_compiles_for_nvidia(for_nvidia: Compiler, task: str) -> None:
    loaded = load_task(task)
    trusted = compile_trusted(loaded, for_nvidia, "cuda")
    dtypes = {one.dtype for output in loaded.outputs for one in (output, *output.each.values())}
    assert len(trusted.harness.resources) == len(entries_for({*dtypes, PROBED}))
    assert (trusted.reference is not None) == (loaded.folder / "reference.hip").is_file()


@pytest.mark.soak
def test_probes_answer_on_the_double_whatever_became_of_them(
    double: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = asked("probes", tmp_path)
    right = {name: one for name, one in found.items() if one[0] == "PASSED"}
    assert set(right) == {"shuffle_order", "barrier", "lds", "right"}
    assert right["right"][2][0].endswith("out begins with 2 to 5 in steps of 1.")
    assert right["shuffle_order"][2][0].startswith("In a wavefront of 64 lanes")
    assert found["hangs"][0] == "TIMEOUT"
    assert found["writes beyond"][:2] == ["WRONG", "the probe wrote behind its buffer out"]
    assert found["faults"][0] == "CRASHED"
