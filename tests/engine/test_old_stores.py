"""Stores of earlier versions: read, shown, and gone on with."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.campaign import resume_campaign
from engine.cli import main as cli
from engine.ending import CampaignFailed
from engine.history.glance import glance
from engine.restoring import restore
from engine.store.replay import replay
from engine.store.store import Store, read_events
from evaluators.tasks.task_file import load_task
from scripts.bench_engine import INFO, InstantWorkbench
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script

STORED = Path(__file__).parent / "data" / "store_of_a8f0952.jsonl"
"""What commit a8f0952 wrote of a campaign whose islands ask a scripted model: designs, probes,
ideas, credit, findings, contests. Its prompts are left out, as keep_prompts: false does."""


@pytest.fixture
def model() -> Iterator[str]:
    with serving(Script(rule=lambda messages, number: "One could tile it.")) as server:
        yield server.base_url


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "old.sqlite"
    Store(path).close()
    told = {"@RUNS@": str(tmp_path / "runs"), "@DEVICE_CLASS@": INFO.device_class}
    text = STORED.read_text()
    for mark, value in told.items():
        text = text.replace(mark, value)
    with sqlite3.connect(path) as connection:
        for one in map(json.loads, text.splitlines()):
            values = [one[name] for name in ("at", "kind", "key", "island", "cycle")]
            connection.execute(
                "INSERT INTO events (at, kind, key, island, cycle, body) VALUES (?, ?, ?, ?, ?, ?)",
                (*values, json.dumps(one["body"])),
            )
    connection.close()
    return path


@pytest.mark.usefixtures("in_this_process")
def test_a_campaign_of_an_earlier_version_goes_on_from_a_copy(
    store: Path, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = list(read_events(store))
    run_dir = restore(store, tmp_path / "runs" / "cat").run_dir
    assert replay(run_dir / "store.sqlite").task is None  # no version of then kept it
    assert glance(run_dir / "store.sqlite").evaluations == 5
    for command in ("report", "watch --once"):
        name, *options = command.split()
        assert cli.main([name, str(run_dir), *options]) == 0
    assert "best" in capsys.readouterr().out

    task = load_task("transpose")
    labels = tuple(workload.label for workload in task.workloads("benchmarks", "cpu"))
    bench = InstantWorkbench(task_hash=task.hash, labels=labels, binary_bytes=10)
    with pytest.raises(CampaignFailed, match=r"nothing answers at .*or set llm\.base_url"):
        resume_campaign(run_dir, budgets={"evaluations": 6}, workbench=bench)
    places = {"llm": {"base_url": model}}  # it was served elsewhere
    summary = resume_campaign(
        run_dir, budgets={"evaluations": 6, "tuning": 0}, places=places, workbench=bench
    )
    assert summary.evaluations["total"] == 6 and summary.resumed
    assert list(read_events(run_dir / "store.sqlite"))[: len(before)] == before
