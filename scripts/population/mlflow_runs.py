"""A study in MLflow: its run, below it one for each trial, below these real campaigns' own."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from engine.config_errors import ConfigError
from engine.tracking.client import client_of
from engine.tracking.killed import CAMPAIGN_TAG, ISLAND_TAG, mark_killed
from evaluators.spelling import shortened
from scripts.population.plan import Plan
from scripts.population.settings import Values

if TYPE_CHECKING:
    from mlflow import MlflowClient

Made = TypeVar("Made")

STUDY_TAG = "kernel_scientist.study"
TRIAL_TAG = "kernel_scientist.trial"
PARENT_TAG = "mlflow.parentRunId"


def tracking_uri(plan: Plan, out: Path) -> str:
    """MLflow's, of a study in that folder."""
    if plan.tracking == "sqlite":
        return f"sqlite:///{out.resolve() / 'mlflow.db'}"
    return plan.tracking


def experiment_of(plan: Plan) -> str:
    """By name; the runs of its campaigns are there too, as MLflow nests none of another one."""
    return f"kernel-scientist/tune/{plan.name}"


def adopt(uri: str, experiment: str, campaign: str, parent: str) -> None:
    """Put a campaign's run below a trial's."""

    def look() -> None:
        client = client_of(uri)
        known = client.get_experiment_by_name(experiment)
        of_campaign = f"tags.`{ISLAND_TAG}` = 'all' and tags.`{CAMPAIGN_TAG}` LIKE '{campaign}/%'"
        for run in client.search_runs([known.experiment_id], of_campaign) if known else ():
            client.set_tag(run.info.run_id, PARENT_TAG, parent)

    _attempt(look)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRun:
    """id: empty where nothing is tracked."""

    id: str
    client: "MlflowClient | None"

    def score(self, value: float | None) -> None:
        client = self.client
        if client is not None and value is not None:
            _attempt(lambda: client.log_metric(self.id, "score", value))


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRuns:
    """client: None where nothing is tracked. What MLflow misses while trials run is told, and
    ends no trial."""

    client: "MlflowClient | None" = None
    experiment: str = ""
    study: str = ""

    @classmethod
    def of(cls, plan: Plan, out: Path) -> Self:
        """Found, or made. Raises ConfigError: MLflow can't be reached."""
        if plan.tracking == "none":
            return cls()
        try:
            return cls._found(plan, out)
        except _errors() as error:
            raise ConfigError(
                f"tracking: {plan.tracking} can't be used ({_first_line(error)}); start what "
                "serves it, name another address, or none"
            ) from None

    @classmethod
    def _found(cls, plan: Plan, out: Path) -> Self:
        client = client_of(tracking_uri(plan, out))
        name = experiment_of(plan)
        known = client.get_experiment_by_name(name)
        local = plan.tracking == "sqlite"
        artifacts = (out.resolve() / "mlartifacts").as_uri() if local else None
        experiment = (
            str(known.experiment_id)
            if known
            else str(client.create_experiment(name, artifact_location=artifacts))
        )
        identity = str(out.resolve())
        quoted = identity.replace("'", "''")
        runs = client.search_runs([experiment], f"tags.`{STUDY_TAG}` = '{quoted}'", max_results=1)
        run = (
            runs[0]
            if runs
            else client.create_run(experiment, run_name=plan.name, tags={STUDY_TAG: identity})
        )
        return cls(client=client, experiment=experiment, study=run.info.run_id)

    @contextmanager
    def sitting(self, out: Path) -> Iterator[None]:
        """The study's run goes on, runs that a kill left end, and so does it with the block."""
        self._begin(out)
        try:
            yield
        except BaseException as error:
            if (client := self.client) is not None:
                _attempt(lambda: self._end_left(client))  # Ctrl-C comes at any moment
            self._end(_ending(error))
            raise
        self._end("FINISHED")

    def _begin(self, out: Path) -> None:
        if (client := self.client) is None:
            return
        client.update_run(self.study, status="RUNNING")
        self._end_left(client)
        for folder in sorted(one for one in out.glob("trial-*") if one.is_dir()):
            mark_killed(client, folder)

    def _end_left(self, client: "MlflowClient") -> None:
        """Trials that nobody runs any more."""
        left = f"tags.`{PARENT_TAG}` = '{self.study}' and attributes.status = 'RUNNING'"
        for run in client.search_runs([self.experiment], left):
            client.set_terminated(run.info.run_id, "KILLED")

    def _end(self, status: str) -> None:
        if (client := self.client) is not None:
            _attempt(lambda: client.set_terminated(self.study, status))

    @contextmanager
    def trial(self, number: int, values: Values) -> Iterator[TrialRun]:
        """A run below the study's; it ends with the block, as failed where that raises."""
        client = self.client
        run = "" if client is None else _attempt(lambda: self._trial_run(number, values)) or ""
        if client is None or not run:
            yield TrialRun(id="", client=None)
            return
        try:
            yield TrialRun(id=run, client=client)
        except BaseException as error:
            status = _ending(error)
            _attempt(lambda: client.set_terminated(run, status))
            raise
        _attempt(lambda: client.set_terminated(run))

    def _trial_run(self, number: int, values: Values) -> str:
        assert self.client is not None
        run = self.client.create_run(
            self.experiment,
            run_name=f"trial {number}",
            tags={PARENT_TAG: self.study, TRIAL_TAG: str(number)},
            start_time=int(time.time() * 1000),
        )
        for key, value in values.items():
            self.client.log_param(run.info.run_id, key, value)
        return str(run.info.run_id)

    def show(self, files: "list[Path]") -> None:
        """Artifacts of the study's run."""
        client = self.client
        for file in files if client is not None else []:
            assert client is not None
            _attempt(partial(client.log_artifact, self.study, str(file)))


def _ending(error: BaseException) -> str:
    """MLflow's status of a run that it ends."""
    return "KILLED" if isinstance(error, KeyboardInterrupt) else "FAILED"


def _attempt(call: Callable[[], Made]) -> Made | None:
    """Trials go on without MLflow."""
    try:
        return call()
    except _errors() as error:
        print(
            f"MLflow could not be told ({_first_line(error)}); the study goes on", file=sys.stderr
        )
        return None


def _errors() -> tuple[type[Exception], ...]:
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    return MlflowException, SQLAlchemyError, OSError, ImportError  # of a database's driver


def _first_line(error: Exception) -> str:
    """Of its message; where a connection failed, that alone."""
    if isinstance(error.__context__, OSError) and not isinstance(error, OSError):
        return "it can't be reached"
    return shortened(str(error).strip().partition("\n")[0].rstrip(". "))
