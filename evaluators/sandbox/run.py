"""Child processes for compiling: deadline, limits, scrubbed environment, no network.

Children die with the *thread* that started them (Linux sends the parent-death signal when the
thread ends, not the process): start them from a thread that lives as long as the work, such as
a Ray actor's main thread, never from a short-lived pool thread.
"""

import os
import platform
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from evaluators.device_info import BackendMissing
from evaluators.sandbox.confine import DENIED
from evaluators.sandbox.kept_waiting import Deadline

OUTPUT_LIMIT = 1 << 20
"""Bytes kept of each output stream: the first of them, since compilers name the cause first."""

_CONFINE = Path(__file__).with_name("confine.py")
_KEPT_VARIABLES = ("PATH", "LD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a confined child ended. signal: the number that killed it, if one did."""

    returncode: int
    stdout: bytes
    stderr: bytes
    timed_out: bool
    signal: int | None


def run_confined(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    deadline_s: float,
    memory_bytes: int,
    file_bytes: int = 256 << 20,
    network: bool = False,
) -> Finished:
    """Run a command in a process group of its own, that ends at the deadline or with this thread.

    What it queues for a core is not counted against the deadline.
    It sees PATH, LD_LIBRARY_PATH and env, nothing else; cwd should be a folder of its own.
    memory_bytes bounds each process's address space, file_bytes each file written, outputs too.
    A command that is not there gives returncode 127.
    Raises BackendMissing when this machine can't cut the network off.
    """
    if not network and platform.machine() not in DENIED:
        raise BackendMissing(
            f"no rule to cut the network off on {platform.machine()}: use x86_64 or aarch64"
        )
    limits = (os.getpid(), file_bytes, memory_bytes, max(1, int(deadline_s) + 1), int(network))
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_CONFINE), *map(str, limits), *argv],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            cwd=cwd,
            env={**kept, **env},
            start_new_session=True,
        )
        try:
            timed_out = not _ended(child.pid, deadline_s)
        finally:
            _kill_group(child.pid)
            returncode = child.wait()
        return Finished(
            returncode=returncode,
            stdout=_head(stdout),
            stderr=_head(stderr),
            timed_out=timed_out,
            signal=-returncode if returncode < 0 else None,
        )


def _ended(pid: int, deadline_s: float) -> bool:
    """Wait, without polling, until the process ended (it stays to be reaped) or time is up."""
    deadline = Deadline(pid, deadline_s)
    handle = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return deadline.until(lambda seconds: bool(poll.poll(seconds * 1000)))
    finally:
        os.close(handle)


def _kill_group(pid: int) -> None:
    """End what is left of the child's group; the child itself is not reaped yet, so pid is its."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _head(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read(OUTPUT_LIMIT)
