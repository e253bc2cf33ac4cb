"""Campaigns that end before their budgets: each way, and what a resumption does then."""

from pathlib import Path
from typing import Any

import pytest

from engine.campaign import resume_campaign, run_campaign
from engine.cli.result import result_lines
from engine.config_errors import ConfigError
from engine.ending import CampaignFailed
from engine.store.replay import replay
from tests.engine.quick_bench import quick_workbench
from tests.engine.test_finals import forget_the_end, settings

pytestmark = pytest.mark.usefixtures("in_this_process")

MANY = {"evaluations": 4000}


def asked(run_dir: Path) -> int:
    return replay(run_dir / "store.sqlite").scores.asked


@pytest.mark.parametrize(
    ("stop", "told", "override"),
    [
        ({"speedup": 1.05}, "the target is reached: ", "stop.speedup="),
        ({"plateau": 30}, "no new best came in ", "stop.plateau="),
        ({"expected": 400}, "what is left of the budget is expected to bring ", "stop.expected="),
    ],
)
def test_it_ends_and_says_by_what(
    stop: dict[str, Any], told: str, override: str, tmp_path: Path
) -> None:
    summary = run_campaign(settings(tmp_path, budgets=MANY, stop=stop), workbench=quick_workbench())
    assert summary.ended.startswith(told)
    run_dir, count = tmp_path / "it", asked(tmp_path / "it")
    assert count < MANY["evaluations"]
    whole = replay(run_dir / "store.sqlite")
    assert whole.scores.best is not None and whole.scores.best.final
    lines = list(result_lines(summary, whole, None))
    assert told in lines[0]
    assert any(line.startswith("go on") and override in line for line in lines)
    with pytest.raises(ConfigError, match=r"nothing left to do; go on beyond it: .* stop\."):
        resume_campaign(run_dir, workbench=quick_workbench())
    assert asked(run_dir) == count


def test_a_resumption_goes_on_to_a_further_end(tmp_path: Path) -> None:
    run_dir = tmp_path / "it"
    run_campaign(
        settings(tmp_path, budgets=MANY, stop={"plateau": 20}), workbench=quick_workbench()
    )
    first = asked(run_dir)
    summary = resume_campaign(
        run_dir,
        budgets={"evaluations": first + 10},
        stop={"plateau": None},
        workbench=quick_workbench(),
    )
    assert summary.ended == "the evaluations are spent"
    assert asked(run_dir) == first + 10
    assert replay(run_dir / "store.sqlite").stop["plateau"] is None


def test_a_kill_in_the_last_measurement_leaves_only_that_to_do(tmp_path: Path) -> None:
    run_dir = tmp_path / "it"
    config = settings(tmp_path, budgets=MANY, stop={"plateau": 20})
    run_campaign(config, workbench=quick_workbench())
    first = asked(run_dir)
    forget_the_end(run_dir)
    summary = resume_campaign(run_dir, workbench=quick_workbench())
    assert summary.ended.startswith("no new best came in ")
    assert asked(run_dir) == first
    assert replay(run_dir / "store.sqlite").scores.titles.final is not None


def test_a_speed_of_light_that_is_not_known_is_told_before_the_search(tmp_path: Path) -> None:
    config = settings(tmp_path, stop={"speed_of_light": 0.9})
    with pytest.raises(CampaignFailed, match=r"set stop\.speed_of_light=null"):
        run_campaign(config, workbench=quick_workbench())
    assert asked(tmp_path / "it") == 1  # the naive seed
