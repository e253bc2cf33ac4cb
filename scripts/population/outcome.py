"""Outcome: the best configuration of a study, why it is, and whether it is better than default."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from engine.compare.campaign import Campaign
from engine.compare.folders import read_folders
from scripts.ablation.campaigns import Run
from scripts.ablation.figures import compared, figures
from scripts.bench_search import bench
from scripts.population.campaign import run_until_done
from scripts.population.cores import on_sets, sets_of
from scripts.population.on_roles import OnRole, roles_of
from scripts.population.parts import simulated
from scripts.population.plan import SEED_OF_FINALISTS, SEED_OF_UNSEEN, Plan
from scripts.population.settings import Values, default_values, settings_of
from scripts.population.study import whole
from scripts.population.trials import OnTask, instances

if TYPE_CHECKING:
    from optuna import Study

TUNED, RESULT = "tuned.yaml", "result.json"

DEFAULT = "default"
"""The name of the finalist that is no trial."""


def finalists(
    plan: Plan, study: "Study", out: Path, run: Run = run_until_done
) -> list[dict[str, Any]]:
    """The best trials and the default, each with its score on seeds of its own, best first."""
    chosen = _chosen(plan, study)
    seeds = range(SEED_OF_FINALISTS, SEED_OF_FINALISTS + max(2, plan.seen.seeds))
    asked = {
        name: instances(plan, out / f"finalist-{name.replace(' ', '-')}", seeds, run)
        for name in chosen
    }
    # They take turns, so that none always meets the cooler machine.
    turns = [
        (name, one)
        for ones in zip(*asked.values(), strict=True)
        for name, one in zip(asked, ones, strict=True)
    ]
    sets = sets_of(plan) if plan.seen.tasks else []  # others are this process's own work
    scores = on_sets(lambda turn: turn[1].score(plan, chosen[turn[0]]), turns, sets)
    found = []
    for name, values in chosen.items():
        own = {
            one.name: score
            for (whose, one), score in zip(turns, scores, strict=True)
            if whose == name
        }
        found.append(
            {
                "name": name,
                "values": values,
                "score": round(float(np.mean([*own.values()])), 4),
                "scores": {key: round(score, 4) for key, score in own.items()},
            }
        )
    return sorted(found, key=lambda one: -one["score"])


def _chosen(plan: Plan, study: "Study") -> dict[str, dict[str, Any]]:
    """By name: the best trials, no two alike, and the default."""
    default = default_values(plan)
    best: dict[str, tuple[str, dict[str, Any]]] = {}
    for one in whole(study):
        best.setdefault(_text(one.params), (f"trial {one.number}", dict(one.params)))
        if len(best) == plan.finalists:
            break
    best[_text(default)] = (DEFAULT, default)
    return dict(best.values())


def _text(values: Values) -> str:
    return json.dumps(values, sort_keys=True)


def write_tuned(plan: Plan, values: Values, out: Path) -> Path:
    """A campaign's configuration, ready but for its task: what trials had in common, and these."""
    settings = settings_of(plan, values)
    budgets = {"evaluations": plan.evaluations, **settings.get("budgets", {})}
    task = {"task": plan.seen.tasks[0]} if plan.seen.tasks else {"task": "sgemm"}
    text = yaml.safe_dump({**task, **settings, "budgets": budgets}, sort_keys=False)
    head = (
        f"# Found by scripts/tune_population.py, study {plan.name}.\n"
        "# Set task and backend to yours.\n"
    )
    file = out / TUNED
    file.write_text(head + text)
    return file


def compare_unseen(
    plan: Plan, values: Values, out: Path, run: Run = run_until_done
) -> dict[str, Any]:
    """The tuned configuration beside the default, with intervals: where no trial ran, and on what
    trials ran on with other seeds. No kernel of a trial serves it."""
    if plan.seen.tasks:
        return {"tasks": _campaigns(plan, values, out, run)}
    if plan.seen.situations:
        return {"situations": _roles(plan, values)}
    settings = settings_of(plan, values)
    arms = {"tuned": settings, "default": settings_of(plan, {})}
    kept = {name: simulated(one) for name, one in arms.items()}
    told = {}
    for name, tables in (("unseen tables", plan.unseen.tables), ("unseen seeds", plan.seen.tables)):
        found = bench(
            tables,
            kept,
            strategies=(),
            seeds=plan.unseen.seeds,
            evaluations=plan.evaluations,
            workers=plan.workers,
            first_seed=SEED_OF_UNSEEN,
        )
        for table in found["tables"]:
            del table["curves"], table["random_curve"]
        told[name] = found
    return told


def _roles(plan: Plan, values: Values) -> dict[str, Any]:
    """By role and arm: the score, and what bench_roles says."""
    found: dict[str, Any] = {}
    files = plan.unseen.situations
    for role in roles_of(files):
        for name, chosen in {"tuned": values, "default": {}}.items():
            asked = [OnRole(role=role, files=files, seed=seed) for seed in range(plan.unseen.seeds)]
            told = [one.asked(plan, chosen) for one in asked]
            scores = [one.scored(each) for one, each in zip(asked, told, strict=True)]
            found.setdefault(role, {})[name] = {
                "score": round(float(np.mean(scores)), 4),
                "figures": told[0]["figures"],
            }
    return found


def _campaigns(plan: Plan, values: Values, out: Path, run: Run) -> dict[str, Any]:
    """Real ones, as scripts/ablate.py compares arms; these take turns at being first."""
    arms: dict[str, Values] = {"default": {}, "tuned": values}
    digest = hashlib.sha256(_text(values).encode()).hexdigest()[:8]
    places = {"default": "default", "tuned": f"tuned-{digest}"}  # a later sitting may find others
    turns = [
        (name, OnTask(task=task, seed=seed, folder=out / "unseen" / places[name], run=run))
        for seed in range(SEED_OF_UNSEEN, SEED_OF_UNSEEN + plan.unseen.seeds)
        for number, task in enumerate(plan.unseen.tasks)
        for name in ["default", "tuned"][:: 1 if (seed + number) % 2 else -1]
    ]
    folders = on_sets(lambda turn: turn[1].campaign(plan, arms[turn[0]]), turns, sets_of(plan))
    arm_of = {str(one): name for one, (name, _) in zip(folders, turns, strict=True)}
    campaigns = _read(folders, arm_of)
    return figures(compared(campaigns, {one.name: one.name.partition("/")[0] for one in campaigns}))


def _read(folders: Sequence[Path], arm_of: Mapping[str, str]) -> list[Campaign]:
    found = []
    for folder in sorted(folders, key=lambda one: arm_of[str(one)]):
        (one,) = read_folders([folder])
        found.append(replace(one, name=f"{arm_of[str(folder)]}/{one.name}"))
    return found
