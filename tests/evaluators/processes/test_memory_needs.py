"""What shapes need of memory is said before, and refused where it does not fit."""

from dataclasses import replace

import pytest

from evaluators.device_info import BackendMissing, DeviceInfo
from evaluators.hip.emulator.device import emulated_info
from evaluators.measuring.policy import TimingPolicy
from evaluators.processes.memory_needs import memory_need, memory_text, require_memory
from evaluators.tasks.task_file import load_task

GIB = 1 << 30
MLA = load_task("mla_decode")
H100 = DeviceInfo(
    backend="cuda",
    name="NVIDIA H100",
    arch="sm_90",
    engine="cuda",
    compiler="nvrtc",
    wavefront=32,
    lds_bytes=48 << 10,
    max_threads=1024,
    cache_bytes=50 << 20,
    memory_bytes=80 * GIB,
    peak_flops={"float64": 67e12},
)


def test_a_need_is_what_its_shapes_take() -> None:
    need = memory_need(MLA, "cuda")
    assert need is not None and need.label.endswith("L=6144")
    cache, weights = 128 * 8192 * 576, 1536 * 7168 + 576 * 7168 + 24576 * 1536
    weights += 32768 * 512 + 7168 * 16384
    assert need.arguments == 2 * (cache + weights + 2 * 128 * 7168)
    assert need.references == 8 * (cache + 128 * 7168)
    assert need.nbytes > 2 * need.arguments + 3 * need.references
    small = memory_need(MLA, "cpu")
    assert small is not None and small.nbytes < GIB // 8


def test_it_is_said_before() -> None:
    said = memory_text(MLA, "cuda", H100)
    assert said.startswith("memory: at least 16.") and "of the device's 80 GiB" in said
    assert "4.5 GiB of references a draw" in said and "a reference takes about 0.0" in said
    assert memory_text(load_task("sgemm"), "cuda") == ""
    assert memory_text(MLA, "cpu") == ""


def test_what_does_not_fit_is_refused_in_a_sentence() -> None:
    require_memory(MLA, H100)
    with pytest.raises(
        BackendMissing, match=r"mla_decode needs at least 16\.\d GiB of the device's 8"
    ):
        require_memory(MLA, replace(H100, memory_bytes=8 * GIB))
    require_memory(MLA, replace(H100, memory_bytes=0))  # nobody knows
    emulated = replace(emulated_info(), memory_bytes=GIB, timed=False)
    require_memory(MLA, emulated)  # leaves large shapes out


def test_bindings_leave_room_on_a_small_device() -> None:
    policy = TimingPolicy(max_copies=48, copies_bytes=2 * GIB)
    wide, narrow = H100, replace(H100, memory_bytes=24 * GIB)
    for info, most in ((wide, 10 * GIB), (narrow, 3 * GIB)):
        assert 18 * policy.room(info, 18) <= most
        assert policy.copies_of(64 << 20, info, 48, 18) * (64 << 20) <= policy.room(info, 18)
    assert policy.copies_of(64 << 20, wide, 48, 4) == 32
    assert policy.copies_of(GIB, narrow, 48, 18) == 1
