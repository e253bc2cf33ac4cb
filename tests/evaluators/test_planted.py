"""Kernels planted to cheat, break in or break down: each gets its status and a plain reason."""

import platform
from pathlib import Path

import pytest

from evaluators.cpu.device import CpuDevice, compiler, open_device
from evaluators.evaluate import Evaluator, TimingPolicy, compile_kernel, failed
from evaluators.evaluation import Evaluation, Rejected, Status
from evaluators.kernel.source import kernel_id
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task

PLANTED = Path(__file__).resolve().parents[1] / "kernels" / "planted"
MARKER = "@MARKER@"

EXPECTED: dict[str, tuple[Status, tuple[str, ...]]] = {
    "wrong_result": (Status.WRONG, ("c",)),
    "partial_result": (Status.WRONG, ("c",)),
    "crash": (Status.CRASHED, ("SIGSEGV", "a read")),
    "endless_loop": (Status.TIMEOUT, ("still running",)),
    "write_past_end": (Status.WRONG, ("c",)),
    "write_to_input": (Status.WRONG, ("a",)),
    "too_much_lds": (Status.LAUNCH_ERROR, ("131072", "65536")),
    "too_much_dynamic_lds": (Status.LAUNCH_ERROR, ("65537", "65536")),
    "too_many_threads": (Status.LAUNCH_ERROR, ("1056", "1024")),
    "bad_front_matter": (Status.INVALID, ("line",)),
    "expression_bomb": (Status.INVALID, ("line",)),
    "include_direct": (Status.INVALID, ("line 9", "/etc/passwd")),
    "include_macro": (Status.INVALID, ("line 10", "macro")),
    "constructor": (Status.FORBIDDEN, ("constructor",)),
    "open_file": (Status.FORBIDDEN, ("uses open of the C library",)),
    "socket": (Status.FORBIDDEN, ("uses socket of the C library",)),
    "fork": (Status.FORBIDDEN, ("uses fork of the C library",)),
    "kill_parent": (Status.FORBIDDEN, ("kill of the C library",)),
    "compile_error": (Status.COMPILE_ERROR, ("line 15", "summ")),
    "output_not_written": (Status.WRONG, ("c",)),
    "state_between_launches": (Status.WRONG, ("c",)),
    "assembly": (Status.INVALID, ("line 9", "assembly")),
    "hidden_open": (Status.FORBIDDEN, ("system call open",)),
    "hidden_socket": (Status.FORBIDDEN, ("system call socket",)),
    "hidden_fork": (Status.FORBIDDEN, ("system call fork",)),
    "hidden_kill": (Status.FORBIDDEN, ("system call kill",)),
}


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task("sgemm")


@pytest.fixture(scope="module")
def device() -> CpuDevice:
    return open_device(0)


@pytest.fixture(scope="module")
def evaluator(task: Task, device: CpuDevice) -> Evaluator:
    policy = TimingPolicy(deadline_cap_s=3.0)
    return Evaluator(task=task, device=device, secret=1, policy=policy)


def evaluate(source: str, task: Task, evaluator: Evaluator) -> Evaluation:
    try:
        kernel, compiled = compile_kernel(source, task, compiler(), "cpu")
    except Rejected as rejected:
        return failed(kernel_id(source), task.hash, evaluator.device.info.device_class, rejected)
    return evaluator.measure(kernel, compiled, None)


def test_every_planted_kernel_is_listed() -> None:
    assert {path.stem for path in PLANTED.glob("*.hip")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_planted(name: str, task: Task, evaluator: Evaluator, tmp_path: Path) -> None:
    if name.startswith("hidden") and (platform.machine(), platform.libc_ver()[0]) != (
        "x86_64",
        "glibc",
    ):
        pytest.skip("it looks for glibc's x86-64 instructions")
    marker = tmp_path / "taken_effect"
    source = (PLANTED / f"{name}.hip").read_text().replace(MARKER, str(marker))
    status, words = EXPECTED[name]
    result = evaluate(source, task, evaluator)
    assert result.status is status, result.reason
    assert not result.times_us
    for word in words:
        assert word in result.reason
    assert "\n" not in result.reason
    assert "Traceback" not in result.reason + result.log
    assert "root:" not in result.reason + result.log
    assert not marker.exists()
