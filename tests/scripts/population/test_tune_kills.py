"""Studies that are killed, interrupted, begun twice, or whose file was damaged."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engine.config_errors import ConfigError
from scripts.population.campaign import ENDS_WITH_PARENT
from scripts.population.journal_lock import JournalLock
from scripts.population.mlflow_runs import StudyRuns
from scripts.population.sitting import JOURNAL, LOCK, sitting
from scripts.population.study import FIXED, finished, open_study, run_trials
from scripts.tune_population import main
from tests.scripts.population.tune_plans import ROOT, plan_of, write
from tests.soaked import one_in

Process = subprocess.Popen[str]


def eventually(what: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 120
    while not (found := what()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


@contextmanager
def study_of(folder: Path, **changes: Any) -> Iterator[Process]:
    """Under way in a process of its own, in folder/out: some trials are done."""
    plan = write(folder, trials=1000, **changes)
    out = folder / "out"
    command = [sys.executable, "-m", "scripts.tune_population", str(plan), "--out", str(out)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        assert process.stderr.readline().startswith("trial ")
        yield process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def children(parent: int) -> list[int]:
    text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    return [int(one) for one in text.split()]


def is_gone(pid: int) -> bool:
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


# --- two at once --------------------------------------------------------------------------------


def test_a_folder_has_one_sitting_at_a_time_and_is_free_after_a_kill(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    with study_of(tmp_path) as process:
        file = write(tmp_path, trials=1)
        assert main([str(file), "--out", str(out)]) == 2
        said = capsys.readouterr().err
        assert said == (
            f"tune_population: {out}: another process works on this study; stop it, or wait until "
            "it ends\n"
        )
        process.send_signal(signal.SIGKILL)
        process.wait()
        with sitting(out):
            pass


def test_the_lock_is_let_go_at_the_end(tmp_path: Path) -> None:
    with sitting(tmp_path), (tmp_path / LOCK).open() as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with sitting(tmp_path):
        pass


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/below"])
def test_a_folder_that_cannot_be_written_is_told(
    tmp_path: Path, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    out = tmp_path / place
    assert main([str(write(tmp_path)), "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"tune_population: --out {out}: it can't be made or written (")
    assert said.count("\n") == 1


# --- kills and Ctrl-C ---------------------------------------------------------------------------


def test_workers_end_with_the_process_that_began_them(tmp_path: Path) -> None:
    with study_of(tmp_path, workers=2) as process:
        begun = children(process.pid)
        assert len(begun) >= 2
        process.send_signal(signal.SIGKILL)
        process.wait()
        eventually(lambda: all(map(is_gone, begun)))


def test_a_campaign_is_interrupted_when_its_worker_is_killed(tmp_path: Path) -> None:
    told = tmp_path / "told"
    campaign = tmp_path / "campaign.py"
    campaign.write_text(
        "import pathlib, time\n"
        f"told = pathlib.Path({str(told)!r})\n"
        "try:\n    told.write_text('begun')\n    time.sleep(100)\n"
        "except KeyboardInterrupt:\n    told.write_text('interrupted')\n"
    )
    worker = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys\nfrom scripts.population.campaign import watched\n"
            "watched([sys.executable, sys.argv[1]]).wait()",
            str(campaign),
        ],
        cwd=ROOT,
    )
    eventually(lambda: told.exists() and told.read_text() == "begun")
    worker.kill()
    worker.wait()
    eventually(lambda: told.read_text() == "interrupted")


def test_one_whose_worker_is_gone_does_not_begin(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ENDS_WITH_PARENT, "1", "-c", "print('begun')"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.parametrize(
    ("workers", "name"),
    one_in(3, [(1, signal.SIGINT), (1, signal.SIGTERM), (2, signal.SIGINT)]),
)
def test_ctrl_c_ends_all_at_once_and_in_order(
    tmp_path: Path, workers: int, name: signal.Signals
) -> None:
    with study_of(tmp_path, workers=workers, tracking="sqlite") as process:
        begun = children(process.pid)
        process.send_signal(name)
        _, said = process.communicate()
        assert process.returncode == 130
        lines = [one for one in said.splitlines() if not one.startswith("trial ")]
        assert lines == ["tune_population: interrupted; the same command goes on where this ended"]
        eventually(lambda: all(map(is_gone, begun)))
    assert "RUNNING" not in statuses(tmp_path) and "KILLED" in statuses(tmp_path)


ROUNDS = """
import asyncio, signal
from scripts.population import workers

async def rounds():
    while True:
        await asyncio.sleep(0)

async def campaign():
    await asyncio.gather(*[rounds() for _ in range(20)])

for number in range(60):
    signal.signal(signal.SIGALRM, workers._interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.01 + 0.0003 * number)
    try:
        asyncio.run(campaign())
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def test_a_simulated_campaign_ends_wherever_its_loop_is() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ROUNDS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.splitlines() == ["interrupted"] * 60
    assert (done.returncode, done.stderr) == (0, "")


def statuses(folder: Path) -> list[str]:
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{folder / 'out' / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("kernel-scientist/tune/small")
    assert experiment is not None
    return [str(one.info.status) for one in client.search_runs([experiment.experiment_id])]


def test_runs_that_a_kill_left_end_in_mlflow_too(tmp_path: Path) -> None:
    plan, out = plan_of(tmp_path, trials=1, tracking="sqlite"), tmp_path / "out"
    out.mkdir()
    runs = StudyRuns.of(plan, out)
    left = runs.trial(0, {"islands.count": 2})
    left.__enter__()
    assert statuses(tmp_path) == ["RUNNING", "RUNNING"]
    with StudyRuns.of(plan, out).sitting(out):
        assert sorted(statuses(tmp_path)) == ["KILLED", "RUNNING"]
    assert sorted(statuses(tmp_path)) == ["FINISHED", "KILLED"]
    left.__exit__(None, None, None)


def test_the_default_runs_again_however_often_it_is_killed(tmp_path: Path) -> None:
    plan, out = plan_of(tmp_path, trials=1), tmp_path / "out"
    for _ in range(3):
        study = open_study(plan, out)
        study.enqueue_trial({"islands.count": 2})
        study.ask()
    (done,) = finished(run_trials(plan, out))
    assert FIXED in done.system_attrs


@pytest.mark.parametrize("moment", ["acquire", "release"])
def test_ctrl_c_at_the_journals_lock_is_ctrl_c_and_leaves_it_free(
    tmp_path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = JournalLock(tmp_path / JOURNAL)
    whole = fcntl.flock

    def interrupted(file: Any, how: int) -> None:
        whole(file, how)
        raise KeyboardInterrupt

    if moment == "acquire":
        monkeypatch.setattr(fcntl, "flock", interrupted)
        with pytest.raises(KeyboardInterrupt):
            lock.acquire()
        monkeypatch.undo()
    else:
        lock.acquire()  # and Ctrl-C comes before release()
    assert lock.acquire()
    other = JournalLock(tmp_path / JOURNAL)
    with (tmp_path / f"{JOURNAL}.lock").open() as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    lock.release()
    assert other.acquire()


# --- the study's file ---------------------------------------------------------------------------


def test_a_line_that_a_kill_left_half_written_is_taken_off(tmp_path: Path) -> None:
    out, plan = tmp_path / "out", plan_of(tmp_path, trials=2)
    first = [one.params for one in finished(run_trials(plan, out))]
    whole = (out / JOURNAL).read_bytes()
    for left in (b'{"op_code": 4, "wor', b'\xff{"'):
        (out / JOURNAL).write_bytes(whole + left)
        with sitting(out):
            assert (out / JOURNAL).read_bytes() == whole
    with sitting(out):
        study = run_trials(plan.model_copy(update={"trials": 3}), out)
    assert [one.params for one in finished(study)][:2] == first and len(finished(study)) == 3


@pytest.mark.parametrize("line", [b"garbage", b"\xff\x00", b"[1]", b"{}", b""])
@pytest.mark.parametrize("at", [2, -1])
def test_garbage_in_it_is_told(tmp_path: Path, line: bytes, at: int) -> None:
    open_study(plan_of(tmp_path), tmp_path)
    lines = (tmp_path / JOURNAL).read_bytes().splitlines()
    lines[at] = line
    (tmp_path / JOURNAL).write_bytes(b"\n".join(lines) + b"\n")
    number = at % len(lines) + 1
    with (
        pytest.raises(ConfigError, match=f"study.log, line {number}: it is damaged; take the line"),
        sitting(tmp_path),
    ):
        pass


@pytest.mark.parametrize("record", [{"op_code": 99}, {"op_code": 4}, {"op_code": "x"}])
def test_so_are_records_that_optuna_cannot_read(tmp_path: Path, record: dict[str, Any]) -> None:
    open_study(plan_of(tmp_path), tmp_path)
    with (tmp_path / JOURNAL).open("a") as file:
        file.write(json.dumps(record) + "\n")
    with pytest.raises(ConfigError, match=r"study.log is damaged \(.*name another folder"):
        open_study(plan_of(tmp_path), tmp_path)


def test_a_folder_in_place_of_it_is_told(tmp_path: Path) -> None:
    (tmp_path / JOURNAL).mkdir()
    with pytest.raises(ConfigError, match=r"study.log can't be read"), sitting(tmp_path):
        pass
    assert os.path.isdir(tmp_path / JOURNAL)
