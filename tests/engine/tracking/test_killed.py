"""A campaign that is killed with SIGKILL is there, and marked by the next in its folder."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mlflow import MlflowClient
from mlflow.entities import Run

from engine.store.store import is_driven
from engine.tracking.tracker import Tracker
from tests.engine import campaign_log as log
from tests.engine.small_tasks import small

WAIT_S = 400.0
COMMAND = "from engine.cli.main import main; import sys; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return small("transpose", tmp_path / "small_transpose")


@pytest.fixture
def driver(task: Path, tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    (tmp_path / "runs").mkdir()
    # Its tables are made before two processes look at it.
    MlflowClient(f"sqlite:///{tmp_path / 'runs' / 'mlflow.db'}").search_experiments()
    file = tmp_path / "it.yaml"
    file.write_text(f"task: {task}\nname: lost\nruns_dir: {tmp_path / 'runs'}\n")
    words = ["run", str(file), "budgets.evaluations=5000"]
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *words],
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    yield process
    if process.poll() is None:
        process.kill()
    process.wait()


def until(happened: Callable[[], bool], process: "subprocess.Popen[bytes] | None" = None) -> None:
    deadline = time.monotonic() + WAIT_S
    while not happened():
        assert time.monotonic() < deadline
        assert process is None or process.poll() is None, "the campaign ended by itself"
        time.sleep(0.5)


def campaigns(uri: str) -> dict[str, Run]:
    client = MlflowClient(uri)
    ids = [one.experiment_id for one in client.search_experiments()]
    wanted = "tags.`kernel_scientist.island` = 'all'"
    return {str(run.info.run_name): run for run in client.search_runs(ids, wanted)}


@pytest.mark.soak
def test_a_campaign_killed_by_the_system_is_marked(
    driver: "subprocess.Popen[bytes]", tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    uri, store = f"sqlite:///{runs / 'mlflow.db'}", runs / "lost" / "store.sqlite"

    def has_figures() -> bool:
        lost = campaigns(uri).get("lost")
        return lost is not None and lost.data.metrics.get("evaluations", 0) >= 2

    until(has_figures, driver)
    os.kill(driver.pid, signal.SIGKILL)
    until(lambda: not is_driven(store))
    assert campaigns(uri)["lost"].info.status == "RUNNING"
    assert campaigns(uri)["lost"].data.tags["state"] == "running"

    settings = log.config(runs)
    log.write(
        runs / "short" / "store.sqlite",
        [*log.opening(settings), *log.middle(), *log.ending()],
    )
    tracker = Tracker(uri=uri, experiment=settings.experiment, run_dir=runs / "short")
    tracker.record(log.read(runs / "short" / "store.sqlite"))
    tracker.finish()

    assert tracker.trouble == ""
    found = campaigns(uri)
    assert (found["lost"].info.status, found["short"].info.status) == ("KILLED", "FINISHED")
    assert found["lost"].data.tags["state"] == "killed"
    assert found["lost"].info.end_time < time.time() * 1000
    assert found["lost"].data.metrics["best_speedup"] > 0
    statuses = {
        run.info.status for run in MlflowClient(uri).search_runs([found["lost"].info.experiment_id])
    }
    assert statuses == {"KILLED"}  # its islands too
