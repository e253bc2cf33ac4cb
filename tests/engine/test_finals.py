"""The measurement at a campaign's end: it is there, bounded, and not lost by a kill."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from engine.campaign import resume_campaign, run_campaign
from engine.config import parse_config
from engine.config_errors import ConfigError
from engine.snapshot import Snapshot
from engine.store.events import Evaluated
from engine.store.kinds.contests import Contested, FinalMeasurement
from engine.store.replay import replay
from engine.store.store import read_events
from tests.engine.quick_bench import quick_workbench

pytestmark = pytest.mark.usefixtures("in_this_process")


def settings(folder: Path, **changes: Any) -> Any:
    values = {
        "task": "sgemm",
        "name": "it",
        "runs_dir": str(folder),
        "tracking": "none",
        "budgets": {"evaluations": 20},
        "devices": {"ids": [0]},
        "operators": [{"kind": "random"}],
    }
    return parse_config({**values, **changes}, where="test")


def events_of(run_dir: Path, kind: type[Any]) -> list[Any]:
    stored = read_events(run_dir / "store.sqlite")
    return [one.event for one in stored if isinstance(one.event, kind)]


def forget_the_end(run_dir: Path) -> None:
    """As a kill in the middle of the last measurement leaves the store."""
    with sqlite3.connect(run_dir / "store.sqlite") as connection:
        connection.execute(
            "DELETE FROM events WHERE kind IN ('final_measurement', 'session_finished')"
        )
    connection.close()


def test_a_campaign_ends_with_a_measurement_against_the_seed(tmp_path: Path) -> None:
    seen: list[Snapshot] = []
    summary = run_campaign(settings(tmp_path), observer=seen.append, workbench=quick_workbench())
    (final,) = events_of(tmp_path / "it", FinalMeasurement)
    assert summary.best is not None and summary.best.id == final.kernel_id
    assert summary.best.speedup == final.speedup and summary.best.sittings == final.sittings
    doing = [snapshot.doing for snapshot in seen if snapshot.phase == "stopping"]
    assert list(dict.fromkeys(doing))[:4] == [
        "finishing what is under way",
        "measuring the best again",
        "distilling findings",
        "writing the report",
    ]
    assert seen[-1].dispatcher.best is not None and seen[-1].dispatcher.best.final
    stored = json.loads((tmp_path / "it" / "summary.json").read_text())
    assert stored["best"]["speedup"] == final.speedup
    whole = replay(tmp_path / "it" / "store.sqlite")
    assert whole.sessions[0].search_ended_at is not None


def test_a_kill_meanwhile_leaves_it_to_a_resumption(tmp_path: Path) -> None:
    first = run_campaign(settings(tmp_path), workbench=quick_workbench())
    run_dir = tmp_path / "it"
    forget_the_end(run_dir)
    assert replay(run_dir / "store.sqlite").lacks_final
    evaluated = len(events_of(run_dir, Evaluated))
    contests = len(events_of(run_dir, Contested))
    resumed = resume_campaign(run_dir, workbench=quick_workbench())
    assert len(events_of(run_dir, Evaluated)) == evaluated
    assert len(events_of(run_dir, Contested)) == contests
    assert len(events_of(run_dir, FinalMeasurement)) == 1
    assert first.best is not None and resumed.best is not None
    assert resumed.best.id == first.best.id and resumed.best.speedup == first.best.speedup
    with pytest.raises(ConfigError, match="the budget of 20 evaluations is spent"):
        resume_campaign(run_dir, workbench=quick_workbench())


def test_none_where_none_is_wanted(tmp_path: Path) -> None:
    seen: list[Snapshot] = []
    chosen = settings(tmp_path, final={"seconds": 0})
    summary = run_campaign(chosen, observer=seen.append, workbench=quick_workbench())
    assert events_of(tmp_path / "it", FinalMeasurement) == []
    assert "measuring the best again" not in {snapshot.doing for snapshot in seen}
    assert summary.best is not None
    assert summary.best.meaning.startswith("the product of contests from the naive seed")
    with pytest.raises(ConfigError, match="is spent"):
        resume_campaign(tmp_path / "it", workbench=quick_workbench())


def test_a_further_session_measures_again_at_its_own_end(tmp_path: Path) -> None:
    run_campaign(settings(tmp_path), workbench=quick_workbench())
    resume_campaign(tmp_path / "it", budgets={"evaluations": 40}, workbench=quick_workbench())
    finals = events_of(tmp_path / "it", FinalMeasurement)
    assert [one.number for one in finals] == [0, 1]
    best = replay(tmp_path / "it" / "store.sqlite").scores.best
    assert best is not None and best.final and best.kernel_id == finals[-1].kernel_id
