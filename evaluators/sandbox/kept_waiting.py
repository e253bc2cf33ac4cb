"""How long processes stood ready and got no core: what a busy machine adds to a wall time."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

PATIENCE = 20.0
"""No process is waited for longer than so many times its deadline, however busy the machine is."""

SHORTEST_S = 0.01
"""Whoever queues is not looked at more often."""


class Deadline:
    """seconds in which a process and those it starts may run or sleep, but not queue for a core.

    Linux counts the queueing (/proc/<pid>/schedstat); where it does not, this is a deadline of
    the wall clock. It begins when it is made.
    """

    def __init__(self, pid: int, seconds: float) -> None:
        self._pid, self._seconds = pid, seconds
        self._began = time.monotonic()
        self._before_s = _queued_s(pid)

    def until(self, ready: Callable[[float], bool]) -> bool:
        """Whether ready(seconds), which waits for something for at most so long, came true."""
        left_s = self._seconds - (time.monotonic() - self._began)
        while left_s > 0 or (left_s := self._left_s()) > 0:
            if ready(max(left_s, SHORTEST_S)):
                return True
            left_s = 0.0
        return False

    def _left_s(self) -> float:
        lasted_s = time.monotonic() - self._began
        if lasted_s > PATIENCE * self._seconds:
            return 0.0
        queued_s = sum(map(_queued_s, _tree(self._pid))) - self._before_s
        return self._seconds - (lasted_s - min(queued_s, lasted_s))


def _queued_s(pid: int) -> float:
    with suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    return 0.0  # it has ended


def _tree(root: int) -> Iterator[int]:
    """A process and its descendants."""
    children: dict[int, list[int]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(file.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(file.parent.name))
    level = [root]
    while level:
        yield from level
        level = [child for pid in level for child in children.get(pid, ())]


PRESSURE = Path("/proc/pressure/cpu")


class Pressure:
    """The share of a span of time in which some process stood ready and got no core.

    Of the whole machine, from Linux's pressure stall information; 0 where it keeps none. The
    span begins when this is made.
    """

    def __init__(self) -> None:
        self._began, self._before_us = time.monotonic(), _stalled_us()

    def share(self) -> float:
        """Since the beginning, from 0 to 1."""
        lasted_us = 1e6 * (time.monotonic() - self._began)
        return min(1.0, (_stalled_us() - self._before_us) / lasted_us) if lasted_us else 0.0


def _stalled_us() -> float:
    with suppress(OSError, IndexError, ValueError):
        return float(PRESSURE.read_text().splitlines()[0].rpartition("total=")[2])
    return 0.0
