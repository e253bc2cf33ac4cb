"""Equal arms are run once each, and the script prints what `compare` says of them."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.campaign import run_campaign
from engine.config_file import load_config
from scripts.compare_equal.__main__ import main
from tests.engine.local_ray import local_ray
from tests.engine.quick_bench import quick_workbench


def here(arguments: Sequence[str], output: Path) -> int:
    """In this process; nothing is compiled or measured."""
    command, file = arguments
    assert command == "run"
    with local_ray():
        run_campaign(load_config(Path(file)), workbench=quick_workbench())
    return 0


@pytest.mark.soak
def test_equal_arms_are_run_once_in_turn_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--task", "sgemm", "--pairs", "2", "--evaluations", "6", "--final-seconds", "0"]
    words += ["--relabellings", "3", "--runs-dir", str(tmp_path)]
    assert main(words, run=here) == 0
    first = json.loads(capsys.readouterr().out)
    began = {store: store.stat().st_mtime_ns for store in tmp_path.glob("*/summary.json")}
    assert main(words, run=here) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert began == {store: store.stat().st_mtime_ns for store in tmp_path.glob("*/summary.json")}
    assert sorted(one.parent.name for one in began) == [
        f"patience-{patience}-{pair}" for patience in (200, 201) for pair in range(2)
    ]
    assert [one["campaigns"] for one in first["pairs"]] == [[1, 1], [1, 1]]
    assert first["pairs_called_different"] == 0
    assert first["all"]["campaigns"] == [2, 2] and first["all"]["ratio"]["ci95"] is not None
    assert first["relabelled"]["outcomes"] == {"too few": 3}


def test_what_can_not_be_run_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--task", "no_such_task", "--runs-dir", str(tmp_path)], run=here) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[-1].startswith("compare_equal: no task 'no_such_task'")
    assert main(["--cores", "4096", "--runs-dir", str(tmp_path)], run=here) == 2
    assert "--cores 4096: this process may use" in capsys.readouterr().err
