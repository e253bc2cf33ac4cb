"""Campaigns told to a real MLflow server, and read back over its REST API as its pages do."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from engine.config import CampaignConfig
from engine.history.config_hash import config_hash
from engine.store.events import Event
from engine.store.kinds.contests import FinalMeasurement
from engine.store.kinds.sessions import (
    CampaignStarted,
    SearchEnded,
    SessionFinished,
    SessionStarted,
)
from engine.store.store import read_events
from engine.tracking.tracker import Tracker
from evaluators.tasks.task_file import load_task
from tests.engine import campaign_log as log
from tests.engine.ports import free_port

pytestmark = pytest.mark.long

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FINAL = FinalMeasurement(
    number=0, kernel_id="wide", speedup=5.5, ci95=(5.25, 5.75), ci99=(5.0, 6.0), sittings=4
)
START_S = 300.0
EXPERIMENT = "kernel-scientist/sum_reduction"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("server")
    port = free_port()
    command = [sys.executable, "-m", "mlflow", "server", "--workers", "1", "--port", str(port)]
    with (folder / "server.log").open("w") as said:
        process = subprocess.Popen(
            [*command, "--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}"],
            cwd=folder,  # where it puts artifacts
            env={**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"},
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(process, address, folder / "server.log")
        yield address
    finally:
        os.killpg(process.pid, 15)
        process.wait()


def _wait_for(process: "subprocess.Popen[bytes]", address: str, said: Path) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            urllib.request.urlopen(f"{address}/health", timeout=10).close()
            return
        except OSError:
            assert process.poll() is None and time.monotonic() < deadline, said.read_text()
            time.sleep(0.5)


class Api:
    """MLflow's, as its pages call it."""

    def __init__(self, address: str) -> None:
        self.address = address

    def get(self, call: str, **query: str) -> Any:
        url = f"{self.address}/api/2.0/mlflow/{call}?{urlencode(query)}"
        with urllib.request.urlopen(url, timeout=60) as answer:
            return json.load(answer)

    def experiment(self) -> Any:
        return self.get("experiments/get-by-name", experiment_name=EXPERIMENT)["experiment"]

    def run(self, page: str) -> Any:
        run_id = page.partition("/runs/")[2].partition("?")[0]
        return self.get("runs/get", run_id=run_id)["run"]

    def artifacts(self, run: Any, path: str = "") -> set[str]:
        query = {"path": path} if path else {}
        listed = self.get("artifacts/list", run_id=run["info"]["run_id"], **query)
        return {one["path"] for one in listed["files"]}

    def text(self, run: Any, path: str) -> str:
        query = urlencode({"path": path, "run_uuid": run["info"]["run_id"]})
        with urllib.request.urlopen(f"{self.address}/get-artifact?{query}", timeout=60) as answer:
            return str(answer.read().decode())

    def history(self, run: Any, name: str) -> list[float]:
        query = {"run_id": run["info"]["run_id"], "metric_key": name}
        metrics = self.get("metrics/get-history", **query)["metrics"]
        ordered = sorted(metrics, key=lambda one: (one.get("step", 0), one["timestamp"]))
        return [one["value"] for one in ordered]


@pytest.fixture
def api(server: str) -> Api:
    return Api(server)


def pairs(values: list[Any]) -> dict[str, Any]:
    return {one["key"]: one["value"] for one in values}


def opening(settings: CampaignConfig) -> Iterator[Event]:
    """Of a campaign of the task as it is, from a checkout."""
    for event in log.opening(settings):
        if isinstance(event, CampaignStarted):
            yield replace(
                event,
                task_hash=load_task("sum_reduction").hash,
                versions={**event.versions, "git": f"{COMMIT}-dirty"},
            )
        else:
            yield event


def whole(settings: CampaignConfig) -> list[Event]:
    ended = SearchEnded(number=0, reason="evaluations spent")
    return [*opening(settings), *log.middle(), ended, FINAL, *log.ending()]


def track(run_dir: Path, server: str) -> Tracker:
    """All of it, by a tracker of its own."""
    tracker = Tracker(uri=server, experiment=EXPERIMENT, run_dir=run_dir)
    tracker.record(log.read(run_dir / "store.sqlite"))
    tracker.finish()
    assert tracker.trouble == ""
    return tracker


def resumption() -> Iterator[Event]:
    """A session that finds nothing left to do, and has a larger budget."""
    yield SessionStarted(
        number=1,
        began_at=1.8e9 + 900,
        device=log.DEVICE,
        device_class="cpu/test",
        devices=1,
        budgets={"evaluations": 900, "tuning": 0},
    )
    yield SessionFinished(number=1, reason="every kernel there is was tried")


def test_a_campaign_as_its_pages_show_it(api: Api, tmp_path: Path) -> None:
    settings = log.config(tmp_path, seed=7)
    run_dir = tmp_path / "short"
    log.write(run_dir / "store.sqlite", whole(settings))
    (run_dir / "summary.json").write_text("{}")
    (run_dir / "report.html").write_text("<title>short</title>")
    (run_dir / "plots").mkdir()
    (run_dir / "plots" / "best.svg").write_text("<svg/>")

    page = track(run_dir, api.address).page

    experiment = api.experiment()
    tags = pairs(experiment["tags"])
    assert tags["mlflow.experimentKind"] == "custom_model_development"
    assert "sum_reduction" in tags["mlflow.note.content"]
    view = json.loads(tags["mlflow.sharedViewState.campaigns"])
    assert "metrics.`best_speedup`" in json.loads(view["state"])["selectedColumns"]
    run = api.run(page)
    run_id = run["info"]["run_id"]
    number = experiment["experiment_id"]
    assert page == f"/#/experiments/{number}/runs/{run_id}?workflowType=machine_learning"
    assert (run["info"]["run_name"], run["info"]["status"]) == ("short", "FINISHED")

    params = pairs(run["data"]["params"])
    assert params["task"] == "sum_reduction" and params["islands.count"] == "2"
    assert params["final.seconds"] == "30" and params["devices.ids"] == "none"
    assert not [name for name in params if name.startswith(("budgets", "runs_dir", "tracking"))]

    said = pairs(run["data"]["tags"])
    stored = log.read(run_dir / "store.sqlite")[0].event
    assert isinstance(stored, CampaignStarted)
    told = {
        "task": "sum_reduction",
        "backend": "cpu",
        "device": log.DEVICE,
        "device_class": "cpu/test",
        "mlflow.source.git.commit": COMMIT,
        "git": "0123456789ab with changes",
        "config_hash": config_hash(stored.config, stored.task_hash),
        "seed": "7",
        "state": "ended",
        "ended": "evaluations spent",
        "budgets.evaluations": "400",
        "budgets.dollars": "none",
    }
    assert {name: said[name] for name in told} == told
    note = said["mlflow.note.content"]
    assert note.startswith("**5.50x the naive seed** (95% interval 5.25 to 5.75)")
    assert "**Believe it**" in note and "| N=1024 | 100.0 | 16.7 | 6.00x |" in note
    assert "make wide" in note and "kernel-scientist resume" in note

    values = pairs(run["data"]["metrics"])
    final = (values["final_speedup"], values["final_low"], values["final_high"])
    assert final == (5.5, 5.25, 5.75)
    assert api.history(run, "time_us/N1024") == [100.0, 33.333, 16.667]

    (given,) = run["inputs"]["dataset_inputs"]
    assert given["dataset"]["name"] == "sum_reduction"
    assert given["dataset"]["digest"] == stored.task_hash[:36]
    schema = json.loads(given["dataset"]["schema"])["mlflow_colspec"]
    names = [argument.name for argument in load_task("sum_reduction").arguments]
    assert [one["name"].split()[0] for one in schema] == names

    files = {"best.hip.txt", "lineage.json", "lineage.txt", "report.html", "summary.json"}
    assert api.artifacts(run) == {*files, "config.yaml", "plots"}
    assert api.artifacts(run, "plots") == {"plots/best.svg"}
    assert api.text(run, "best.hip.txt") == log.candidate("wide").source
    assert api.text(run, "config.yaml") == "task: sum_reduction\nseed: 7\n"


def test_a_resumption_that_does_nothing_leaves_the_figures(api: Api, tmp_path: Path) -> None:
    run_dir = tmp_path / "again"
    log.write(run_dir / "store.sqlite", whole(log.config(tmp_path)))
    before = api.run(track(run_dir, api.address).page)
    log.write(run_dir / "store.sqlite", [*resumption()])
    after = api.run(track(run_dir, api.address).page)

    assert after["info"]["run_id"] == before["info"]["run_id"]
    assert pairs(before["data"]["metrics"]) == pairs(after["data"]["metrics"])
    assert pairs(before["data"]["tags"])["budgets.evaluations"] == "400"
    tags = pairs(after["data"]["tags"])
    assert (tags["budgets.evaluations"], tags["sessions"]) == ("900", "2")
    assert tags["ended"] == "every kernel there is was tried"


@pytest.mark.soak
def test_a_killed_campaign_is_marked_by_the_next(api: Api, tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    log.write(killed / "store.sqlite", [*opening(log.config(tmp_path)), *log.middle()])
    lost = Tracker(uri=api.address, experiment=EXPERIMENT, run_dir=killed)
    lost.record(list(read_events(killed / "store.sqlite")))  # and then nothing more
    assert api.run(lost.page)["info"]["status"] == "RUNNING"

    later = tmp_path / "later"
    log.write(later / "store.sqlite", whole(log.config(tmp_path)))
    track(later, api.address)

    run = api.run(lost.page)
    assert run["info"]["status"] == "KILLED"
    tags = pairs(run["data"]["tags"])
    assert (tags["state"], tags["ended"]) == ("killed", "killed")
    assert pairs(run["data"]["metrics"])["best_speedup"] == 6.0
