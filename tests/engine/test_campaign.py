"""Whole campaigns on Ray and the cpu backend: run, stop, kill, resume."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.campaign import resume_campaign, run_campaign
from engine.config import parse_config
from engine.config_errors import ConfigError
from engine.snapshot import Snapshot
from engine.store.replay import replay
from engine.store.store import Store, StoreError
from evaluators.cpu.device import device_count
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task_file import load_task
from tests.engine.local_ray import local_ray
from tests.engine.small_tasks import small

pytestmark = pytest.mark.skipif(device_count() == 0, reason="the cpu backend finds no compiler")

SUMMARY_KEYS = {
    "campaign",
    "task",
    "backend",
    "device",
    "evaluations",
    "baseline",
    "best",
    "elapsed_s",
    "evaluations_per_s",
    "device_busy_fraction",
    "resumed",
}

DRIVER = """
import sys
from pathlib import Path
from engine.campaign import run_campaign
from engine.config import parse_config

def show(snapshot):
    print(snapshot.phase, snapshot.evaluations, flush=True)

if __name__ == "__main__":
    values = {"task": sys.argv[2], "name": "it", "runs_dir": sys.argv[1], "tracking": "none",
              "budgets": {"evaluations": 500}, "final": {"seconds": 0}}
    summary = run_campaign(parse_config(values, where="test"), observer=show)
    print("ended:", summary.ended, flush=True)
"""


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small("transpose", tmp_path_factory.mktemp("tasks") / "small_transpose")


def config(task: Path, folder: Path, **changes: Any) -> Any:
    values = {"task": str(task), "name": "it", "runs_dir": str(folder), "tracking": "none"}
    return parse_config({**values, **changes}, where="test")


def evaluated_ids(run_dir: Path) -> list[str]:
    """In order, as often as each was evaluated."""
    connection = sqlite3.connect(run_dir / "store.sqlite")
    try:
        rows = connection.execute("SELECT kernel_id FROM evaluations ORDER BY seq").fetchall()
        return [str(row[0]) for row in rows]
    finally:
        connection.close()


@pytest.fixture
def driver(task: Path, tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A campaign in a process of its own, with some evaluations done."""
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(tmp_path), str(task)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        phase, _, evaluations = line.partition(" ")
        if phase == "running" and int(evaluations) >= 4:
            break
    else:
        pytest.fail(f"the campaign ended too early: {''.join(seen)}")
    yield process
    if process.poll() is None:
        process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.long
def test_a_campaign_from_start_to_end(
    task: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    seen: list[Snapshot] = []
    copies = tmp_path / "copies"
    copies.mkdir()

    def observe(snapshot: Snapshot) -> None:
        """Looks on, and kills the evaluator once while it measures."""
        seen.append(snapshot)
        if snapshot.evaluations >= 3 and not killed:
            # What it has just forked bears its name for a moment: the older one is it.
            killed.append(min(workers(os.getpid(), "EvaluatorActor")))
            niceness.extend(os.getpriority(os.PRIO_PROCESS, pid) for pid in (killed[0], 0))
            os.kill(killed[0], signal.SIGKILL)

    killed: list[int] = []
    niceness: list[int] = []
    settings = config(
        task,
        tmp_path,
        budgets={"evaluations": 8},
        snapshots={"folder": str(copies)},
        final={"seconds": 0},
    )
    summary = run_campaign(settings, observer=observe)
    run_dir = tmp_path / "it"
    loaded = load_task(task)
    assert summary.evaluations["total"] == 8 == len(set(evaluated_ids(run_dir)))
    assert summary.ended == "the evaluations are spent"
    assert summary.baseline["id"] == parse_kernel(loaded.naive).id
    assert set(summary.baseline["times_us"]) == {
        workload.label for workload in loaded.workloads("benchmarks", "cpu")
    }
    assert not summary.resumed
    assert len(set(niceness)) == 1  # Ray's own way would starve it beside other work
    assert len(killed) == 1 and summary.faults >= 1  # what it was measuring came again
    assert "CRASHED" not in summary.evaluations["by_status"]
    copy = replay(copies / "it.sqlite")
    assert copy.scores.evaluations == replay(run_dir / "store.sqlite").scores.evaluations
    written = json.loads((run_dir / "summary.json").read_text())
    assert set(written) >= SUMMARY_KEYS
    assert summary.best is not None and summary.best.speedup > 0.8  # a final one may be lower
    assert parse_kernel((run_dir / "best.hip").read_text()).id == summary.best.id
    assert written["best"]["id"] == summary.best.id
    phases = [snapshot.phase for snapshot in seen]
    assert phases[0] == "starting" and phases[-1] == "finished" and "running" in phases
    assert seen[-1].evaluations == 8 and seen[-1].evaluations_left == 0
    assert [snapshot.doing for snapshot in seen if snapshot.phase == "starting"] == [
        "starting Ray",
        "starting the campaign's processes",
        "opening the device",
        "measuring the naive seed",
    ]
    said = capfd.readouterr()
    assert "raylet" not in said.out + said.err
    assert 0 < summary.searched_s < summary.elapsed_s

    with pytest.raises(ConfigError, match="a campaign of this name exists"):
        run_campaign(config(task, tmp_path))


@pytest.mark.long
def test_kill_9_loses_nothing_and_resume_repeats_nothing(
    driver: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    run_dir = tmp_path / "it"
    ours = our_processes(driver.pid)
    assert len(ours) >= 5  # store writer, dispatcher, two islands, an evaluator
    driver.kill()
    driver.wait()
    deadline = time.monotonic() + 100.0  # a second, where the machine is not busy
    while any(alive(pid) for pid in ours) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [pid for pid in ours if alive(pid)] == []

    stored = replay(run_dir / "store.sqlite")
    best, done = stored.scores.best, evaluated_ids(run_dir)
    assert best is not None
    with local_ray():
        summary = resume_campaign(run_dir, budgets={"evaluations": len(done) + 4})
    after = evaluated_ids(run_dir)
    assert after[: len(done)] == done
    assert len(after) == len(set(after)) == len(done) + 4
    assert summary.best is not None
    assert summary.elapsed_s > stored.elapsed_s
    assert summary.resumed and summary.ended == "the evaluations are spent"
    # Whatever was drafted before the kill was evaluated, or still waits: it was not drawn again.
    whole = replay(run_dir / "store.sqlite")
    assert {key: whole.drafts[key] for key in stored.drafts} == stored.drafts


def our_processes(driver: int) -> list[int]:
    """Ray's workers that run our actors, and their children."""
    actors = ("StoreWriter", "DispatcherActor", "IslandActor", "EvaluatorActor")
    found = [pid for actor in actors for pid in workers(driver, actor)]
    parents = parents_by_pid()
    return found + [pid for pid in parents if any(below(pid, one, parents) for one in found)]


def workers(driver: int, actor: str) -> list[int]:
    """The processes below the driver in which Ray runs an actor of this class."""
    parents = parents_by_pid()
    return [
        pid
        for pid in parents
        if below(pid, driver, parents) and f"ray::{actor}" in read_proc(pid, "cmdline")
    ]


def parents_by_pid() -> dict[int, int]:
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        stat = read_proc(int(entry.name), "stat")
        if stat:
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    return parents


def below(pid: int, root: int, parents: dict[int, int]) -> bool:
    while pid in parents:
        pid = parents[pid]
        if pid == root:
            return True
    return False


def read_proc(pid: int, name: str) -> str:
    """Empty when the process has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes().decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def alive(pid: int) -> bool:
    """Running; a zombie that nobody has waited for has ended."""
    stat = read_proc(pid, "stat")
    return bool(stat) and stat.rpartition(")")[2].split()[0] != "Z"


def test_what_is_not_there_is_told(task: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such store"):
        resume_campaign(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    Store(tmp_path / "empty" / "store.sqlite").close()
    with pytest.raises(StoreError, match="holds no campaign"):
        resume_campaign(tmp_path / "empty")
    with pytest.raises(ConfigError, match=r"devices\.ids"):
        run_campaign(config(task, tmp_path, devices={"ids": [4096]}))
