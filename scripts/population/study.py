"""Study: trials of Optuna's, kept in a file of its own that any sitting goes on with."""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.config_errors import ConfigError
from scripts.population.contents import contents_of, require_unchanged
from scripts.population.cores import sets_of
from scripts.population.mlflow_runs import StudyRuns
from scripts.population.plan import Plan
from scripts.population.sampling import pruner_of, sampler_of
from scripts.population.settings import default_values, distributions
from scripts.population.sitting import JOURNAL
from scripts.population.trials import WHOLE, objective
from scripts.population.workers import in_processes

if TYPE_CHECKING:
    from optuna import Study
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial

PLAN, CONTENTS = "plan", "contents"
"""User attributes that hold what the study was begun with: its plan, and digests of what it runs
on."""

CORES = "cores"
"""The user attribute of a trial that holds the cores it ran on."""

FIXED = "fixed_params"
"""Optuna's attribute of a trial whose values were not drawn."""

BAD_RECORD = (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What Optuna raises at records of its file that are none of its own."""

MAY_CHANGE = {"trials", "workers", "cores", "unseen", "finalists", "tracking"}
"""Keys of a plan that a later sitting may have otherwise."""


def open_study(plan: Plan, out: Path, *, worker: int | None = None) -> "Study":
    """Begun, or gone on with; a worker's was begun. Raises ConfigError: the file is damaged, or
    holds a study of another plan, or of what has changed since."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    out.mkdir(parents=True, exist_ok=True)
    file = out / JOURNAL
    try:
        storage = _storage(file)
        names = [one.study_name for one in storage.get_all_studies()]
        _require_name(plan, names, file)
        study = optuna.create_study(
            study_name=plan.name,
            storage=storage,
            direction="maximize",
            pruner=pruner_of(plan),
            load_if_exists=True,
        )
    except BAD_RECORD as error:
        raise ConfigError(
            f"{file} is damaged ({type(error).__name__}: {error}); name another folder (--out)"
        ) from None
    # Not the draws of a sitting before.
    study.sampler = sampler_of(
        plan, 100_003 * (worker or 0) + len(study.get_trials(deepcopy=False))
    )
    if worker is None:
        _require_same(study, plan, file)
    return study


def _storage(file: Path) -> "BaseStorage":
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    from scripts.population.journal_lock import JournalLock

    return JournalStorage(JournalFileBackend(str(file), JournalLock(file)))


def _require_name(plan: Plan, names: list[str], file: Path) -> None:
    if names and plan.name not in names:
        raise ConfigError(
            f"{file} holds the study {names[0]}, and this plan's name is {plan.name}: give it its "
            "name back, or name another folder (--out)"
        )


def _require_same(study: "Study", plan: Plan, file: Path) -> None:
    """As it was begun; what that was is noted."""
    told = plan.model_dump(mode="json", exclude=MAY_CHANGE)
    if PLAN in study.user_attrs:
        before = json.loads(study.user_attrs[PLAN])
        if changed := sorted(key for key in told if before.get(key) != told[key]):
            raise ConfigError(
                f"{file} holds a study of another plan; name another folder (--out), or put back "
                f"{', '.join(changed)}: only {', '.join(sorted(MAY_CHANGE))} may change"
            )
    else:
        study.set_user_attr(PLAN, json.dumps(told, sort_keys=True))
    if CONTENTS in study.user_attrs:
        require_unchanged(plan, study.user_attrs[CONTENTS], file.parent)
    else:
        study.set_user_attr(CONTENTS, contents_of(plan.seen))


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
    _ask_for_default(study, plan)
    sets = sets_of(plan)
    if plan.workers == 1 and not sets:
        work(plan, out, 0)
    else:
        in_processes(plan, out, sets, work)
    return study


def work(plan: Plan, out: Path, worker: int) -> None:
    """One trial after another, beside other workers'."""
    from optuna import TrialPruned
    from optuna.trial import TrialState

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


def _ask_for_default(study: "Study", plan: Plan) -> None:
    """To be the first trial, and again where a kill or Ctrl-C met it."""
    from optuna.trial import TrialState

    there = (TrialState.WAITING, TrialState.COMPLETE, TrialState.PRUNED)
    asked: list[Any] = [one.system_attrs for one in study.get_trials(states=there)]
    if not any(FIXED in one for one in asked):
        study.enqueue_trial(default_values(plan))
