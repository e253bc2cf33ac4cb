"""Children that compile: limits, deadline, no network, no secrets, and death with their parent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evaluators.sandbox.run import OUTPUT_LIMIT, Finished, run_confined

PYTHON = (sys.executable, "-I", "-S", "-c")


def confined(
    tmp_path: Path,
    code: str,
    *,
    deadline_s: float = 30.0,
    file_bytes: int = 1 << 20,
    network: bool = False,
) -> Finished:
    return run_confined(
        [*PYTHON, code],
        cwd=tmp_path,
        env={"GIVEN": "yes"},
        deadline_s=deadline_s,
        memory_bytes=1 << 30,
        file_bytes=file_bytes,
        network=network,
    )


def test_output_and_exit_status(tmp_path: Path) -> None:
    code = """
import os, sys
print(sys.stdin.read() + os.getcwd())
print("e", file=sys.stderr)
sys.exit(7)
"""
    done = confined(tmp_path, code)
    assert (done.returncode, done.timed_out, done.signal) == (7, False, None)
    assert done.stdout.decode() == f"{tmp_path}\n"
    assert done.stderr == b"e\n"


def test_environment_holds_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    done = confined(tmp_path, "import os; print(*sorted(os.environ))")
    names = set(done.stdout.decode().split())
    assert "GIVEN" in names
    assert names <= {"GIVEN", "PATH", "LD_LIBRARY_PATH", "LC_CTYPE"}


def test_no_network(tmp_path: Path) -> None:
    code = """
import socket
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
    try:
        socket.socket(family)
    except PermissionError as error:
        print(error.errno)
"""
    assert confined(tmp_path, code).stdout == b"13\n13\n13\n"
    assert confined(tmp_path, code, network=True).stdout == b""


def test_deadline_ends_the_whole_group(tmp_path: Path) -> None:
    code = """
import os, subprocess, sys, time
child = subprocess.Popen(["sleep", "100"])
print(child.pid, os.getpid(), flush=True)
time.sleep(100)
"""
    done = confined(tmp_path, code, deadline_s=2.0)
    assert done.timed_out
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2
    until(lambda: not any(map(running, pids)))


def test_memory_and_files_are_bounded(tmp_path: Path) -> None:
    done = confined(tmp_path, "bytearray(2 << 30)")
    assert done.returncode == 1
    assert b"MemoryError" in done.stderr
    done = confined(tmp_path, "open('big', 'wb').write(bytes(2 << 20))")
    assert done.returncode != 0
    assert (tmp_path / "big").stat().st_size <= 1 << 20


def test_no_more_than_the_first_output_is_kept(tmp_path: Path) -> None:
    code = "import sys; sys.stdout.write('a' * (3 << 20)); sys.stdout.write('z')"
    done = confined(tmp_path, code, file_bytes=64 << 20)
    assert done.stdout == b"a" * OUTPUT_LIMIT


def test_a_signal_is_reported(tmp_path: Path) -> None:
    done = confined(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert done.signal == signal.SIGSEGV
    assert not done.timed_out


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    done = run_confined(
        ["no-such-compiler"], cwd=tmp_path, env={}, deadline_s=20, memory_bytes=1 << 30
    )
    assert done.returncode == 127
    assert b"no-such-compiler" in done.stderr


def test_children_die_with_their_parent(tmp_path: Path) -> None:
    """The parent is killed, and can't clean up; nothing that it started goes on."""
    child = (
        "import os, subprocess, time; p = subprocess.Popen(['sleep', '100']); "
        "open('pids', 'w').write(f'{os.getpid()} {p.pid} '); time.sleep(100)"
    )
    parent = f"""
import sys
from pathlib import Path
from evaluators.sandbox.run import run_confined
run_confined([sys.executable, "-I", "-S", "-c", {child!r}], cwd=Path({str(tmp_path)!r}),
             env={{}}, deadline_s=100, memory_bytes=1 << 30)
"""
    started = subprocess.Popen(
        [sys.executable, "-c", parent], cwd=Path(__file__).resolve().parents[3]
    )
    pids_file = tmp_path / "pids"
    until(lambda: pids_file.exists() and len(pids_file.read_text().split()) == 2)
    started.kill()
    started.wait()
    pids = [int(pid) for pid in pids_file.read_text().split()]
    until(lambda: not any(map(running, pids)))


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(condition: object, seconds: float = 30.0) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def test_nothing_is_left_open(tmp_path: Path) -> None:
    confined(tmp_path, "pass")
    before = len(os.listdir("/proc/self/fd"))
    confined(tmp_path, "pass")
    assert len(os.listdir("/proc/self/fd")) == before
