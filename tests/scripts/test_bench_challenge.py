"""The script of the challenge's figures: what it asks for, what it tells, when it gives up."""

import json
import sys
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

import pytest

from engine.config_file import load_config
from scripts import bench_challenge
from scripts.bench_challenge import Search, ended, of_campaign, search

SUMMARY: dict[str, Any] = {
    "device": "a device",
    "searched_s": 12.34,
    "evaluations": {"total": 7},
    "baseline": {"id": "aa", "times_us": {"N=1": 100.04, "N=2": 10.0}},
    "best": {
        "id": "bb",
        "technique": "tuning",
        "speedup": 12.3456,
        "ci95": [11.111, 13.999],
        "sittings": 3,
        "meaning": "timed against the naive seed itself",
        "mean": "geometric mean of 3 shapes",
        "baselines": {
            "torch": {"ratio": None, "refused": "was not measured: torch is not installed here"}
        },
        "times_us": {"N=1": 10.0, "N=2": 1.0},
        "speed_of_light": {"N=1": 0.01234},
        "beyond": {"N=3": 11.004},
    },
}


def test_a_campaign_is_named_by_task_seconds_and_shapes() -> None:
    assert search("moe=90:1") == Search(task="moe", seconds=90.0, shapes=1)
    assert search("moe=90") == Search(task="moe", seconds=90.0, shapes=None)
    for text in ("moe", "moe=", "moe=x", "moe=90:", "=90"):
        with pytest.raises(ArgumentTypeError, match="is not TASK=SECONDS"):
            search(text)


def test_what_takes_too_long_is_asked_to_end() -> None:
    assert ended([sys.executable, "-c", ""], 60.0)
    assert not ended([sys.executable, "-c", "import time; time.sleep(600)"], 0.5)


@pytest.mark.parametrize("finished", [True, False])
def test_a_row_tells_what_was_found(
    finished: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], within_s: float) -> bool:
        config = load_config(Path(command[-1]), [])
        assert (config.task, config.search_shapes, within_s) == ("sgemm", 2, 9.0)
        assert config.budgets.wall_time_s == 5.0
        if finished:
            run_dir = Path(config.runs_dir) / config.name
            run_dir.mkdir()
            (run_dir / "summary.json").write_text(json.dumps(SUMMARY))
        return finished

    monkeypatch.setattr(bench_challenge, "ended", run)
    row = of_campaign(Search(task="sgemm", seconds=5.0, shapes=2), "cpu", tmp_path, 9.0)
    assert (row["task"], row["searched_on"], row["cut_short"]) == ("sgemm", 2, not finished)
    if finished:
        assert (row["speedup"], row["ci95"], row["sittings"]) == (12.35, [11.11, 14.0], 3)
        assert row["over_baselines"]["torch"].startswith("was not measured")
        assert row["speedup_on_other_shapes"] == {"N=3": 11.0}
    else:
        assert "speedup" not in row
