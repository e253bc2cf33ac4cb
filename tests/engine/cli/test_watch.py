"""Watching a campaign by its store: what is seen at each stage, how it ends, and who goes on."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.campaign import run_campaign
from engine.cli import main as cli
from engine.cli.look.picture import line, rows, stage
from engine.history.follow import Follower
from engine.history.history import read_history
from engine.history.improvements import improvements
from engine.snapshot import Snapshot
from engine.store.events import Evaluated, Event
from engine.store.kinds.sessions import DevicesWatched, SearchEnded, SearchStarted
from engine.store.store import driving
from tests.engine import campaign_log as log
from tests.engine.cli.test_runs import unverified, whole_log, won
from tests.engine.quick_bench import quick_workbench

ROOT = Path(__file__).resolve().parents[3]


def searching(folder: Path) -> list[Event]:
    """In the middle of a search."""
    whole = unverified(whole_log(folder)[:-1])
    opened = len(list(log.opening(log.config(folder))))
    devices = DevicesWatched(
        number=0,
        count=0,
        busy_s={"candidates": 6.0, "contests": 1.0},
        idle_s={"waiting for the compiler": 3.0},
    )
    contests = [won(0, "tile", "seed", 2.9), won(1, "wide", "tile", 5.5)]
    return [*whole[:opened], SearchStarted(number=0), *whole[opened:], *contests, devices]


def seen(store: Path) -> tuple[Follower, dict[str, str]]:
    follower = Follower(store)
    follower.look()
    named: dict[str, str] = {}
    for name, text in rows(follower, time.time()):
        named[name] = f"{named[name]}\n{text}" if name in named else text
    return follower, named


def test_a_search_is_shown_with_what_is_left_on_top(tmp_path: Path) -> None:
    store = tmp_path / "short" / "store.sqlite"
    log.write(store, searching(tmp_path))
    with driving(store):
        os.utime(store.with_name("store.sqlite.driver"), (1.7e9, 1.7e9))  # it began before
        follower, named = seen(store)
        assert stage(follower).doing == "running"
        assert list(named)[:4] == ["short", "task", "left", "best"]
        assert named["left"].startswith("396 evaluations")
        assert named["best"].startswith("5.50x [4.40, 6.60] wide, found ")
        latest = named["improved"]
        assert "2.90x -> 5.50x wide make wide" in latest and "\n" not in latest
        assert "1.00x -> 2.90x tile make tile" in named[""]
        assert named["evaluations"].startswith("4 (3 passed, 1 WRONG)")
        assert named["device"] == (
            "1 × Test CPU, 70% busy with candidates 60%, contests 10%; "
            "idle: waiting for the compiler 30%"
        )
        assert named["contests"] == "2: 2 won"
        assert named["island 0"] == "best 6.00x by the search, 3 evaluations, cycle 0"
        assert named["faults"].startswith("1, the last ")
        assert named["faults"].endswith("at device 0: a process was lost")
        assert "left: 396 evaluations" in line(follower, time.time())
        log.write(store, [*searching(tmp_path), SearchEnded(number=0, reason="")])
        follower.look()
        assert stage(follower).doing == "stopping: measuring the best again"
    assert stage(follower).killed


def test_nothing_that_was_seen_is_read_again(tmp_path: Path) -> None:
    store = tmp_path / "short" / "store.sqlite"
    events = searching(tmp_path)
    log.write(store, events[:3])
    follower = Follower(store)
    follower.look()
    for count in range(4, len(events) + 1):
        log.write(store, events[:count])
        follower.look()
    at_once = read_history(store)
    assert follower.history is not None
    assert follower.history.seq == at_once.seq == len(events)
    assert follower.whole.scores.best == at_once.replay.scores.best
    assert follower.whole.scores.by_status == at_once.replay.scores.by_status
    assert list(improvements(follower.history)) == list(improvements(at_once))


def test_rates_are_of_the_last_minute_of_the_search(tmp_path: Path) -> None:
    store = tmp_path / "short" / "store.sqlite"
    log.write(store, searching(tmp_path))
    follower, _ = seen(store)
    now = time.time()
    assert follower.session is not None
    follower.session.search_began_at = now - 300
    follower._evaluated.clear()
    follower._evaluated.extend([(now - 70, True), (now - 50, True), (now - 1, False)])
    assert follower.per_s(now) is None  # nobody runs it
    with driving(store):
        assert follower.per_s(now) is None  # it goes on, and its new search did not begin
        os.utime(store.with_name("store.sqlite.driver"), (1.7e9, 1.7e9))
        assert follower.per_s(now) == pytest.approx(2 / 60)
        assert follower.per_s(now, asked=True) == pytest.approx(1 / 60)
        follower.session.search_began_at = now - 10
        assert follower.per_s(now) == pytest.approx(1 / 10)
        follower.session.search_ended_at = now
        assert follower.per_s(now) is None


def test_a_campaign_that_is_over_is_told_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.write(tmp_path / "short" / "store.sqlite", whole_log(tmp_path))
    assert cli.main(["watch", str(tmp_path / "short")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ended, ")
    assert "short: evaluations spent; 4 evaluations (3 passed, 1 WRONG)" in out
    assert "found wide: 6.00x the naive seed" in out and "results" not in out


def test_a_killed_one_is_told_with_the_command_that_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.write(tmp_path / "short" / "store.sqlite", whole_log(tmp_path)[:-1])
    assert cli.main(["watch", str(tmp_path / "short")]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("short was killed; its last event was ")
    assert last.endswith(f"resume {tmp_path / 'short'}")


def test_one_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.write(tmp_path / "short" / "store.sqlite", whole_log(tmp_path)[:-1])
    assert cli.main(["watch", str(tmp_path / "short"), "--once"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("short") and "killed, " in out and "resume" not in out


def test_where_no_campaign_is_a_sentence_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["watch", str(tmp_path)]) == 2
    (tmp_path / "store.sqlite").write_text("no database" * 1000)
    assert cli.main(["watch", str(tmp_path)]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2 and all(one.startswith("kernel-scientist: ") for one in said)


def test_a_stored_evaluation_in_idle_time_is_no_loss_of_the_budget(tmp_path: Path) -> None:
    events = [
        replace(one, tuning=True)
        if isinstance(one, Evaluated) and one.evaluation.kernel_id == "tile"
        else one
        for one in searching(tmp_path)
    ]
    store = tmp_path / "short" / "store.sqlite"
    log.write(store, events)
    with driving(store):
        _, named = seen(store)
    assert named["left"].startswith("397 evaluations")
    assert "1 in idle time" in named["evaluations"]


def watcher(run: Path) -> "subprocess.Popen[str]":
    script = "import sys; from engine.cli import main as cli; code = cli.main(sys.argv[1:]); "
    script += "assert not {'ray', 'mlflow'} & set(sys.modules); sys.exit(code)"
    return subprocess.Popen(
        [sys.executable, "-c", script, "watch", str(run)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def read_until(process: "subprocess.Popen[str]", wanted: Callable[[str], bool]) -> list[str]:
    assert process.stdout is not None
    lines = []
    for one in process.stdout:
        lines.append(one)
        if wanted(one):
            break
    return lines


def test_a_process_that_is_killed_ends_the_watch_and_ctrl_c_ends_the_watch_alone(
    tmp_path: Path,
) -> None:
    """It marks the campaign as a driver does."""
    store = tmp_path / "short" / "store.sqlite"
    log.write(store, searching(tmp_path))
    script = "import sys, time; from pathlib import Path; from engine.store.store import driving\n"
    script += "with driving(Path(sys.argv[1])):\n    print('here', flush=True); time.sleep(3600)"
    driver = subprocess.Popen(
        [sys.executable, "-c", script, str(store)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert driver.stdout is not None and driver.stdout.readline() == "here\n"
    try:
        first, second = watcher(store.parent), watcher(store.parent)
        for one in (first, second):
            assert read_until(one, lambda line: "starting" in line or "running" in line)
        first.send_signal(signal.SIGINT)
        _, said = first.communicate(timeout=100)
        assert (first.returncode, said.splitlines()[-1:]) == (
            130,
            ["kernel-scientist: no longer watching; the campaign goes on"],
        )
        assert driver.poll() is None and second.poll() is None
    finally:
        driver.kill()
        driver.wait()
        driver.stdout.close()
    out, said = second.communicate(timeout=100)
    assert second.returncode == 1, said
    assert "was killed" in out.splitlines()[-1] and "resume" in out.splitlines()[-1]


@pytest.mark.usefixtures("in_this_process")
def test_a_real_campaign_is_followed_to_its_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its snapshots have the improvements that the store has."""
    settings = log.config(tmp_path, budgets={"evaluations": 60}, tracking="none").model_copy(
        update={"task": "sgemm", "name": "followed"}
    )
    last: list[Snapshot] = []
    codes: list[int] = []
    began = threading.Event()

    def look_on() -> None:
        began.wait()
        codes.append(cli.main(["watch", str(tmp_path / "followed")]))

    watching = threading.Thread(target=look_on)
    watching.start()

    def observe(snapshot: Snapshot) -> None:
        last[:] = [snapshot]
        if (tmp_path / "followed" / "store.sqlite").is_file():
            began.set()

    summary = run_campaign(settings, observer=observe, workbench=quick_workbench())
    watching.join()
    assert codes == [0]
    assert summary.best is not None and f"found {summary.best.id[:12]}" in capsys.readouterr().out
    stored = list(improvements(read_history(tmp_path / "followed" / "store.sqlite")))
    assert stored and last[0].improvements
    assert last[0].improvements[-1].kernel_id == stored[-1].kernel_id
    assert last[0].improvements[-1].technique == stored[-1].technique != ""
    shutil.rmtree(tmp_path / "followed")
