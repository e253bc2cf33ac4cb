"""Study: trials of Optuna's, kept in a file of its own that any sitting goes on with."""

import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from engine.config_errors import ConfigError
from engine.ending import CampaignFailed
from scripts.population.cores import sets_of, settle
from scripts.population.mlflow_runs import StudyRuns
from scripts.population.plan import Plan
from scripts.population.settings import default_values, distributions
from scripts.population.trials import WHOLE, objective

if TYPE_CHECKING:
    from optuna import Study
    from optuna.pruners import BasePruner
    from optuna.samplers import BaseSampler
    from optuna.trial import FrozenTrial

JOURNAL = "study.log"
PLAN = "plan"
"""The user attribute that holds what the study was begun with."""

CORES = "cores"
"""The user attribute of a trial that holds the cores it ran on."""

MAY_CHANGE = {"trials", "workers", "cores", "unseen", "finalists", "tracking"}
"""Keys of a plan that a later sitting may have otherwise."""


def open_study(plan: Plan, out: Path, *, worker: int = 0) -> "Study":
    """Begun, or gone on with. Raises ConfigError where it was begun with another plan."""
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    out.mkdir(parents=True, exist_ok=True)
    file = out / JOURNAL
    study = optuna.create_study(
        study_name=plan.name,
        storage=JournalStorage(JournalFileBackend(str(file))),
        direction="maximize",
        pruner=_pruner(plan),
        load_if_exists=True,
    )
    # Not the draws of a sitting before.
    study.sampler = _sampler(plan, 100_003 * worker + len(study.get_trials(deepcopy=False)))
    told = json.dumps(plan.model_dump(mode="json", exclude=MAY_CHANGE), sort_keys=True)
    if PLAN not in study.user_attrs:
        study.set_user_attr(PLAN, told)
        study.enqueue_trial(default_values(plan))
    elif study.user_attrs[PLAN] != told:
        raise ConfigError(
            f"{file} holds a study of another plan; name another folder (--out), or change only "
            f"{', '.join(sorted(MAY_CHANGE))}"
        )
    return study


def finished(study: "Study") -> "list[FrozenTrial]":
    """Those that count: they ran everywhere, or were given up."""
    from optuna.trial import TrialState

    return study.get_trials(states=(TrialState.COMPLETE, TrialState.PRUNED))


def whole(study: "Study") -> "list[FrozenTrial]":
    """Those that ran everywhere, best first."""
    ran = [one for one in finished(study) if one.user_attrs.get(WHOLE)]
    return sorted(ran, key=lambda one: (-(one.value or 0.0), one.number))


def run_trials(plan: Plan, out: Path) -> "Study":
    """Until the study has as many as the plan says.

    Raises ConfigError, CampaignFailed, and what else a campaign raises.
    """
    study = open_study(plan, out)
    _forget_killed(study)
    runs = StudyRuns.of(plan, out)
    sets = sets_of(plan)
    if plan.workers == 1 and not sets:
        _work(plan, out, 0)
    else:
        with ProcessPoolExecutor(plan.workers, get_context("spawn")) as pool:
            ran = [
                pool.submit(_work, plan, out, number, sets[number] if sets else None)
                for number in range(plan.workers)
            ]
            wait(ran)
            for one in ran:
                one.result()
    runs.end()
    return study


def _work(plan: Plan, out: Path, worker: int, cores: frozenset[int] | None = None) -> None:
    """One trial after another, beside other workers'; on those cores, in a process of its own."""
    from optuna import TrialPruned
    from optuna.trial import TrialState

    settle(cores)
    study = open_study(plan, out, worker=worker)
    runs = StudyRuns.of(plan, out)
    while _begun(study) < plan.trials:
        trial = study.ask(distributions(plan))
        trial.set_user_attr(CORES, sorted(os.sched_getaffinity(0)))
        began = time.monotonic()
        with _failing(study, trial.number), runs.trial(trial.number, trial.params) as run:
            try:
                value = objective(plan, trial, out / f"trial-{trial.number}", run.id)
            except (TrialPruned, ConfigError) as reason:
                # Values that each can be used need not go together.
                study.set_user_attr(f"trial {trial.number}", str(reason))
                study.tell(trial, state=TrialState.PRUNED)
                run.score(None)
            else:
                study.tell(trial, value)
                run.score(value)
        _tell(study, trial.number, plan.trials, time.monotonic() - began)


def _begun(study: "Study") -> int:
    """Failed ones are tried anew."""
    from optuna.trial import TrialState

    counted = (TrialState.RUNNING, TrialState.COMPLETE, TrialState.PRUNED)
    return len(study.get_trials(deepcopy=False, states=counted))


def _tell(study: "Study", number: int, trials: int, seconds: float) -> None:
    one = study.get_trials(deepcopy=False)[number]
    best = whole(study)
    refused = study.user_attrs.get(f"trial {number}")
    told = (refused or "given up") if one.value is None else f"{one.value:.4f}"
    told += "" if one.user_attrs.get(WHOLE) or one.value is None else " (given up)"
    leading = f"best {best[0].value:.4f} (trial {best[0].number})" if best else "no best yet"
    count = len(finished(study))
    print(
        f"trial {number}: {told} in {seconds:.0f} s; {leading}; {count} of {trials}",
        file=sys.stderr,
        flush=True,
    )


@contextmanager
def _failing(study: "Study", number: int) -> Iterator[None]:
    """What ends this process ends its trial, so that another sitting makes up for it."""
    from optuna.trial import TrialState

    try:
        yield
    except BaseException:
        study.tell(number, state=TrialState.FAIL, skip_if_finished=True)
        raise


def _forget_killed(study: "Study") -> None:
    """Trials that a kill left: nobody runs them, as a study has one sitting at a time."""
    from optuna.trial import TrialState

    for one in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        study.tell(one.number, state=TrialState.FAIL)
        if one.number == 0:
            study.enqueue_trial(one.params)


def _sampler(plan: Plan, offset: int) -> "BaseSampler":
    """Raises CampaignFailed where a library of its own is missing."""
    from optuna import samplers

    seed = plan.seed + offset
    try:
        match plan.sampler:
            case "random":
                return samplers.RandomSampler(seed=seed)
            case "gp":
                return samplers.GPSampler(seed=seed, n_startup_trials=plan.startup)
            case "cmaes":
                return samplers.CmaEsSampler(seed=seed, n_startup_trials=plan.startup)
            case _:
                return samplers.TPESampler(
                    seed=seed, n_startup_trials=plan.startup, multivariate=True
                )
    except ImportError as error:
        missing = error.name or "a library"
        raise CampaignFailed(
            f"sampler {plan.sampler} needs {missing}: pip install {missing}, or choose tpe"
        ) from None


def _pruner(plan: Plan) -> "BasePruner":
    from optuna import pruners
    from optuna.exceptions import ExperimentalWarning

    match plan.pruner:
        case "wilcoxon":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ExperimentalWarning)
                return pruners.WilcoxonPruner(p_threshold=0.1)
        case "median":
            return pruners.MedianPruner(n_startup_trials=plan.startup)
        case _:
            return pruners.NopPruner()
