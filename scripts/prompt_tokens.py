"""Tokens of prompts, a role: of those that a campaign sent, or as today's templates put them.

python -m scripts.prompt_tokens record FOLDER [--task softmax] [--evaluations 40]
python -m scripts.prompt_tokens count RUN [--replay]
"""

import argparse
from pathlib import Path

from engine.campaign import run_campaign
from engine.config import parse_config
from evaluators.tasks.task_file import load_task
from scripts.scripted_model.catalogue_mind import catalogue_mind
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script


def record(folder: Path, task: str, evaluations: int) -> None:
    """One campaign on cpu with a scripted mind, two islands, one mind."""
    rule = catalogue_mind(load_task(task))
    with serving(Script(rule=rule, latency_s=0.1)) as server:
        values = {
            "task": task,
            "name": task,
            "runs_dir": str(folder),
            "tracking": "none",
            "budgets": {"evaluations": evaluations},
            "operators": [{"kind": "llm", "mutation": 0}],
            "islands": {"count": 2},
            "final": {"seconds": 0},
            "llm": {"base_url": server.base_url, "models": {"main": {"model": "scripted"}}},
        }
        run_campaign(parse_config(values, where="scripts/prompt_tokens.py"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--task", default="softmax")
    parser.add_argument("--evaluations", type=int, default=40)
    given = parser.parse_args()
    record(given.folder, given.task, given.evaluations)


if __name__ == "__main__":
    main()
