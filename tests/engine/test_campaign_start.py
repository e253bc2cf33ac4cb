"""A campaign that is cut off, or can't begin, while its Ray starts: what is said, what is left."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from ray._private.services import find_gcs_addresses

from engine.cli import main as cli
from engine.ending import SIGNALS, Stop
from engine.store.replay import replay
from engine.store.run_folder import STORE
from evaluators.cpu.device import device_count
from tests.engine.ports import free_port
from tests.evaluators.small_task import SPACIOUS, write_task

pytestmark = pytest.mark.skipif(device_count() == 0, reason="the cpu backend finds no compiler")

ENDS_S = 60.0
"""Far more than it takes; Ray's own workers would look for the driver for as long."""

WHOSE = "KERNEL_SCIENTIST_TEST"


class Started:
    """`kernel-scientist run` in a process group of its own; .lines: what it said so far."""

    def __init__(self, folder: Path, *overrides: str, environment: dict[str, str]) -> None:
        self.run_dir = folder / "runs" / "it"
        self.mark = f"{WHOSE}={uuid.uuid4().hex}"
        config = folder / "it.yaml"
        task = write_task(folder / "mine", seed=SPACIOUS)
        config.write_text(
            f"task: {task}\nname: it\nruns_dir: {folder / 'runs'}\n"
            "tracking: none\nbudgets: {evaluations: 500}\nfinal: {seconds: 0}\n"
            "islands: {count: 1}\n"
        )
        name, _, value = self.mark.partition("=")
        self.process = subprocess.Popen(
            [Path(sys.executable).parent / "kernel-scientist", "run", str(config), *overrides],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, name: value, **environment},
        )
        self.lines: list[str] = []

    def wait_for(self, what: str) -> None:
        """Until it says so."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line.rstrip())
            if what in line:
                return
        pytest.fail(f"it never said {what!r}: {self.lines}")

    def ctrl_c(self) -> None:
        """As a terminal does: to the whole group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self) -> tuple[int, str]:
        """Exit code and standard output."""
        output, errors = self.process.communicate(timeout=90)
        self.lines += errors.splitlines()
        return self.process.returncode, output

    def processes(self) -> list[int]:
        """All that it started, and itself, as far as they still run."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def is_left_by_all(self) -> bool:
        until = time.monotonic() + ENDS_S
        while self.processes() and time.monotonic() < until:
            time.sleep(0.05)
        return not self.processes()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Started]]:
    started: list[Started] = []

    def begin(*overrides: str, **environment: str) -> Started:
        started.append(Started(tmp_path, *overrides, environment=environment))
        return started[-1]

    yield begin
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


def count(store: Path, kind: str) -> int:
    """How many events of a kind are stored."""
    with closing(sqlite3.connect(store)) as connection:
        query = "SELECT count(*) FROM events WHERE kind = ?"
        return int(connection.execute(query, (kind,)).fetchone()[0])


def rays(started: Started) -> int:
    """How many of Ray's processes run."""
    return len(started.processes()) - 1


def test_a_driver_killed_while_ray_starts_leaves_a_store_and_no_process(
    start: Callable[..., Started],
) -> None:
    campaign = start()
    campaign.wait_for("starting Ray")
    while rays(campaign) < 4:  # gcs_server, raylet, its agents, the first workers
        assert campaign.process.poll() is None
        time.sleep(0.01)
    campaign.process.kill()
    campaign.process.communicate()
    assert campaign.is_left_by_all()
    whole = replay(campaign.run_dir / STORE)
    assert (whole.ended, whole.scores.by_status.total()) == ("killed", 0)


@pytest.mark.long
@pytest.mark.parametrize(
    ("moment", "times"),
    [
        pytest.param("starting Ray", 1, marks=pytest.mark.soak),
        ("starting Ray", 2),
        pytest.param("opening the device", 1, marks=pytest.mark.soak),
        pytest.param("opening the device", 2, marks=pytest.mark.soak),
        pytest.param("measuring the naive", 1, marks=pytest.mark.soak),
        pytest.param("measuring the naive", 2, marks=pytest.mark.soak),
    ],
)
def test_ctrl_c_before_the_search_ends_with_the_command_that_goes_on(
    moment: str, times: int, start: Callable[..., Started]
) -> None:
    campaign = start()
    campaign.wait_for(moment)
    for _ in range(times):
        campaign.ctrl_c()
    code, output = campaign.end()
    assert (code, output) == (130, "")
    assert campaign.lines[-1].startswith("kernel-scientist: interrupted; go on with ")
    assert campaign.lines[-1].endswith(f"kernel-scientist resume {campaign.run_dir}")
    assert not any("Traceback" in line for line in campaign.lines)
    assert campaign.is_left_by_all()
    assert replay(campaign.run_dir / STORE).campaign.config["name"] == "it"


@pytest.mark.long
def test_ctrl_c_in_the_search_ends_in_order_with_results(start: Callable[..., Started]) -> None:
    """What is measured is finished, and counted."""
    campaign = start()
    campaign.wait_for(" evaluations (")
    store = campaign.run_dir / STORE
    while count(store, "evaluated") < 4:
        assert campaign.process.poll() is None
        time.sleep(0.05)
    campaign.ctrl_c()
    code, output = campaign.end()
    assert code == 0, campaign.lines
    assert output.startswith("it: interrupted; ")
    summary = json.loads((campaign.run_dir / "summary.json").read_text())
    assert summary["evaluations"]["total"] == count(store, "evaluated")
    assert count(store, "session_finished") == 1
    [go_on] = [line for line in output.splitlines() if line.startswith("go on ")]
    assert go_on.endswith(f"kernel-scientist resume {campaign.run_dir}")
    assert campaign.is_left_by_all()


@pytest.mark.parametrize("number", SIGNALS)
def test_only_the_search_is_ended_in_order_and_only_once(number: int) -> None:
    stop = Stop()
    before = signal.getsignal(number)
    with stop.on_signals():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        assert stop.reason == ""
        stop.searching = True
        signal.raise_signal(number)
        assert stop.reason == "interrupted"
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert signal.getsignal(number) is before


def told_by(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = cli.main(arguments)
    said = capsys.readouterr()
    assert said.out == ""
    sentence, *more = [line for line in said.err.splitlines() if "starting Ray" not in line]
    assert more == []
    assert sentence.startswith("kernel-scientist: ")
    return code, sentence


@pytest.mark.parametrize("by", ["ray.address", "RAY_ADDRESS"])
@pytest.mark.parametrize("address", ["a closed port", "auto", "nowhere"])
def test_a_ray_that_does_not_answer_is_one_sentence_and_leaves_nothing(
    by: str,
    address: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = f"127.0.0.1:{free_port()}" if address == "a closed port" else address
    arguments = ["run", str(config_of(tmp_path))]
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))  # where 'ray start' leaves its address
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    if by == "RAY_ADDRESS":
        monkeypatch.setenv("RAY_ADDRESS", address)
    else:
        arguments.append(f"ray.address={address}")
    code, sentence = told_by(arguments, capsys)
    assert code == 2
    assert f"{by}: " in sentence
    assert not (tmp_path / "runs" / "it").exists()


def test_auto_does_not_join_the_ray_of_another_campaign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with socket.socket() as gcs:
        gcs.bind(("127.0.0.1", 0))
        gcs.listen()
        address = f"127.0.0.1:{gcs.getsockname()[1]}"
        command = ["raylet", "-c", "import sys; sys.stdin.read()", f"--gcs-address={address}"]
        with subprocess.Popen(command, executable=sys.executable, stdin=subprocess.PIPE):
            known: Any = find_gcs_addresses
            known.cache_clear()
            assert address in known()
            code, sentence = told_by(["run", str(config_of(tmp_path)), "ray.address=auto"], capsys)
    assert code == 2
    assert sentence.startswith("kernel-scientist: ray.address: no Ray cluster runs on this machine")


def config_of(folder: Path) -> Path:
    config = folder / "it.yaml"
    task = write_task(folder / "mine", seed=SPACIOUS)
    config.write_text(f"task: {task}\nname: it\nruns_dir: {folder / 'runs'}\ntracking: none\n")
    return config


def test_a_ray_that_does_not_start_is_one_sentence_and_leaves_nothing(
    tmp_path: Path, start: Callable[..., Started]
) -> None:
    far = tmp_path / ("deep" * 25)  # sockets' paths can't be so long
    far.mkdir()
    campaign = start(TMPDIR=str(far))
    code, output = campaign.end()
    assert (code, output) == (1, "")
    [sentence] = [line for line in campaign.lines if "starting Ray" not in line]
    assert sentence.startswith("kernel-scientist: Ray does not start: ")
    assert campaign.is_left_by_all()
    assert not campaign.run_dir.exists()
    assert list(far.iterdir()) == []


@pytest.mark.parametrize("place", ["a file", "below a file", "/proc"])
def test_a_runs_dir_that_can_not_hold_a_campaign_is_one_sentence(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "taken"
    taken.write_text("")
    runs_dir = {"a file": taken, "below a file": taken / "runs"}.get(place, Path(place))
    code, sentence = told_by(["run", str(config_of(tmp_path)), f"runs_dir={runs_dir}"], capsys)
    assert code == 2
    assert sentence.startswith(f"kernel-scientist: runs_dir: {runs_dir / 'it'} can't be made")
