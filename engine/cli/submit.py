"""A campaign as a job on a Ray cluster: `ray job submit`, with paths that hold inside a job."""

import asyncio
import json
import logging
import os
import re
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from engine.config import CampaignConfig
from engine.config_file import load_config
from engine.searching import require_search
from evaluators.kernel.fit import check_seeds
from evaluators.tasks.reference import check_reference
from evaluators.tasks.task_file import load_task

if TYPE_CHECKING:
    from ray.job_submission import JobSubmissionClient

SCRIPT = Path("scripts") / "run_campaign.py"
DEFAULT_ADDRESS = "http://127.0.0.1:8265"
LOOK_EVERY_S = 1.0

EXCLUDES = (
    ".*/",
    "__pycache__/",
    "*.egg-info/",
    "build/",
    "dist/",
    "runs/",
    "mlruns/",
    "mlartifacts/",
    "*.db",
    "*.sqlite*",
)
"""Of the current folder, what no job needs; Ray uploads the rest, and refuses beyond 500 MiB."""


NO_PATHS = ("none", "sqlite", "databricks")
"""Tracking URIs without a scheme that are no paths."""


class SubmitError(Exception):
    """A job that can't be submitted. One sentence: what, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is submitted. entrypoint: a command line, run in a copy of the folder."""

    entrypoint: str
    folder: Path
    run_dir: Path


def submit(
    config: Path,
    overrides: list[str],
    *,
    address: str | None,
    wait: bool,
    stream: IO[str] = sys.stdout,
) -> int:
    """Submit, and follow the job's output to its end; 0 when it succeeded, or is left running.

    address: of the cluster's dashboard. Raises ConfigError, TaskError, SubmitError.
    """
    address = address or os.environ.get("RAY_API_SERVER_ADDRESS") or DEFAULT_ADDRESS
    job = plan(config, overrides, Path.cwd(), elsewhere=not _is_local(address))
    client = _connect(address)
    job_id = client.submit_job(
        entrypoint=job.entrypoint,
        runtime_env={"working_dir": str(job.folder), "excludes": list(EXCLUDES)},
    )
    print(f"submitted {job_id} to {address}; its folder will be {job.run_dir}", file=stream)
    if not _is_local(address):
        print("that folder is on the node where the job's driver runs", file=stream)
    if not wait:
        follow = shlex.join(["ray", "job", "logs", "--follow", "--address", address, job_id])
        print(f"follow it with: {follow}", file=stream)
        return 0
    return _follow(client, job_id, stream)


def plan(config: Path, overrides: Sequence[str], folder: Path, *, elsewhere: bool = False) -> Job:
    """The job for a configuration below folder, a checkout.

    elsewhere: it runs on another machine, whose absolute paths can't be looked at from here.
    Raises ConfigError, TaskError, SubmitError.
    """
    if not (folder / SCRIPT).is_file():
        raise SubmitError(
            f"{folder} has no {SCRIPT}: submit from a checkout's top folder; the job gets a copy"
        )
    inside = Path(os.path.relpath(folder / config, folder))
    if inside.is_absolute() or inside.parts[0] == "..":
        raise SubmitError(
            f"{config} is not below {folder}, so a job would not have it; copy it there"
        )
    settings = load_config(folder / inside, overrides)
    if not (elsewhere and Path(settings.task).is_absolute()):
        _check_task(settings, folder)
    values = _explicit(settings, folder)
    others = [text for text in overrides if re.split("[.=]", text)[0] not in values]
    words = ["python", str(SCRIPT), str(inside), *others]
    words += [f"{key}={json.dumps(value)}" for key, value in values.items()]
    run_dir = Path(str(values["runs_dir"])) / str(values["name"])
    return Job(entrypoint=shlex.join(words), folder=folder, run_dir=run_dir)


def _check_task(settings: CampaignConfig, folder: Path) -> None:
    """What a campaign would refuse at its start is refused here, before anything is sent."""
    place = folder / settings.task
    own = (place / "task.yaml").is_file()
    carried = place.resolve().is_relative_to(folder.resolve())
    if own and not carried and not Path(settings.task).is_absolute():
        raise SubmitError(
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


def _absolute(uri: str, folder: Path) -> str:
    """An MLflow URI whose file, if it names one, holds from any folder."""
    scheme, separator, place = uri.partition(":///")
    if scheme == "sqlite" and separator:
        return f"sqlite:///{(folder / place).resolve()}"
    if ":" not in uri and uri not in NO_PATHS:
        return str((folder / uri).resolve())
    return uri


def _connect(address: str) -> "JobSubmissionClient":
    """The token, where the cluster asks for one, is read by Ray from RAY_AUTH_TOKEN."""
    from ray.exceptions import AuthenticationError
    from ray.job_submission import JobSubmissionClient

    logging.getLogger("ray").setLevel(logging.ERROR)  # every file that is left out, by name
    try:
        return JobSubmissionClient(address)
    except AuthenticationError:
        raise SubmitError(
            f"the Ray cluster at {address} refuses the token, or asks for one: set "
            "RAY_AUTH_MODE=token and RAY_AUTH_TOKEN to the head's"
        ) from None
    except (ConnectionError, RuntimeError) as error:
        said = str(error).splitlines()[0]
        raise SubmitError(
            f"no Ray cluster's dashboard answers at {address} ({said}); start a head with "
            "'ray start --head', or name another one by --address"
        ) from None


def _follow(client: "JobSubmissionClient", job_id: str, stream: IO[str]) -> int:
    from ray.job_submission import JobStatus

    async def tail() -> None:
        async for text in client.tail_job_logs(job_id):
            stream.write(text)
            stream.flush()

    asyncio.run(tail())
    status = client.get_job_status(job_id)
    while not status.is_terminal():
        time.sleep(LOOK_EVERY_S)
        status = client.get_job_status(job_id)
    print(f"job {job_id}: {status.lower()}", file=stream)
    return 0 if status == JobStatus.SUCCEEDED else 1


def is_temporary_copy(folder: Path) -> bool:
    """Whether a job runs here: in the copy of its code that Ray unpacked for it, and deletes."""
    return "runtime_resources" in folder.parts


def _is_local(address: str) -> bool:
    return urlsplit(address).hostname in ("127.0.0.1", "localhost", "::1")
