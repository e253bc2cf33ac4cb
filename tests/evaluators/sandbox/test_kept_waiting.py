"""Deadlines that a busy machine does not shorten."""

import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evaluators.sandbox.kept_waiting import Deadline
from evaluators.sandbox.run import run_confined

BUSY = "import time\nwhile True: pass"
COUNT = """
import time
while time.process_time() < 0.4: pass
"""


@contextmanager
def crowd(core: int, size: int) -> Iterator[None]:
    """Processes that all want one core."""
    command = [sys.executable, "-I", "-S", "-c", BUSY]
    started = [subprocess.Popen(command) for _ in range(size)]
    try:
        for one in started:
            os.sched_setaffinity(one.pid, {core})
        yield
    finally:
        for one in started:
            one.kill()
            one.wait()


def ended(process: "subprocess.Popen[bytes]") -> Callable[[float], bool]:
    def ready(seconds: float) -> bool:
        handle = os.pidfd_open(process.pid)
        try:
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            return bool(poll.poll(seconds * 1000))
        finally:
            os.close(handle)

    return ready


@pytest.fixture
def core() -> Iterator[int]:
    """A core for this process and what it starts."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    yield min(allowed)
    os.sched_setaffinity(0, allowed)


def test_who_queues_for_a_core_is_waited_for(core: int, tmp_path: Path) -> None:
    """0.4 s of work among 16 that want the same core takes 6 s: not too long for 3 s."""
    with crowd(core, 16):
        done = run_confined(
            [sys.executable, "-I", "-S", "-c", COUNT],
            cwd=tmp_path,
            env={},
            deadline_s=3.0,
            memory_bytes=1 << 30,
        )
    assert (done.returncode, done.timed_out) == (0, False)


@pytest.mark.parametrize("does", [BUSY, "import time\ntime.sleep(600)"])
def test_who_works_or_sleeps_is_not(does: str) -> None:
    process = subprocess.Popen([sys.executable, "-I", "-S", "-c", does])
    try:
        assert not Deadline(process.pid, 0.3).until(ended(process))
    finally:
        process.kill()
        process.wait()


def test_what_has_ended_is_no_error() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert not Deadline(process.pid, 0.01).until(lambda seconds: False)
