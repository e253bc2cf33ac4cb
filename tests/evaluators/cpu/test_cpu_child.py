"""The run child on cpu: what it may do, when it counts as done, and its end with its parent."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluators.cpu import run_child
from evaluators.cpu.device import CpuDevice, compiler, open_device
from evaluators.cpu.session import CpuSession
from evaluators.device import Binary
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import LaunchStep
from tests.evaluators.hostile import hostile
from tests.evaluators.launching import DEADLINE_S, MEMORY_BYTES, compile_one, launch, plan

COMPILER = compiler()
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def device() -> CpuDevice:
    return open_device(0)


x86_only = pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="these kernels hold x86 assembly"
)


@x86_only
@pytest.mark.parametrize(
    ("body", "name"),
    [
        ('ENTRY { call(2, (long)"/etc/passwd"); }', "open"),
        ('ENTRY { call(257, -100, (long)"/etc/passwd"); }', "openat"),
        ("ENTRY { call(41, 2, 1); }", "socket"),
        ("ENTRY { call(57); }", "fork"),
        ("ENTRY { call(56, 0x1200011); }", "clone"),
        ("ENTRY { call(62, call(110), 9); }", "getppid"),
        ("ENTRY { call(62, 1, 9); }", "kill"),
        ('ENTRY { call(59, (long)"/bin/sh"); }', "execve"),
        ("ENTRY { call(101, 16, 1); }", "ptrace"),
        ("ENTRY { call(1, 2, launch->args[0], 4); }", "write"),  # not the replies' pipe
        ("ENTRY { call(0, 0, launch->args[0], 4); }", "read"),
        ("ENTRY { call(9, 0, 4096, 7); }", "mmap"),
        ("ENTRY { call(10, launch->args[0] & ~4095, 4096, 7); }", "mprotect"),
        ("ENTRY { call(35, launch->args[0]); }", "nanosleep"),
        ("ENTRY { call(0x40000002, 0); }", "number 1073741826"),
    ],
)
def test_a_forbidden_call_ends_the_child(
    device: CpuDevice, tmp_path: Path, body: str, name: str
) -> None:
    compiled, step = hostile(tmp_path, body)
    with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
        buffers = {"out": session.alloc(4096)}
        with pytest.raises(Rejected) as caught:
            session.run(plan(step), buffers, deadline_s=DEADLINE_S)
    assert caught.value.status is Status.FORBIDDEN
    assert name in caught.value.reason


# An early reply, as the run child would write it: kind DONE, the sequence number of the command.
FORGED_REPLY = """
ENTRY {
    unsigned reply[32] = {2, (unsigned)launch->lds_bytes};
    call(1, FD, (long)reply, 128);
    volatile float *out = (float *)launch->args[0];
    for (long i = 0; i < 200000000; ++i) out[0] = out[0] + 1.0f;
}"""


@x86_only
def test_work_after_a_forged_reply_counts(device: CpuDevice, tmp_path: Path) -> None:
    """The parent waits until the child sleeps: then its own reply is one too many."""
    descriptor, tried = -1, 0  # of this process's files as they are, which may change meanwhile
    # the launch's LDS bytes tell the kernel which sequence number to try
    for sequence in range(1, 40):
        forging = launch("k", ["out"], lds_bytes=sequence)
        while tried < sequence:
            compiled, _ = hostile(tmp_path, FORGED_REPLY.replace("FD", str(descriptor)))
            with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
                there = reply_descriptor(session._child.pid)
                if there == descriptor:
                    reason, tried = refused(session, forging), sequence
                descriptor = there
        if "asked" in reason:
            break
        assert "forged" in reason
    assert "asked" in reason


def refused(session: CpuSession, step: LaunchStep) -> str:
    buffers = {"out": session.alloc(4096)}
    with pytest.raises(Rejected) as caught:
        session.run(plan(step), buffers, deadline_s=DEADLINE_S)
    assert caught.value.status is Status.FORBIDDEN
    return caught.value.reason


def reply_descriptor(pid: int) -> int:
    """The child's only pipe that it may write to."""
    for entry in Path(f"/proc/{pid}/fdinfo").iterdir():
        flags = int(entry.read_text().split("flags:")[1].split()[0], 8)
        target = os.readlink(f"/proc/{pid}/fd/{entry.name}")
        if target.startswith("pipe:") and flags & os.O_ACCMODE == os.O_WRONLY:
            return int(entry.name)
    raise AssertionError("no pipe")


@x86_only
def test_ending_its_own_process_is_no_result(device: CpuDevice, tmp_path: Path) -> None:
    compiled, step = hostile(tmp_path, "ENTRY { call(231, 0); }")
    with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
        buffers = {"out": session.alloc(4096)}
        with pytest.raises(Rejected) as caught:
            session.run(plan(step), buffers, deadline_s=DEADLINE_S)
    assert caught.value.status is Status.FORBIDDEN
    assert "ended its process" in caught.value.reason


def test_a_library_that_can_not_be_loaded_is_broken_infrastructure(
    device: CpuDevice, tmp_path: Path
) -> None:
    """The compiler's output was checked before: what does not load now is no kernel's fault."""
    compiled, _ = hostile(tmp_path, "ENTRY {}")
    symbols = compiled.binaries[()].symbols
    broken = replace(compiled, binaries={(): Binary(data=b"no library", symbols=symbols)})
    with pytest.raises(RuntimeError, match="library can't be read"):
        device.open(broken, memory_bytes=MEMORY_BYTES)


@pytest.mark.parametrize("where", [-1, 16])
def test_guard_pages_lie_round_every_buffer(device: CpuDevice, where: int) -> None:
    """A whole page's neighbours can't be touched at all, on either side."""
    code = "__global__ void k(int *x, int i) { ((volatile int *)x)[i] = 1; }"
    step = launch("k", ["x", where * 1024 if where < 0 else 1024])
    with device.open(compile_one(COMPILER, code, step), memory_bytes=MEMORY_BYTES) as session:
        session.alloc(4096)
        x = session.alloc(4096)
        session.alloc(4096)
        with pytest.raises(Rejected) as caught:
            session.run(plan(step), {"x": x}, deadline_s=DEADLINE_S)
    assert caught.value.status is Status.CRASHED
    assert "a write" in caught.value.reason
    assert "of x" in caught.value.reason


def test_the_child_has_nothing_and_is_pinned(device: CpuDevice) -> None:
    code = "__global__ void k(float *x) {}"
    with device.open(
        compile_one(COMPILER, code, launch("k", ["x"])), memory_bytes=MEMORY_BYTES
    ) as session:
        pid = session._child.pid
        assert Path(f"/proc/{pid}/environ").read_bytes() == b""
        session.run(plan(launch("k", ["x"])), {"x": session.alloc(4)}, deadline_s=DEADLINE_S)
        kinds = sorted(os.readlink(f.path).split(":")[0] for f in os.scandir(f"/proc/{pid}/fd"))
        assert kinds == ["pipe", "pipe"]
        status = Path(f"/proc/{pid}/status").read_text()
        assert "Seccomp:\t2" in status
        assert "NoNewPrivs:\t1" in status
        assert os.sched_getaffinity(pid) == {sorted(os.sched_getaffinity(0))[0]}
    assert not Path(f"/proc/{pid}").exists()


def test_a_child_that_is_kept_from_its_core_is_waited_for(device: CpuDevice) -> None:
    """A deadline is of processor time: a busy machine makes no right kernel a TIMEOUT."""
    code = "__global__ void k(int *x) { x[0] = 7; }"
    step = launch("k", ["x"])
    with device.open(compile_one(COMPILER, code, step), memory_bytes=MEMORY_BYTES) as session:
        x = session.alloc(4)
        os.kill(session._child.pid, signal.SIGSTOP)
        go_on = threading.Timer(0.3, os.kill, (session._child.pid, signal.SIGCONT))
        go_on.start()
        try:
            session.run(plan(step), {"x": x}, deadline_s=0.05)
        finally:
            go_on.join()
        assert session.read(x, np.dtype(np.int32), (1,))[0] == 7


def test_what_other_work_adds_to_an_empty_command_makes_no_kernel_quicker(
    device: CpuDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short one's microseconds are fewer than what a busy machine adds to a command."""
    step = launch("k", ["x"])
    compiled = compile_one(COMPILER, "__global__ void k(int *x) { x[0] = 1; }", step)
    monkeypatch.setattr(run_child, "_least_empty_us", {})
    for empty_us in ([60.0] * 6 + [20.0] + [60.0] * 2, [60.0] * 9):  # the second child meets more
        met = iter(empty_us)
        with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
            buffers = {"x": session.alloc(4)}

            def timed(records: int, deadline_s: float, met: Iterator[float] = met) -> float:
                return 24.0 if records else next(met)

            monkeypatch.setattr(session._child, "_timed", timed)
            assert session.time(plan(step), [buffers], deadline_s=DEADLINE_S) == 4.0


def test_run_children_die_with_a_killed_parent() -> None:
    parent = """
import os, time
from evaluators.cpu.device import compiler, open_device
from tests.evaluators.launching import compile_one, launch
compiled = compile_one(compiler(), "__global__ void k() {}", launch("k", []))
session = open_device(0).open(compiled, memory_bytes=1 << 20)
print(session._child.pid, flush=True)
time.sleep(100)
"""
    started = subprocess.Popen([sys.executable, "-c", parent], cwd=ROOT, stdout=subprocess.PIPE)
    assert started.stdout is not None
    pid = int(started.stdout.readline())
    assert Path(f"/proc/{pid}").exists()
    started.kill()
    started.communicate()
    end = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and not ended(pid):
        assert time.monotonic() < end
        time.sleep(0.02)


def ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True
