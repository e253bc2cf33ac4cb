"""Cores that processes use, by what they are: Ray gives its workers titles."""

import os
import re
import threading
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from time import monotonic

LOOK_EVERY_S = 2.0
_TITLE = re.compile(rb"ray::(\w+)")


class CoresUsed:
    """From start() to stop(), of all processes of this machine that Ray gave a title, and of the
    driver. A process counts from the first look at it to the last."""

    def __init__(self) -> None:
        self._first: dict[int, float] = {}
        self._last: dict[int, tuple[str, float]] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look_on, daemon=True)
        self._began = self._ended = 0.0

    def start(self) -> None:
        self._began = monotonic()
        self._thread.start()

    def stop(self) -> Mapping[str, float]:
        """Mean number of cores, by title, the largest first."""
        self._over.set()
        self._thread.join()
        used: defaultdict[str, float] = defaultdict(float)
        for pid, (title, seconds) in self._last.items():
            used[title] += seconds - self._first[pid]
        ranked = sorted(used.items(), key=lambda pair: -pair[1])
        lasted = max(1e-9, self._ended - self._began)
        return {title: round(spent / lasted, 3) for title, spent in ranked if spent > 0}

    def _look_on(self) -> None:
        while not self._over.is_set():
            self._look()
            self._over.wait(LOOK_EVERY_S)
        self._look()

    def _look(self) -> None:
        self._ended = monotonic()
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                title = _title(int(entry.name), (entry / "cmdline").read_bytes())
                seconds = _seconds((entry / "stat").read_text()) if title else 0.0
            except OSError:
                continue  # it has ended
            if title:
                self._first.setdefault(int(entry.name), seconds)
                self._last[int(entry.name)] = title, seconds


def _title(pid: int, command: bytes) -> str:
    """Empty for what is no part of a campaign."""
    if pid == os.getpid():
        return "driver"
    found = _TITLE.match(command)
    if found:
        return found[1].decode()
    return next((name for name in ("raylet", "gcs_server") if name.encode() in command[:200]), "")


def _seconds(stat: str) -> float:
    """CPU time, user and system, of /proc/PID/stat: proc(5)."""
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
