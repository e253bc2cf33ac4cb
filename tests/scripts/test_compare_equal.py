"""Equal arms are run once each, and the script prints what `compare` says of them."""

import json
import sys
from functools import partial
from pathlib import Path

import pytest

from engine.campaign import run_campaign
from scripts.compare_equal import __main__ as compare_equal
from scripts.compare_equal import finished
from tests.engine.local_ray import local_ray
from tests.engine.quick_bench import quick_workbench


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled or measured."""
    run = partial(run_campaign, workbench=quick_workbench())
    monkeypatch.setattr(finished, "run_campaign", run)


@pytest.mark.long
def test_equal_arms_are_run_once_in_turn_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--task", "sgemm", "--pairs", "2", "--evaluations", "6", "--final-seconds", "0"]
    words += ["--relabellings", "3", "--runs-dir", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["compare_equal", *words])
    with local_ray():
        assert compare_equal.main() == 0
        first = json.loads(capsys.readouterr().out)
        began = {store: store.stat().st_mtime_ns for store in tmp_path.glob("*/summary.json")}
        assert compare_equal.main() == 0
    assert json.loads(capsys.readouterr().out) == first
    assert began == {store: store.stat().st_mtime_ns for store in tmp_path.glob("*/summary.json")}
    assert sorted(one.parent.name for one in began) == [
        f"patience-{patience}-{pair}" for patience in (200, 201) for pair in range(2)
    ]
    assert [one["campaigns"] for one in first["pairs"]] == [[1, 1], [1, 1]]
    assert first["pairs_called_different"] == 0
    assert first["all"]["campaigns"] == [2, 2] and first["all"]["ratio"]["ci95"] is not None
    assert first["relabelled"]["outcomes"] == {"too few": 3}
