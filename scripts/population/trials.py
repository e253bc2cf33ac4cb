"""Trials: one configuration's score on every table or task, given up early where it is no good."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from engine.compare.folders import read_folders
from scripts.ablation.campaigns import Run, finish
from scripts.population.campaign import run_until_done
from scripts.population.mlflow_runs import adopt, experiment_of, tracking_uri
from scripts.population.on_roles import OnRole, roles_of
from scripts.population.parts import simulated
from scripts.population.plan import Plan
from scripts.population.settings import Values, campaign_of, settings_of
from scripts.search.problem import Problem
from scripts.search.reading import problem_of
from scripts.search.simulation import simulate

if TYPE_CHECKING:
    from optuna import Trial

WHOLE = "whole"
"""The user attribute of trials that ran everywhere."""


class Instance(Protocol):
    """Something that a configuration runs on."""

    @property
    def name(self) -> str: ...

    def score(self, plan: Plan, values: Values, parent: str = "") -> float:
        """The mean over the evaluations of the best so far: on a table its share of the optimum,
        of a real campaign ln(speedup over the naive seed); of situations see on_roles.
        parent: the trial's run in MLflow.

        Raises ConfigError, and what a campaign raises.
        """


@cache
def problem(table: Path) -> Problem:
    """Read once in a process. Raises TableError."""
    return problem_of(table)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnTable:
    table: Path
    seed: int

    @property
    def name(self) -> str:
        return f"{problem(self.table).name}/{self.seed}"

    def score(self, plan: Plan, values: Values, parent: str = "") -> float:
        settings = settings_of(plan, values)
        kept = simulated(settings)
        with threadpool_limits(1):
            trace = simulate(
                problem(self.table), kept, evaluations=plan.evaluations, seed=self.seed
            )
        return fmean(trace.curve(plan.evaluations))


@dataclass(frozen=True, slots=True, kw_only=True)
class OnTask:
    """folder: of the trial's campaigns. run: how one is run."""

    task: str
    seed: int
    folder: Path
    run: Run = run_until_done

    @property
    def name(self) -> str:
        return f"{Path(self.task).name}-{self.seed}"

    def campaign(self, plan: Plan, values: Values, parent: str = "") -> Path:
        """The folder of the finished campaign."""
        tracking = {"uri": "none"}
        if parent:
            uri = tracking_uri(plan, self.folder.parent)
            tracking = {"uri": uri, "experiment": experiment_of(plan)}
        config = campaign_of(
            plan,
            values,
            evaluations=plan.evaluations,
            task=self.task,
            seed=self.seed,
            name=f"{self.folder.name}-{self.name}",
            runs_dir=str(self.folder),
            tracking=tracking,
        )
        done = finish(config, self.run)
        if parent:
            adopt(tracking["uri"], tracking["experiment"], config.name, parent)
        return done

    def score(self, plan: Plan, values: Values, parent: str = "") -> float:
        (found,) = read_folders([self.campaign(plan, values, parent)])
        return found.trajectory.log_area("evaluations", plan.evaluations)


def instances(
    plan: Plan, folder: Path, seeds: Sequence[int], run: Run = run_until_done
) -> list[Instance]:
    """What trials run on; real campaigns in that folder, and run so."""
    if plan.seen.tables:
        return [OnTable(table=table, seed=seed) for seed in seeds for table in plan.seen.tables]
    if files := plan.seen.situations:
        return [
            OnRole(role=role, files=files, seed=seed) for seed in seeds for role in roles_of(files)
        ]
    return [
        OnTask(task=task, seed=seed, folder=folder, run=run)
        for seed in seeds
        for task in plan.seen.tasks
    ]


def objective(plan: Plan, trial: "Trial", folder: Path, parent: str = "") -> float:
    """The mean score. Raises TrialPruned; a trial that the Wilcoxon test gives up has the mean of
    where it ran, as Optuna advises."""
    from optuna import TrialPruned

    values = trial.params
    asked = instances(plan, folder, range(plan.seen.seeds))
    order = np.random.default_rng((plan.seed, trial.number)).permutation(len(asked))
    scores: list[float] = []
    for turn, place in enumerate(order if plan.pruner == "wilcoxon" else range(len(asked))):
        scores.append(asked[place].score(plan, values, parent))
        if plan.pruner == "wilcoxon":
            trial.report(scores[-1], int(place))
        else:
            trial.report(fmean(scores), turn)
        if len(scores) < len(asked) and trial.should_prune():
            if plan.pruner == "wilcoxon":
                return fmean(scores)
            raise TrialPruned
    trial.set_user_attr(WHOLE, True)
    return fmean(scores)
