"""Tunes the population's hyperparameters: Optuna's trials on recorded tables or real campaigns.

python -m scripts.tune_population configs/tune.yaml --out runs/tune

A plan (scripts/population/plan.py names every key) lists keys of a campaign's configuration with
ranges or choices, and what trials run on. A trial's score is the mean over its evaluations of the
best so far. The same command goes on where an earlier one ended. In the end the folder holds
tuned.yaml, importances.png, slices.png and result.json, with the tuned configuration beside the
default on tables, tasks and seeds that no trial saw, unless the default itself is the best.
"""

import json
import signal
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import FrameType
from typing import Any

from engine.compare.campaign import CompareError
from engine.config_errors import ConfigError
from engine.ending import CampaignFailed, kept_interrupts
from engine.llm.gateway import CallsOver
from engine.store.store import StoreError
from evaluators.device_info import BackendMissing, DeviceFault
from evaluators.tasks.task import TaskError
from evaluators.tasks.task_file import load_task
from operators.llm.question import ModelUnavailable
from scripts.ablation.figures import beside
from scripts.lib.arguments import whole_from
from scripts.population.contents import require_unlike
from scripts.population.cores import sets_of
from scripts.population.mlflow_runs import StudyRuns
from scripts.population.on_roles import roles_of
from scripts.population.outcome import (
    DEFAULT,
    RESULT,
    compare_unseen,
    finalists,
    write_tuned,
)
from scripts.population.pictures import draw, importances
from scripts.population.plan import Plan, read_plan
from scripts.population.sampling import require_libraries
from scripts.population.settings import require_settings
from scripts.population.sitting import sitting
from scripts.population.study import finished, run_trials, whole
from scripts.population.trials import problem
from scripts.roles.situations import SituationError
from scripts.search.table import TableError


def main(argv: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(argv)
    try:
        plan = read_plan(asked.plan)
        changes = {"trials": asked.trials, "workers": asked.workers}
        plan = plan.model_copy(update={key: one for key, one in changes.items() if one})
        _require(plan)
        with kept_interrupts(), sitting(asked.out):
            result = tune(plan, asked.out)
    except KeyboardInterrupt:
        print(
            "tune_population: interrupted; the same command goes on where this ended",
            file=sys.stderr,
        )
        return 130
    except BrokenProcessPool:
        print(
            "tune_population: a process of its own was killed; the same command goes on where this "
            "ended",
            file=sys.stderr,
        )
        return 2
    except (
        BackendMissing,
        CallsOver,
        CampaignFailed,
        CompareError,
        ConfigError,
        DeviceFault,
        ModelUnavailable,
        OSError,
        SituationError,
        StoreError,
        TableError,
        TaskError,
    ) as error:
        print(f"tune_population: {error}", file=sys.stderr)
        return 2
    print(json.dumps(result, indent=1))
    return 0


def tune(plan: Plan, out: Path) -> dict[str, Any]:
    """The study and all that it ends with; returns what result.json holds."""
    runs = StudyRuns.of(plan, out)
    with runs.sitting(out):
        return _tuned(plan, out, runs)


def _tuned(plan: Plan, out: Path, runs: StudyRuns) -> dict[str, Any]:
    began = time.monotonic()
    study = run_trials(plan, out)
    searched_s = time.monotonic() - began
    if not whole(study):
        raise ConfigError(f"{out}: no trial ran to its end, so there is nothing to choose from")
    best = finalists(plan, study, out)
    values, is_default = best[0]["values"], best[0]["name"] == DEFAULT
    shares = importances(study)
    files = [write_tuned(plan, values, out), *draw(plan, study, shares, out)]
    result = {
        "study": plan.name,
        "trials": len(finished(study)),
        "ran_everywhere": len(whole(study)),
        "searched_s": round(searched_s, 1),
        "evaluations_of_a_trial": plan.evaluations
        * plan.seen.seeds
        * len(plan.seen.tables or plan.seen.tasks),  # of situations none
        "tuned": values,
        "finalists": best,
        "importances": shares,
        "beside_default": {} if is_default else compare_unseen(plan, values, out),
    }
    (out / RESULT).write_text(json.dumps(result, indent=1) + "\n")
    runs.show([*files, out / RESULT])
    for line in told(result):
        print(line, file=sys.stderr)
    return result


def told(result: Mapping[str, Any]) -> list[str]:
    """What a person reads at the end."""
    lines = [f"tuned: {', '.join(f'{key} = {one}' for key, one in result['tuned'].items())}"]
    if not result["beside_default"]:
        lines.append("the default itself won among the finalists: nothing is left to compare")
    for name, found in result["beside_default"].items():
        if name == "tasks":
            over = found["arms"]["tuned"]["over_tasks"]
            lines.append(f"real campaigns on unseen seeds, beside the default: {beside(over)}")
            continue
        if name == "situations":
            for role, arms in found.items():
                scores = ", ".join(f"{arm} {one['score']:+.4f}" for arm, one in arms.items())
                lines.append(f"unseen situations, {role}: {scores}")
            continue
        for table in found["tables"]:
            less = table["tuned_less"]["default"]["area"]
            lines.append(
                f"{name}, {table['table']}: area {less['mean']:+.4f} "
                f"({less['low']:+.4f} to {less['high']:+.4f}) over the default"
            )
        both = found["over_tables"]
        lines.append(
            f"{name}: area {both['tuned']['area']['mean']:.4f}, "
            f"default {both['default']['area']['mean']:.4f}"
        )
    return lines


def _require(plan: Plan) -> None:
    """What the study would meet late. Raises ConfigError, TableError, TaskError, and more."""
    require_libraries(plan)
    require_settings(plan)
    sets_of(plan)
    for table in (*plan.seen.tables, *plan.unseen.tables):
        if max(problem(table).best.values()) <= 0:
            raise ConfigError(
                f"{table}: nothing in it is faster than the naive seed, where all begin: every "
                "score would be 1; name another table"
            )
    for files in (plan.seen.situations, plan.unseen.situations):
        roles_of(files)
    for task in (*plan.seen.tasks, *plan.unseen.tasks):
        load_task(task)
    require_unlike(plan)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="tune_population", description=__doc__, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("plan", type=Path, metavar="PLAN.yaml")
    parser.add_argument("--out", type=Path, default=Path("runs/tune"), help="the study's folder")
    parser.add_argument("--trials", type=whole_from(1), help="in place of the plan's")
    parser.add_argument("--workers", type=whole_from(1), help="in place of the plan's")
    return parser


def _on_term(number: int, frame: FrameType | None) -> None:
    signal.raise_signal(signal.SIGINT)  # which asyncio knows how to end by


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _on_term)
    sys.exit(main())
