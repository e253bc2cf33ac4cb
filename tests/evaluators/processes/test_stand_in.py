"""Kernels of devices that show no races are watched on the cpu before they win."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.cpu import device as cpu
from evaluators.device import register
from evaluators.device_info import FURTHER_BACKENDS, BackendMissing, DeviceInfo
from evaluators.evaluate import evaluate_file
from evaluators.evaluation import Status, Verdict
from evaluators.kernel.source import parse_kernel
from evaluators.processes.stand_in import watched_elsewhere
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from tests.evaluators import without_oracle
from tests.evaluators.small_task import FRONT, kernel, write_task
from tests.soaked import one_in

MIRRORED = """
__global__ void go(const float* w, const float* x, int* t, float* y, int N) {
    __shared__ float tile[64];
    const int first = blockIdx.x * 64, i = first + threadIdx.x, other = 63 - threadIdx.x;
    if (i < N) {
        tile[threadIdx.x] = 2.0f * x[i] + w[i];
        t[i] = 2 * t[i];
    }
    %s;
    if (first + other < N) y[first + other] = tile[other];
}
"""
"""Every thread stores what another one computed."""


@pytest.fixture(name="task")
def small(tmp_path: Path) -> Task:
    return load_task(write_task(tmp_path / "small", flops="1"))


@pytest.fixture(scope="module", name="info")
def of_the_cpu() -> DeviceInfo:
    return cpu.open_device(0).info


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv(FURTHER_BACKENDS, "")
    register(without_oracle.NAME, without_oracle.MODULE)
    yield without_oracle.NAME


def watched(text: str, task: Task, info: DeviceInfo) -> Verdict:
    return watched_elsewhere(parse_kernel(text), task, info, 0)


def test_a_race_is_told_with_where_it_was_found(blind: str, task: Task) -> None:
    file = task.folder / "wrong.hip"
    file.write_text(kernel(before="if (i + 1 < N) y[i + 1] = 0.0f;"))
    found = evaluate_file(file, task, blind, seconds=0)
    assert found.status is Status.WRONG
    assert found.reason.startswith("on the cpu, "), found.reason


def test_a_right_kernel_passes_without_a_word(blind: str, task: Task) -> None:
    file = task.folder / "right.hip"
    file.write_text(FRONT + MIRRORED % "__syncthreads()")
    found = evaluate_file(file, task, blind, seconds=0)
    assert found.passed, found.reason
    assert "tried" not in found.log


def test_wavefronts_are_as_wide_as_the_devices_own(task: Task, info: DeviceInfo) -> None:
    text = FRONT + MIRRORED % "__builtin_amdgcn_wave_barrier()"
    assert watched(text, task, replace(info, wavefront=64)).passed
    assert watched(text, task, replace(info, wavefront=32)).status is Status.WRONG


@pytest.mark.parametrize(
    ("arch", "asked"),
    one_in(
        2,
        [
            ("gfx942", "if defined(__AMDGCN__) && defined(__gfx942__)"),
            ("sm_90a", "if defined(__HIP_PLATFORM_NVIDIA__) && __CUDA_ARCH__ >= 900"),
        ],
    ),
)
def test_what_only_the_device_compiles_is_watched(
    arch: str, asked: str, task: Task, info: DeviceInfo
) -> None:
    there = replace(info, arch=arch)
    text = FRONT + MIRRORED % f"\n#{asked}\n    %s;\n#else\n    %s;\n#endif\n    "
    none, barrier = "(void)0", "__syncthreads()"
    assert watched(text % (none, barrier), task, there).status is Status.WRONG
    assert watched(text % (barrier, none), task, there).passed
    cannot = "__builtin_amdgcn_sched_group_barrier(1, 1, 0)"
    assert watched(text % (cannot, barrier), task, there).passed
    assert watched(text % (cannot, none), task, there).status is Status.WRONG


def test_what_the_cpu_cannot_run_is_no_fault(task: Task, info: DeviceInfo) -> None:
    text = FRONT + MIRRORED % "__builtin_amdgcn_sched_group_barrier(1, 1, 0)"
    made = watched(text, task, info)
    assert made.passed
    assert "no order of blocks and threads was tried" in made.log


def test_without_a_compiler_the_log_says_so(
    task: Task, info: DeviceInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise BackendMissing("no g++")

    monkeypatch.setattr(cpu, "_check_machine", missing)
    made = watched(FRONT + MIRRORED % "__syncthreads()", task, info)
    assert made.passed
    assert made.log == "no order of blocks and threads was tried on the cpu: no g++"
