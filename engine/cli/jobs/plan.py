"""What is submitted: a command line of a campaign, with paths that hold inside a job."""

import json
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.cli.jobs.checks import check_budgets
from engine.cli.jobs.inside import RESUME
from engine.cli.usage import UsageError
from engine.config import CampaignConfig
from engine.config_file import load_config
from engine.searching import require_search
from evaluators.kernel.fit import check_seeds
from evaluators.tasks.reference import check_reference
from evaluators.tasks.task_file import load_task

SCRIPT = Path("scripts") / "run_campaign.py"

NO_PATHS = ("none", "sqlite", "databricks")
"""Tracking URIs without a scheme that are no paths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """arguments: of the script, run in a copy of the folder. config: None where the campaign's
    store can't be read from here."""

    arguments: Sequence[str]
    folder: Path
    run_dir: Path
    config: CampaignConfig | None

    def entrypoint(self, passed: Sequence[str] = ()) -> str:
        """The job's command line. passed: words by which it finds variables."""
        return shlex.join(["python", str(SCRIPT), *passed, *self.arguments])


def plan(config: Path, overrides: Sequence[str], folder: Path, *, elsewhere: bool = False) -> Plan:
    """The job for a configuration below folder, a checkout.

    elsewhere: it runs on another machine, whose absolute paths can't be looked at from here.
    Raises ConfigError, TaskError, UsageError.
    """
    require_checkout(folder)
    inside = Path(os.path.relpath(folder / config, folder))
    if inside.is_absolute() or inside.parts[0] == "..":
        raise UsageError(
            f"{config} is not below {folder}, so a job would not have it; copy it there"
        )
    settings = load_config(folder / inside, overrides)
    check_budgets(settings)
    if not (elsewhere and Path(settings.task).is_absolute()):
        _check_task(settings, folder)
    values = _explicit(settings, folder)
    if not elsewhere:
        values |= _sections(settings, folder)
    others = [text for text in overrides if re.split("[.=]", text)[0] not in values]
    words = [str(inside), *others]
    words += [f"{key}={json.dumps(value)}" for key, value in values.items()]
    run_dir = Path(str(values["runs_dir"])) / str(values["name"])
    return Plan(arguments=words, folder=folder, run_dir=run_dir, config=settings)


def plan_resumption(
    run_dir: str, changes: Sequence[str], folder: Path, config: CampaignConfig | None
) -> Plan:
    """run_dir: on the driver's node. Raises UsageError."""
    require_checkout(folder)
    words = [RESUME, run_dir, *changes]
    return Plan(arguments=words, folder=folder, run_dir=Path(run_dir), config=config)


def require_checkout(folder: Path) -> None:
    """Raises UsageError."""
    if not (folder / SCRIPT).is_file():
        raise UsageError(
            f"{folder} has no {SCRIPT}: submit from a checkout's top folder; the job gets a copy"
        )


def _check_task(settings: CampaignConfig, folder: Path) -> None:
    """What a campaign would refuse at its start is refused here, before anything is sent."""
    place = folder / settings.task
    own = (place / "task.yaml").is_file()
    carried = place.resolve().is_relative_to(folder.resolve())
    if own and not carried and not Path(settings.task).is_absolute():
        raise UsageError(
            f"task {settings.task} is not below {folder}, so a job would not have it; copy it there"
        )
    task = load_task(place if own else settings.task)
    check_reference(task, settings.backend)
    check_seeds(task, settings.backend)
    require_search(settings, task)


def _explicit(settings: CampaignConfig, folder: Path) -> dict[str, Any]:
    """What must not depend on the folder that a job happens to run in."""
    task = Path(settings.task).name or "campaign"
    return {
        "name": settings.name or f"{task}-{datetime.now():%Y%m%d-%H%M%S}",
        "runs_dir": str((folder / settings.runs_dir).resolve()),
        "tracking": {
            "uri": _absolute(settings.tracking.uri, folder),
            "experiment": settings.tracking.experiment,
        },
        **_start(settings, folder),
    }


def _start(settings: CampaignConfig, folder: Path) -> dict[str, Any]:
    """Where the campaign is that this one begins with."""
    start = settings.start_from
    return {} if start is None else {"start_from": str((folder / start).resolve())}


def _sections(settings: CampaignConfig, folder: Path) -> dict[str, Any]:
    """Those that name further places of this machine."""
    sections: dict[str, Any] = {}
    if settings.snapshots.folder is not None:
        place = str((folder / settings.snapshots.folder).resolve())
        sections["snapshots"] = {**settings.snapshots.model_dump(mode="json"), "folder": place}
    if settings.findings.sources:
        places = [str((folder / source).resolve()) for source in settings.findings.sources]
        sections["findings"] = {**settings.findings.model_dump(mode="json"), "sources": places}
    return sections


def _absolute(uri: str, folder: Path) -> str:
    """An MLflow URI whose file, if it names one, holds from any folder."""
    scheme, separator, place = uri.partition(":///")
    if scheme == "sqlite" and separator:
        return f"sqlite:///{(folder / place).resolve()}"
    if ":" not in uri and uri not in NO_PATHS:
        return str((folder / uri).resolve())
    return uri


def is_temporary_copy(folder: Path) -> bool:
    """Whether a job runs here: in the copy of its code that Ray unpacked for it, and deletes."""
    return "runtime_resources" in folder.parts
