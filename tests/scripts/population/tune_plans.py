"""Small plans of scripts/tune_population.py, for its tests."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from engine.config import parse_config
from engine.store.kinds.sessions import CampaignStarted
from evaluators.tasks.task_file import load_task
from scripts.population.plan import Plan
from tests.engine import campaign_log as log
from tests.scripts.test_bench_search import results

ROOT = Path(__file__).parents[3]
SEARCH = {
    "islands.count": {"low": 1, "high": 3},
    "islands.memory": ["shared", "own"],
    "operators.tuning": {"low": 0, "high": 40},
    "migration.every": {"low": 2, "high": 40, "log": True},
}


def plan_values(folder: Path, **changes: Any) -> dict[str, Any]:
    seen, unseen = folder / "seen.T4.json", folder / "unseen.T4.json"
    for number, path in enumerate((seen, unseen)):
        if not path.exists():
            # The second lacks a part of the first.
            kept = [one for one in results() if one["configuration"]["tile"] > number]
            tree = {"schema_version": "1.0.0", "metadata": {}, "results": kept}
            path.write_text(json.dumps(tree))
    return {
        "name": "small",
        "seen": {"tables": [str(seen)], "seeds": 2},
        "unseen": {"tables": [str(unseen)], "seeds": 3},
        "evaluations": 20,
        "trials": 5,
        "startup": 2,
        "finalists": 2,
        "search": SEARCH,
        **changes,
    }


def plan_of(folder: Path, **changes: Any) -> Plan:
    return Plan.model_validate(plan_values(folder, **changes))


def write(folder: Path, **changes: Any) -> Path:
    file = folder / "tune.yaml"
    file.write_text(yaml.safe_dump(plan_values(folder, **changes)))
    return file


class Ran:
    """In place of a process that would take minutes; the folders are as it leaves them."""

    def __init__(self) -> None:
        self.configs: list[dict[str, Any]] = []

    def __call__(self, arguments: Sequence[str], output: Path) -> int:
        config = yaml.safe_load(Path(arguments[1]).read_text())
        self.configs.append(config)
        folder = Path(config["runs_dir"]) / config["name"]
        started, *opening = log.opening(parse_config(config, where="test"))
        assert isinstance(started, CampaignStarted)
        started = replace(started, task_hash=load_task(config["task"]).hash)
        events = [started, *opening, *log.middle(), *log.ending()]
        log.write(folder / "store.sqlite", events)
        return 0
