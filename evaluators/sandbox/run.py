"""Child processes for compiling: deadline, limits, scrubbed environment, no network.

Children die with the *thread* that started them (Linux sends the parent-death signal when the
thread ends, not the process): start them from a thread that lives as long as the work, such as
a Ray actor's main thread, never from a short-lived pool thread.
"""

import os
import platform
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from evaluators.device_info import BackendMissing
from evaluators.sandbox.confine import ALL_FILES, DENIED
from evaluators.sandbox.kept_waiting import Deadline
from evaluators.sandbox.system_paths import system_paths

OUTPUT_LIMIT = 1 << 20
"""Bytes kept of each output stream: the first of them, since compilers name the cause first."""

_PACKAGES = str(Path(__file__).resolve().parents[2])
_CONFINE = f"import os, sys; sys.path.append({_PACKAGES!r}); "
_CONFINE += "import evaluators.sandbox.confine as c; os._exit(c.main())"
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
    reads: Sequence[Path] | None = (),
    writes: Sequence[Path] = (),
) -> Finished:
    """Run a command in a process group of its own, that ends at the deadline or with this thread.

    What it queues for a core is not counted against the deadline.
    It sees PATH, LD_LIBRARY_PATH and env, nothing else; cwd should be a folder of its own.
    Of files it sees those below cwd and writes, its own; the system's programs, libraries and
    headers; what was installed beside the command; and what is below reads (None: all that this
    user may see). Where the kernel has no Landlock it sees all.
    memory_bytes bounds each process's address space, file_bytes each file written, outputs too.
    A command that is not there gives returncode 127.
    Raises BackendMissing when this machine can't cut the network off.
    """
    if not network and platform.machine() not in DENIED:
        raise BackendMissing(
            f"no rule to cut the network off on {platform.machine()}: use x86_64 or aarch64"
        )
    limits = (os.getpid(), file_bytes, memory_bytes, max(1, int(deadline_s) + 1), int(network))
    paths = (
        ALL_FILES if reads is None else ":".join(map(str, _readable(argv[0], reads))),
        ":".join(map(str, (cwd, *writes))),
    )
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _CONFINE, *map(str, limits), *paths, *argv],
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


def _readable(command: str, reads: Sequence[Path]) -> list[Path]:
    found = shutil.which(command)
    commands = [Path(sys.executable), *([Path(found).absolute()] if found else [])]
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return [*system_paths(*commands), *map(Path, filter(None, libraries)), *reads]


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
