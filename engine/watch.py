"""Ends this process, and what Ray leaves behind, when the campaign's driver ends in any way."""

import os
import select
import signal
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Driver:
    """The process that a campaign's actors live and die with. node: host and pid namespace.

    owns_ray: it started Ray for itself, and did not join a cluster.
    """

    pid: int
    node: str
    owns_ray: bool = False

    @classmethod
    def here(cls, *, owns_ray: bool) -> "Driver":
        return cls(os.getpid(), _node(), owns_ray)


LOOK_EVERY_S = 0.2
"""Where a process's end can't be waited for."""

_watched: set[int] = set()


def live_with(driver: Driver, *, clear_up: bool = False) -> None:
    """End this process at once when the driver ends; on another node Ray alone sees to that.

    clear_up: end the driver's own Ray too. Its agents would look for it for another minute.
    """
    if driver.node != _node() or driver.pid in _watched:
        return
    _watched.add(driver.pid)
    agents = _agents() if clear_up and driver.owns_ray else []
    try:
        descriptor = os.pidfd_open(driver.pid)
    except ProcessLookupError:
        _end(agents)
        return
    except OSError:
        descriptor = -1  # a sandbox's kernel has none
    threading.Thread(target=_wait, args=(driver.pid, descriptor, agents), daemon=True).start()


def _wait(pid: int, descriptor: int, agents: list[int]) -> None:
    if descriptor >= 0:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)  # readable once the process has ended
        poll.poll()
    while descriptor < 0 and alive(pid):
        time.sleep(LOOK_EVERY_S)
    _end(agents)


def alive(pid: int) -> bool:
    """Whether a process of this node still runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "XZ"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _end(agents: list[int]) -> None:
    for agent in agents:
        try:
            signal.pidfd_send_signal(agent, signal.SIGKILL)
        except ProcessLookupError:
            continue  # it went by itself
    os._exit(1)


def _agents() -> list[int]:
    """File descriptors of Ray's agents on this node: they are this worker's siblings."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == os.getppid() and b"agent" in (entry / "cmdline").read_bytes().lower():
                found.append(os.pidfd_open(int(entry.name)))
        except OSError:
            continue  # it ended while we looked, or nothing can be waited for here
    return found


def _node() -> str:
    """A pid means the same process only within one host and one process namespace."""
    return f"{socket.gethostname()}/{os.readlink('/proc/self/ns/pid')}"
