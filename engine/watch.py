"""Ends this process when the campaign's driver ends, however it ends."""

import os
import select
import socket
import threading
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Driver:
    """The process that a campaign's actors live and die with. node: any name unique to it."""

    pid: int
    node: str

    @classmethod
    def here(cls) -> "Driver":
        return cls(os.getpid(), _node())


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
    threading.Thread(target=_wait, args=(descriptor,), daemon=True).start()


def _wait(descriptor: int) -> None:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)  # readable once the process has ended
    poll.poll()
    os._exit(1)


def _node() -> str:
    """Host and process namespace: a pid means the same process only within both."""
    return f"{socket.gethostname()}/{os.readlink('/proc/self/ns/pid')}"
