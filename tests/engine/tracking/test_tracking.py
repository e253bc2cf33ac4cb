"""A campaign in MLflow: what is recorded, what survives a dead server, what is never imported."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from mlflow import MlflowClient
from mlflow.entities import Run

from engine.store.store import read_events
from engine.tracking.parameters import parameters
from engine.tracking.samples import BASELINE_METRICS, ISLAND_METRICS, METRICS, SHAPE_METRICS
from engine.tracking.tracker import Tracker
from tests.engine import campaign_log as log
from tests.engine.ports import free_port

ROOT = Path(__file__).resolve().parents[3]


def runs_of(uri: str) -> tuple[Run, list[Run]]:
    """The campaign's run, and those of its islands in order."""
    client = MlflowClient(uri)
    experiment = client.get_experiment_by_name("kernel-scientist")
    assert experiment is not None
    found = client.search_runs([experiment.experiment_id])
    islands = [run for run in found if "mlflow.parentRunId" in run.data.tags]
    (campaign,) = [run for run in found if run not in islands]
    assert {run.data.tags["mlflow.parentRunId"] for run in islands} == {campaign.info.run_id}
    islands.sort(key=lambda run: run.data.tags["kernel_scientist.island"])
    return campaign, islands


def artifact(uri: str, run: Run, name: str) -> str:
    return Path(MlflowClient(uri).download_artifacts(run.info.run_id, name)).read_text()


def history(uri: str, run: Run, name: str) -> list[tuple[int, float]]:
    points = MlflowClient(uri).get_metric_history(run.info.run_id, name)
    return sorted((point.step, point.value) for point in points)


def dead_address() -> str:
    return f"http://127.0.0.1:{free_port()}"


def tracker(run_dir: Path, uri: str) -> Tracker:
    return Tracker(uri=uri, experiment="kernel-scientist", run_dir=run_dir)


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "short"


@pytest.fixture(scope="module")
def fresh_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once: MLflow takes seconds for the tables of a new one."""
    path = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    MlflowClient(f"sqlite:///{path}").search_experiments()
    return path


@pytest.fixture
def uri(tmp_path: Path, fresh_database: Path) -> str:
    shutil.copy(fresh_database, tmp_path)
    return f"sqlite:///{tmp_path / 'mlflow.db'}"


def test_a_whole_campaign(run_dir: Path, uri: str) -> None:
    settings = log.config(run_dir.parent)
    store = run_dir / "store.sqlite"
    log.write(store, [*log.opening(settings), *log.middle(), *log.ending()])
    (run_dir / "summary.json").write_text('{"campaign": "short"}')

    follower = tracker(run_dir, uri)
    follower.record(log.read(store))
    follower.finish()

    assert follower.trouble == ""
    campaign, islands = runs_of(uri)
    assert campaign.info.status == "FINISHED"
    assert campaign.info.run_name == "short"
    assert campaign.data.params == parameters(settings)
    assert campaign.data.tags["ended"] == "evaluations spent"
    values = campaign.data.metrics
    assert values["best_speedup"] == 6.0
    assert values["best_speedup_low"] == pytest.approx(5.4)
    assert values["best_speedup_high"] == pytest.approx(6.6)
    assert (values["evaluations"], values["evaluations/PASSED"]) == (4, 3)
    assert (values["evaluations/WRONG"], values["faults"]) == (1, 1)
    assert values["diversity"] == pytest.approx((3 + 1) / 2)
    assert 0 < values["device_busy_fraction"] <= 1
    assert [value for _, value in history(uri, campaign, "best_speedup")] == [1, 3, 6, 6]
    assert [run.data.metrics["best_speedup"] for run in islands] == [6.0, 1.0]
    assert [run.data.metrics["population"] for run in islands] == [3, 1]
    assert [run.data.metrics["evaluations"] for run in islands] == [3, 2]

    assert artifact(uri, campaign, "best.hip.txt") == log.candidate("wide").source
    assert json.loads(artifact(uri, campaign, "summary.json")) == {"campaign": "short"}
    steps = json.loads(artifact(uri, campaign, "lineage.json"))
    assert [one["id"] for one in steps] == ["seed", "tile", "wide"]
    assert "make wide" in artifact(uri, campaign, "lineage.txt").splitlines()[2]
    assert campaign.info.artifact_uri.startswith((run_dir.parent / "mlartifacts").as_uri())


def test_every_metric_logged_is_described(run_dir: Path, uri: str) -> None:
    store = run_dir / "store.sqlite"
    log.write(store, [*log.opening(log.config(run_dir.parent)), *log.middle(), *log.ending()])
    follower = tracker(run_dir, uri)
    follower.record(log.read(store))
    campaign, islands = runs_of(uri)
    told = {name for name in campaign.data.metrics if name.partition("/")[0] not in SHAPE_METRICS}
    assert told <= METRICS.keys()
    assert {name.partition("/")[0] for name in campaign.data.metrics.keys() - told} == {"time_us"}
    assert {name for run in islands for name in run.data.metrics} == ISLAND_METRICS.keys()
    views = (ROOT / "mlflow" / "README.md").read_text()
    assert [
        name
        for name in {
            *METRICS,
            *ISLAND_METRICS,
            *(f"{one}/SHAPE" for one in SHAPE_METRICS),
            *(f"{one}/BASELINE" for one in BASELINE_METRICS),
        }
        if f"`{name}`" not in views
    ] == []


def test_a_resumed_campaign_goes_on_in_its_runs_and_repeats_no_point(
    run_dir: Path, uri: str
) -> None:
    store = run_dir / "store.sqlite"
    log.write(store, list(log.opening(log.config(run_dir.parent))))
    killed = tracker(run_dir, uri)
    killed.record(log.read(store))
    first, _ = runs_of(uri)
    log.write(store, [*log.middle(), *log.ending()])

    resumed = tracker(run_dir, uri)
    resumed.record(log.read(store))
    resumed.finish()
    again = tracker(run_dir, uri)  # nothing new: nothing changes
    again.record(log.read(store))
    again.finish()

    campaign, islands = runs_of(uri)
    assert len(islands) == 2
    assert campaign.info.run_id == first.info.run_id
    steps = [step for step, _ in history(uri, campaign, "evaluations")]
    assert steps == [1, 2, 4, 4]  # the last one when the session ended
    assert campaign.info.status == "FINISHED"


def test_a_dead_server_is_told_everything_later(run_dir: Path, uri: str) -> None:
    store, dead = run_dir / "store.sqlite", dead_address()
    log.write(store, [*log.opening(log.config(run_dir.parent)), *log.middle()])
    follower = tracker(run_dir, dead)
    follower.record(log.read(store))
    assert follower.trouble == f"MLflow at {dead} does not answer"
    follower.finish()
    assert follower.trouble == f"MLflow at {dead} does not answer"

    later = tracker(run_dir, uri)
    later.record(log.read(store))
    later.finish()
    assert later.trouble == ""
    campaign, _ = runs_of(uri)
    assert campaign.info.status == "KILLED"  # no session of it ended in order
    assert campaign.data.tags["ended"] == "killed"
    assert campaign.data.metrics["best_speedup"] == 6.0


def test_a_database_that_another_process_is_just_making_is_told_later(
    run_dir: Path, tmp_path: Path
) -> None:
    store, database = run_dir / "store.sqlite", tmp_path / "half.db"
    log.write(store, [*log.opening(log.config(run_dir.parent)), *log.middle()])
    with sqlite3.connect(database) as half:
        half.execute("CREATE TABLE metrics (key TEXT, step BIGINT)")
    half.close()
    follower = tracker(run_dir, f"sqlite:///{database}")
    follower.record(log.read(store))
    assert "half.db can't be written to: " in follower.trouble
    assert follower.page == ""


def test_a_campaign_of_the_same_name_elsewhere_has_runs_of_its_own(
    run_dir: Path, tmp_path: Path, uri: str
) -> None:
    for number, folder in enumerate([run_dir, tmp_path / "elsewhere" / "short"]):
        store = folder / "store.sqlite"
        log.write(store, list(log.opening(log.config(folder.parent, seed=number))))
        tracker(folder, uri).record(list(read_events(store)))
    client = MlflowClient(uri)
    experiment = client.get_experiment_by_name("kernel-scientist")
    assert experiment is not None
    found = client.search_runs([experiment.experiment_id])
    assert len(found) == 2 * (1 + 2)
    assert {run.data.params["seed"] for run in found if run.data.params} == {"0", "1"}


def test_the_log_is_read_without_mlflow() -> None:
    script = (
        "import sys\n"
        "import engine.campaign, engine.cli.main, engine.tracking.samples, engine.cli.progress\n"
        "assert 'mlflow' not in sys.modules, 'mlflow was imported'\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, env=dict(os.environ))
