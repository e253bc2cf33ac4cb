"""A study in MLflow: its run, below it one for each trial, below these real campaigns' own."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from engine.tracking.client import client_of
from engine.tracking.killed import CAMPAIGN_TAG, ISLAND_TAG
from scripts.population.plan import Plan
from scripts.population.settings import Values

if TYPE_CHECKING:
    from mlflow import MlflowClient

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
    """Put a campaign's run below a trial's. Raises what MLflow raises."""
    client = client_of(uri)
    known = client.get_experiment_by_name(experiment)
    of_campaign = f"tags.`{ISLAND_TAG}` = 'all' and tags.`{CAMPAIGN_TAG}` LIKE '{campaign}/%'"
    for run in client.search_runs([known.experiment_id], of_campaign) if known else ():
        client.set_tag(run.info.run_id, PARENT_TAG, parent)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRun:
    """id: empty where nothing is tracked."""

    id: str
    client: "MlflowClient | None"

    def score(self, value: float | None) -> None:
        if self.client is not None and value is not None:
            self.client.log_metric(self.id, "score", value)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRuns:
    """client: None where nothing is tracked."""

    client: "MlflowClient | None" = None
    experiment: str = ""
    study: str = ""

    @classmethod
    def of(cls, plan: Plan, out: Path) -> Self:
        """Found, or made. Raises OSError, and what MLflow raises."""
        if plan.tracking == "none":
            return cls()
        local = plan.tracking == "sqlite"
        client = client_of(tracking_uri(plan, out))
        name = experiment_of(plan)
        known = client.get_experiment_by_name(name)
        artifacts = (out.resolve() / "mlartifacts").as_uri() if local else None
        experiment = (
            str(known.experiment_id)
            if known
            else str(client.create_experiment(name, artifact_location=artifacts))
        )
        identity = str(out.resolve())
        runs = client.search_runs([experiment], f"tags.`{STUDY_TAG}` = '{identity}'", max_results=1)
        run = (
            runs[0]
            if runs
            else client.create_run(experiment, run_name=plan.name, tags={STUDY_TAG: identity})
        )
        return cls(client=client, experiment=experiment, study=run.info.run_id)

    @contextmanager
    def trial(self, number: int, values: Values) -> Iterator[TrialRun]:
        """A run below the study's; it ends with the block, as failed where that raises."""
        if self.client is None:
            yield TrialRun(id="", client=None)
            return
        run = self.client.create_run(
            self.experiment,
            run_name=f"trial {number}",
            tags={PARENT_TAG: self.study, TRIAL_TAG: str(number)},
            start_time=int(time.time() * 1000),
        )
        for key, value in values.items():
            self.client.log_param(run.info.run_id, key, value)
        try:
            yield TrialRun(id=run.info.run_id, client=self.client)
        except BaseException:
            self.client.set_terminated(run.info.run_id, "FAILED")
            raise
        self.client.set_terminated(run.info.run_id)

    def show(self, files: "list[Path]") -> None:
        """Artifacts of the study's run."""
        for file in files if self.client is not None else []:
            assert self.client is not None
            self.client.log_artifact(self.study, str(file))

    def end(self) -> None:
        if self.client is not None:
            self.client.set_terminated(self.study)
