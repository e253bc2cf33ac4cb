"""A campaign that loses its node: copies of its store, and what is made of them elsewhere."""

import shutil
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from engine.actors import copies, store_writer
from engine.campaign import resume_campaign, run_campaign
from engine.cli import main as cli
from engine.cli.troubles import troubles
from engine.config import CampaignConfig, parse_config
from engine.config_errors import ConfigError
from engine.preparation import stored_config
from engine.restoring import GAP, begun, restore
from engine.session_view import Observer
from engine.snapshot import Snapshot
from engine.store.events import Evaluated, from_row, to_row
from engine.store.kept_task import find_task
from engine.store.kinds.sessions import CampaignStarted, Restored
from engine.store.replay import replay
from engine.store.store import Store, driving, read_events
from evaluators.tasks.task_file import load_task
from scripts.bench_engine import InstantWorkbench
from tests.engine.local_ray import local_ray


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which a campaign was run to its end."""
    folder = tmp_path_factory.mktemp("ended")
    task = shutil.copytree(load_task("sum_reduction").folder, folder / "mine")
    with local_ray():
        run(task)
    return folder


@pytest.fixture
def copy(ended: Path, task: Path) -> Path:
    """What it left, as if it had been run in this test's folder; of its store the copy."""
    for name in ("runs", "copies"):
        shutil.copytree(ended / name, task.parent / name)
    for store in (task.parent / "runs/it/store.sqlite", task.parent / "copies/it.sqlite"):
        with sqlite3.connect(store) as connection:
            connection.execute(
                "UPDATE events SET body = replace(body, ?, ?) WHERE kind LIKE '%_started'",
                (str(ended), str(task.parent)),
            )
        connection.close()
    return task.parent / "copies" / "it.sqlite"


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A task of one's own."""
    return shutil.copytree(load_task("sum_reduction").folder, tmp_path / "mine")


def workbench(task: Path) -> InstantWorkbench:
    loaded = load_task(task)
    labels = tuple(workload.label for workload in loaded.workloads("benchmarks", "cpu"))
    return InstantWorkbench(task_hash=loaded.hash, labels=labels, binary_bytes=10)


def settings(task: Path, **changes: Any) -> CampaignConfig:
    (task.parent / "copies").mkdir(exist_ok=True)
    values = {
        "task": str(task),
        "name": "it",
        "runs_dir": str(task.parent / "runs"),
        "tracking": "none",
        "budgets": {"evaluations": 8},
        "final": {"seconds": 0},
        "snapshots": {"folder": str(task.parent / "copies"), "every_s": 0.01},
    }
    return parse_config({**values, **changes}, where="test")


def run(task: Path, observer: Observer | None = None, **changes: Any) -> Path:
    """The copy of the store that it leaves."""
    config = settings(task, **changes)
    run_campaign(config, observer=observer, workbench=workbench(task))
    return task.parent / "copies" / "it.sqlite"


def killed(copy: Path, *, after: int) -> Path:
    """The same, as it was after so many verdicts."""
    verdicts = [one.seq for one in read_events(copy) if isinstance(one.event, Evaluated)]
    with sqlite3.connect(copy) as connection:
        connection.execute("DELETE FROM events WHERE seq > ?", (verdicts[after - 1],))
    connection.close()
    return copy


@pytest.mark.usefixtures("in_this_process")
def test_a_campaign_goes_on_elsewhere_from_the_copy(copy: Path, task: Path, tmp_path: Path) -> None:
    killed(copy, after=5)
    before = list(read_events(copy))
    for lost in ("runs", "mine"):
        (tmp_path / lost).rename(tmp_path / f"lost {lost}")
    moved = tmp_path / "moved" / "it.sqlite"
    moved.parent.mkdir()
    copy.rename(moved)
    copy.parent.rmdir()

    made = restore(moved, tmp_path / "other" / "it")
    assert (
        "ago; what it did after that is lost" in made.says
        and "0 s (snapshots.every_s)" in made.says
    )
    assert made.places == {"snapshots": {"folder": str(moved.parent)}}
    found = find_task(replay(made.run_dir / "store.sqlite"), made.run_dir)
    summary = resume_campaign(made.run_dir, places=made.places, workbench=workbench(Path(found)))
    assert summary.evaluations["total"] == 8 and summary.resumed

    events = list(read_events(made.run_dir / "store.sqlite"))
    assert events[: len(before)] == before
    mark = events[len(before)]
    assert isinstance(mark.event, Restored) and mark.event.source == str(moved)
    assert mark.seq == before[-1].seq + GAP  # MLflow was told of others with the next numbers
    assert mark.at == before[-1].at  # the lost session has not lasted until now
    assert (made.run_dir / "task" / "mine" / "task.yaml").is_file()
    assert list(read_events(moved)) == events  # copies go on where the copy was

    # The folder stays as it is told, and the task may come back; another one may not.
    again = replay(made.run_dir / "store.sqlite")
    assert again.places["snapshots"]["folder"] == str(moved.parent)
    (tmp_path / "lost mine").rename(task)
    assert stored_config(again, made.run_dir, {}).task == str(task)
    (task / "reference.py").write_text((task / "reference.py").read_text() + "\n# changed\n")
    with pytest.raises(ConfigError, match=r"has changed since .* which the store has kept"):
        resume_campaign(made.run_dir, budgets={"evaluations": 9})


def test_a_copy_of_an_end_loses_nothing(copy: Path, tmp_path: Path) -> None:
    made = restore(copy, tmp_path / "again")
    assert made.says.endswith("at the end of its session: nothing is lost")
    assert made.places == {}  # the folder of copies is here
    with pytest.raises(ConfigError, match="the budget of 8 evaluations is spent"):
        resume_campaign(made.run_dir, places=made.places)


def test_what_is_no_copy_is_refused_and_leaves_nothing(copy: Path, tmp_path: Path) -> None:
    half = tmp_path / "half.sqlite"
    half.write_bytes(copy.read_bytes()[: 4096 * 9])
    (tmp_path / "text.sqlite").write_text("no store")
    Store(tmp_path / "empty.sqlite").close()
    shutil.copy(copy, tmp_path / "it.sqlite.partial")
    for name, why in {
        "none.sqlite": "no such file; name the copy of a store",
        "copies": r"is a folder; name the copy of a store in it \(it.sqlite\)",
        "half.sqlite": "can't be taken up: this is not a campaign's store",
        "text.sqlite": "can't be taken up: this is not a campaign's store",
        "empty.sqlite": "can't be taken up: this store holds no campaign",
        "it.sqlite.partial": "not finished; name the whole one, .*/it.sqlite$",
    }.items():
        with pytest.raises(ConfigError, match=why):
            restore(tmp_path / name, tmp_path / "new" / "it")
        assert not (tmp_path / "new" / "it").exists()
    with pytest.raises(ConfigError, match=r"name a folder of a local disk: .*--from"):
        restore(copy, tmp_path / "half.sqlite" / "it")


def test_a_folder_that_holds_a_campaign_is_left_alone(copy: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs" / "it" / "store.sqlite"
    with pytest.raises(ConfigError, match=r"all that the copy has .*resume .*runs/it"):
        restore(copy, None)
    shutil.copy(copy, tmp_path / "all.sqlite")
    earlier = killed(copy, after=3)
    with pytest.raises(ConfigError, match="all that the copy has"):
        restore(earlier, None)
    killed(store, after=2)
    with pytest.raises(ConfigError, match=r"as it was earlier, .*--from .*it-2"):
        restore(earlier, None)
    with Store(store) as opened:
        opened.append([to_row(Restored(source="x", seq=1, last_at=1, at=1))])
        opened.append([to_row(one.event) for one in read_events(tmp_path / "all.sqlite")][-1:])
    with pytest.raises(ConfigError, match=r"went on apart from the copy, .*or with the copy by"):
        restore(tmp_path / "all.sqlite", None)
    with driving(store), pytest.raises(ConfigError, match="this campaign runs here"):
        restore(copy, None)
    with sqlite3.connect(tmp_path / "all.sqlite") as connection:
        connection.execute("UPDATE events SET at = at + 1")
    connection.close()
    with pytest.raises(ConfigError, match="holds another campaign"):
        restore(tmp_path / "all.sqlite", store.parent)


def test_a_run_that_may_resume_finds_its_campaign(copy: Path, task: Path, tmp_path: Path) -> None:
    config = settings(task, ray={"address": "auto"})
    for name in ("runs", "copies"):
        (tmp_path / name).rename(tmp_path / f"{name} of it")
    (tmp_path / "copies").mkdir()
    assert begun(config) is None
    for name in ("runs", "copies"):
        shutil.copytree(tmp_path / f"{name} of it", tmp_path / name, dirs_exist_ok=True)
    here = begun(config)
    assert here is not None and here.run_dir == tmp_path / "runs" / "it" and not here.says
    assert here.places["ray"] == {"address": "auto"}
    killed(here.run_dir / "store.sqlite", after=2)
    with pytest.raises(ConfigError, match="as it was earlier"):
        begun(config)
    shutil.rmtree(here.run_dir)
    restored = begun(config)
    assert restored is not None and "nothing is lost" in restored.says
    assert len(list(read_events(copy))) + 1 == len(
        list(read_events(restored.run_dir / "store.sqlite"))
    )
    with pytest.raises(ConfigError, match="set name"):
        begun(settings(task, name=""))


def test_a_person_is_told_what_is_lost_and_may_name_another_folder(
    copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["resume", "--from", str(copy), str(tmp_path / "b"), "ray.adress=auto"]) == 2
    said = capsys.readouterr().err
    assert "nothing is lost" in said and "ray.adress is not a known key (did you mean" in said
    shutil.rmtree(tmp_path / "runs")
    assert cli.main(["resume", "--from", str(copy), "snapshots.folder=/nowhere/at/all"]) == 2
    assert "/nowhere/at/all is no folder" in capsys.readouterr().err
    assert (tmp_path / "runs" / "it" / "store.sqlite").is_file()
    assert cli.main(["resume"]) == 2
    assert "name the campaign's folder" in capsys.readouterr().err


@pytest.mark.usefixtures("in_this_process")
def test_copies_begin_at_once_and_a_folder_that_goes_away_costs_a_sentence(task: Path) -> None:
    """Nor is a task kept that is too large."""
    with (task / "data.bin").open("wb") as file:
        file.truncate(20 << 20)
    seen: list[Snapshot] = []
    first: list[int] = []

    def look(snapshot: Snapshot) -> None:
        seen.append(snapshot)
        copy = task.parent / "copies" / "it.sqlite"
        if copy.exists():
            first.append(len(replay(copy).scores.evaluations))
        if snapshot.evaluations >= 3:
            shutil.rmtree(copy.parent, ignore_errors=True)

    config = settings(task, snapshots={"folder": str(task.parent / "copies"), "every_s": 0.5})
    summary = run_campaign(config, observer=look, workbench=workbench(task))
    assert summary.evaluations["total"] == 8
    assert first[0] <= 1  # the seed was not measured, or nothing else
    told = dict(troubles(seen[-1]))
    assert "it.sqlite: No such file or directory; the campaign goes on" in told["copies"]
    assert "only its path is" in told["not kept"] and "16 MiB" in told["not kept"]
    assert replay(task.parent / "runs/it/store.sqlite").task is None


@pytest.mark.usefixtures("in_this_process")
def test_a_folder_that_hangs_holds_nothing_up(task: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = threading.Event()
    monkeypatch.setattr(copies, "PATIENCE_S", 0.2)
    monkeypatch.setattr(store_writer, "copy_store", lambda *_: answers.wait(60))
    seen: list[Snapshot] = []
    config = settings(task, budgets={"evaluations": 4})
    summary = run_campaign(config, observer=seen.append, workbench=workbench(task))
    answers.set()
    assert summary.evaluations["total"] == 4
    assert "it took longer than 0 s" in seen[-1].copy_trouble


def test_keys_that_are_no_more_are_left_out_of_old_configurations(tmp_path: Path) -> None:
    body = (
        '{"config": {"task": "sgemm", "tracking": {"uri": "none", "parent": ""}, '
        '"probes": {"most": 3, "shipped": true}}, "task_hash": "a", "baseline_id": "b"}'
    )
    event = from_row(CampaignStarted.kind, body)
    assert isinstance(event, CampaignStarted)
    assert event.config["tracking"] == {"uri": "none"} and event.config["probes"] == {"most": 3}
    newer = CampaignStarted(
        config={"task": "sgemm", "budgets": {"evaluations": 3}, "islands": {"planets": 2}},
        task_hash="a",
        baseline_id="b",
        versions={"git": "abc"},
    )
    with Store(tmp_path / "store.sqlite") as store:
        store.append([to_row(newer)])
    with pytest.raises(ConfigError, match=r"islands\.planets is not a known key.*\(abc\)"):
        resume_campaign(tmp_path)
