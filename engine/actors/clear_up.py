"""Ends what a campaign's own Ray leaves behind, once its driver has ended in any way.

A program of its own, started before Ray: Ray's workers and agents look for a driver that was
killed only now and then, and not at all while they start. It imports the standard library only.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MARK = "KERNEL_SCIENTIST_RAY"
"""The environment variable that Ray and all that it starts inherit: the folder of this Ray."""

LOOK_EVERY_S = 0.05
LOOKS = 3
"""So many looks in a row must find no process: one may be between fork and exec."""

PATIENCE_S = 60.0
"""For processes that can't be killed, as in a driver's uninterruptible call."""


@contextmanager
def cleared_up(folder: str) -> Iterator[str]:
    """Whatever is started inside is killed when this process has left it, or has ended.

    folder: Ray's own; it is removed, too.
    """
    guard = subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # a Ctrl-C is for the driver
    )
    os.environ[MARK] = folder
    try:
        yield folder
    finally:
        os.environ.pop(MARK, None)
        guard.communicate()


def marked(folder: str) -> list[int]:
    """The processes of this user that belong to the Ray of this folder."""
    mark = f"{MARK}={folder}\0".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue  # it has ended, or is another user's
    return found


def end_all(folder: str) -> None:
    """Kill them until none is left, then remove the folder."""
    quiet, until = 0, time.monotonic() + PATIENCE_S
    while quiet < LOOKS and time.monotonic() < until:
        found = marked(folder)
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue  # it went by itself
        quiet = 0 if found else quiet + 1
        time.sleep(LOOK_EVERY_S)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.stdin.read()  # ends with the driver, which alone holds the other end
    end_all(sys.argv[1])
