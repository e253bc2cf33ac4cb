"""Kills the evaluator of a running campaign, and looks at what is left of it."""

import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from engine.actors.lifeline import alive
from engine.dispatch.workbench import Workbench
from engine.snapshot import Snapshot
from scripts.lib.throughput import Setting, campaign_arm

LOOK_S = 30.0
"""How long a killed evaluator's child and its GPU memory are waited for."""

CANDIDATES_BEFORE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Killed:
    """gone_s: until its children had ended, None where one had not.

    Memory in MiB as nvidia-smi tells it, over all GPUs, None without it: before the campaign,
    the least that was seen after the kill, and after the campaign. passed_after: candidates
    that were right after it; by_status: of the whole campaign.
    """

    children: int
    gone_s: float | None
    memory_before_mib: int | None
    memory_after_kill_mib: int | None
    memory_at_end_mib: int | None
    passed_after: int
    by_status: dict[str, int]
    faults: int


def killed_evaluator(setting: Setting, workbench: Workbench) -> Killed:
    """A campaign on one device whose evaluator is killed with SIGKILL once.

    It ends once the next evaluator has got a kernel right, or PATIENCE_S has gone by.
    """
    before_mib = memory_used_mib()
    killing = _Killing()
    campaign_arm(
        setting,
        workbench,
        devices=1,
        seconds=0.0,
        observer=killing,
        until=lambda: killing.passed_after > 0,
    )
    return Killed(
        children=killing.children,
        gone_s=killing.gone_s,
        memory_before_mib=before_mib,
        memory_after_kill_mib=killing.least_mib,
        memory_at_end_mib=memory_used_mib(),
        passed_after=killing.passed_after,
        by_status=killing.last,
        faults=killing.faults,
    )


class _Killing:
    """A campaign's observer."""

    def __init__(self) -> None:
        self.children = 0
        self.gone_s: float | None = None
        self.least_mib: int | None = None
        self.at_kill: dict[str, int] = {}
        self.last: dict[str, int] = {}
        self.faults = 0
        self._killed = self._noticed = False

    @property
    def passed_after(self) -> int:
        """Kernels that were right since the kill was noticed; 0 before."""
        if not self._noticed:
            return 0
        return self.last.get("PASSED", 0) - self.at_kill.get("PASSED", 0)

    def __call__(self, snapshot: Snapshot) -> None:
        fresh = snapshot.dispatcher.faults > self.faults
        self.last = dict(snapshot.dispatcher.by_status)
        self.faults = snapshot.dispatcher.faults
        if self._killed and fresh and not self._noticed:
            self._noticed = True
            self.at_kill = self.last  # with what had passed between the last look and the kill
        if self._killed or snapshot.evaluations < CANDIDATES_BEFORE:
            return
        actors = [pid for pid, name in _below(os.getpid()).items() if "EvaluatorActor" in name]
        if actors:
            self._killed = True
            self.at_kill = self.last
            self._kill(actors[0])

    def _kill(self, actor: int) -> None:
        children = list(_below(actor))
        self.children = len(children)
        began = time.monotonic()
        os.kill(actor, signal.SIGKILL)
        while time.monotonic() < began + LOOK_S:
            if self.gone_s is None and not any(map(alive, children)):
                self.gone_s = time.monotonic() - began
            used = memory_used_mib()
            if used is not None:
                self.least_mib = min(used, self.least_mib or used)
            if self.gone_s is not None and time.monotonic() > began + 1.0:
                break
            time.sleep(0.01)


def memory_used_mib() -> int | None:
    """Over all GPUs; None where nvidia-smi is not, or says nothing."""
    if shutil.which("nvidia-smi") is None:
        return None
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    told = subprocess.run(query, capture_output=True, text=True, timeout=30, check=False)
    values = told.stdout.split()
    return sum(map(int, values)) if values and all(one.isdigit() for one in values) else None


def _below(root: int) -> dict[int, str]:
    """The command lines of a process's descendants, by pid."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            pid = int(entry.name)
            parents[pid] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            names[pid] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended while we looked
    found: dict[int, str] = {}
    level = [root]
    while level:
        level = [pid for pid, parent in parents.items() if parent in level]
        found.update({pid: names[pid] for pid in level})
    return found
