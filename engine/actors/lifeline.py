"""Ends this process when the campaign's driver ends in any way."""

import os
import select
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Driver:
    """The process that a campaign's actors live and die with. node: host and pid namespace."""

    pid: int
    node: str

    @classmethod
    def here(cls) -> "Driver":
        return cls(os.getpid(), _node())


LOOK_EVERY_S = 0.2
"""Where a process's end can't be waited for."""

_watched: set[int] = set()


def live_with(driver: Driver) -> None:
    """End this process at once when the driver ends; on another node Ray alone sees to that."""
    if driver.node != _node() or driver.pid in _watched:
        return
    _watched.add(driver.pid)
    try:
        descriptor = os.pidfd_open(driver.pid)
    except ProcessLookupError:
        os._exit(1)
    except OSError:
        descriptor = -1  # a sandbox's kernel has none
    threading.Thread(target=_wait, args=(driver.pid, descriptor), daemon=True).start()


def _wait(pid: int, descriptor: int) -> None:
    if descriptor >= 0:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)  # readable once the process has ended
        poll.poll()
    while descriptor < 0 and alive(pid):
        time.sleep(LOOK_EVERY_S)
    os._exit(1)


def alive(pid: int) -> bool:
    """Whether a process of this node still runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "XZ"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _node() -> str:
    """A pid means the same process only within one host and one process namespace."""
    return f"{socket.gethostname()}/{os.readlink('/proc/self/ns/pid')}"
