"""Campaigns of a cluster: what each last told of itself, beside what Ray knows of its driver."""

import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.actors.status_file import Status
from engine.cli.jobs.cluster import Cluster, Job
from engine.cli.jobs.inside import RESUME
from engine.cli.jobs.plan import SCRIPT
from engine.cli.usage import UsageError
from evaluators.spelling import did_you_mean

State = Literal[
    "pending", "starting", "running", "paused", "stopping",
    "ended", "failed", "interrupted", "killed", "stopped",
]  # fmt: skip
"""pending: Ray has not begun it; interrupted: ended at once, by a signal; stopped: a job that was
ended before its campaign told anything of itself."""

ALIVE = ("pending", "starting", "running", "paused", "stopping")

SILENT_S = 60.0
"""A driver writes every two seconds, but not while it waits for something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """folder: on host, "" where nobody told it. job: the latest; None where Ray forgot it, too.

    status: what it last told of itself, of an earlier job where this one has told nothing yet.
    """

    name: str
    folder: str
    state: State
    job: Job | None
    node: str  # the id of the driver's, "" where it is not known
    status: Status | None = None
    why: str = ""  # it failed, or what is odd about it

    @property
    def alive(self) -> bool:
        return self.state in ALIVE

    @property
    def place(self) -> str:
        """ "node3:/data/runs/softmax": for people."""
        return f"{self.status.host}:{self.folder}" if self.status else self.folder

    @property
    def began_at(self) -> float:
        told = self.status.began_at if self.status else 0.0
        return max(told, self.job.started_at if self.job else 0.0)


def campaigns_of(cluster: Cluster) -> list[Campaign]:
    """The latest first. Raises UsageError."""
    return combined(cluster.jobs(), list(cluster.statuses()), time.time())


def combined(
    jobs: Sequence[Job], statuses: Sequence[tuple[str, Status]], now: float
) -> list[Campaign]:
    """One for each folder, the latest first. statuses: with the ids of their nodes."""
    told = list(_told(jobs, statuses, now))
    named = {(one.folder, one.job and one.job.id) for one in told}
    folders = {folder for folder, _ in named}
    known = {job for _, job in named}
    alone: dict[str, Campaign] = {}
    for job in sorted(jobs, key=lambda job: job.started_at):
        folder = folder_of(job)
        if _is_ours(job) and job.id not in known and folder not in folders:
            alone[folder or job.id] = _untold(job, folder)
    return sorted((*told, *alone.values()), key=lambda one: one.began_at, reverse=True)


def _told(
    jobs: Sequence[Job], statuses: Sequence[tuple[str, Status]], now: float
) -> Iterator[Campaign]:
    for node, status in statuses:
        own = next((job for job in jobs if _is_of(job, status)), None)
        later = [job for job in jobs if folder_of(job) == status.folder and job.submitted]
        latest = max(later, key=lambda job: job.started_at, default=None)
        driven = own is not None and own.alive and not status.over
        if latest is not None and not driven and latest.started_at > status.began_at:
            state, why = _of_job(latest)
            yield _of(status, latest, latest.node or node, state, why)
        else:
            state, why = _of_status(status, own, now)
            yield _of(status, own, node, state, why)


def _of(status: Status, job: Job | None, node: str, state: State, why: str) -> Campaign:
    return Campaign(
        name=status.campaign,
        folder=status.folder,
        state=state,
        job=job,
        node=node,
        status=status,
        why=why,
    )


def _untold(job: Job, folder: str) -> Campaign:
    state, why = _of_job(job)
    name = Path(folder).name if folder else job.id
    return Campaign(name=name, folder=folder, state=state, job=job, node=job.node, why=why)


def _of_status(status: Status, job: Job | None, now: float) -> tuple[State, str]:
    if status.over:
        return status.state, status.why
    if job is None or not job.alive:
        return "killed", ""
    silent_s = now - status.written_at
    return status.state, f"no word for {silent_s:.0f} s" if silent_s > SILENT_S else ""


def _of_job(job: Job) -> tuple[State, str]:
    """Of one whose campaign has told nothing of itself."""
    match job.state:
        case "PENDING":
            return "pending", ""
        case "RUNNING":
            return "starting", ""
        case "SUCCEEDED":
            return "ended", ""
        case "STOPPED":
            return "stopped", ""
        case _:
            lines = [line for line in job.message.splitlines() if line.strip()]
            return "failed", lines[-1].removeprefix("kernel-scientist: ") if lines else ""


def _is_of(job: Job, status: Status) -> bool:
    if status.submission_id:
        return job.submitted and job.id == status.submission_id
    return not job.submitted and job.job_id == status.job_id


def _is_ours(job: Job) -> bool:
    return job.submitted and str(SCRIPT) in job.entrypoint


def folder_of(job: Job) -> str:
    """Of the campaign, as the job's command line names it; "" where it leaves it open."""
    try:
        words = shlex.split(job.entrypoint)
    except ValueError:
        return ""
    if str(SCRIPT) not in words:
        return ""
    words = words[words.index(str(SCRIPT)) + 1 :]
    if RESUME in words[:-1]:
        return words[words.index(RESUME) + 1]
    said = dict(word.split("=", 1) for word in words if "=" in word)
    name, runs_dir = (said.get(key, "").strip('"') for key in ("name", "runs_dir"))
    return str(Path(runs_dir) / name) if name and runs_dir else ""


def find(campaigns: Sequence[Campaign], name: str, address: str) -> Campaign:
    """By name, job or folder; of several with that name the latest. Raises UsageError."""
    for one in campaigns:
        if name.rstrip("/") in (one.name, one.folder, one.job and one.job.id):
            return one
    if not campaigns:
        raise UsageError(f"the Ray cluster at {address} has no campaign; 'submit' sends one")
    names = [one.name for one in campaigns]
    raise UsageError(
        f"the Ray cluster at {address} has no campaign or job {name!r}{did_you_mean(name, names)}; "
        "'kernel-scientist jobs' lists them"
    )
