"""A campaign's state as a file among the logs of its Ray node, where the cluster's dashboard shows
it to whoever may ask: what `kernel-scientist jobs` lists."""

import hashlib
import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import ray
from pydantic import TypeAdapter

from engine.actors.passed_on import names_passed
from engine.actors.ray_address import address_of
from engine.config import CampaignConfig
from engine.snapshot import Snapshot
from engine.store.budget import Left
from engine.store.scoreboard import Best

PATTERN = "kernel-scientist-*.json"
WRITE_EVERY_S = 2.0

JOB_CONFIG = "RAY_JOB_CONFIG_JSON_ENV_VAR"
"""What Ray tells a submitted job of itself, in JSON."""

State = Literal["starting", "running", "paused", "stopping", "ended", "failed", "interrupted"]
OVER = ("ended", "failed", "interrupted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """host: of the driver; job_id: Ray's for it, submission_id: of a submitted job, else "".

    written_at, began_at: seconds since 1970, of the driver's clock. environment: names of
    variables that the campaign was given, or reads its keys from.
    """

    campaign: str
    folder: str
    task: str
    backend: str
    host: str
    pid: int
    job_id: str
    submission_id: str = ""
    state: State = "starting"
    doing: str = ""
    why: str = ""  # it failed
    best: Best | None = None
    evaluations: int = 0
    left: Left = field(default_factory=Left)
    began_at: float = 0.0
    written_at: float = 0.0
    environment: Sequence[str] = ()

    @property
    def over(self) -> bool:
        """Whether the driver has said its last word."""
        return self.state in OVER


_STATUS: TypeAdapter[Status] = TypeAdapter(Status)


def parse_status(text: str) -> Status:
    """Raises ValueError: it is none, or of another version."""
    return _STATUS.validate_json(text)


@contextmanager
def status_file(config: CampaignConfig) -> Iterator[Callable[[Snapshot], None] | None]:
    """An observer that writes it while the context lasts, and how it ended afterwards.

    None where the campaign joined no cluster: nobody could ask.
    """
    if not ray.is_initialized() or not address_of(config, os.environ)[1]:
        yield None
        return
    writer = _Writer(_logs(), _of(config))
    try:
        yield writer
    except BaseException as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        writer.end("interrupted" if interrupted else "failed", "" if interrupted else str(error))
        raise
    writer.end("ended")


class _Writer:
    """What can't be written costs the campaign nothing."""

    def __init__(
        self, logs: Path, status: Status, clock: Callable[[], float] = time.monotonic
    ) -> None:
        folder = hashlib.sha256(status.folder.encode()).hexdigest()[:8]
        self._path = logs / f"kernel-scientist-{status.campaign}-{folder}.json"
        self._status, self._clock, self._written_at = status, clock, -WRITE_EVERY_S

    def __call__(self, snapshot: Snapshot) -> None:
        """At most once in WRITE_EVERY_S, and whenever the state changes."""
        told = told_of(self._status, snapshot)
        soon = self._clock() - self._written_at < WRITE_EVERY_S
        if soon and (told.state, told.doing) == (self._status.state, self._status.doing):
            return
        self._status = told
        self._write()

    def end(self, state: State, why: str = "") -> None:
        self._status = replace(self._status, state=state, doing="", why=why)
        self._write()

    def _write(self) -> None:
        self._written_at = self._clock()
        self._status = replace(self._status, written_at=time.time())
        partial = self._path.with_name(f".{self._path.name}.partial")
        with suppress(OSError):
            partial.write_bytes(_STATUS.dump_json(self._status))
            partial.rename(self._path)


def told_of(status: Status, snapshot: Snapshot) -> Status:
    """The same campaign as its snapshot shows it."""
    paused = snapshot.paused_since is not None and snapshot.phase == "running"
    state: State = "stopping" if snapshot.phase == "finished" else snapshot.phase
    known = snapshot.phase != "starting"
    return replace(
        status,
        state="paused" if paused else state,
        doing=snapshot.doing,
        best=snapshot.dispatcher.best if known else status.best,
        evaluations=snapshot.evaluations if known else status.evaluations,
        left=snapshot.left,
    )


def _logs() -> Path:
    """Of this node's Ray session."""
    node = ray._private.worker.global_worker.node
    assert node is not None
    return Path(node.get_logs_dir_path())


def _of(config: CampaignConfig) -> Status:
    return Status(
        campaign=config.name,
        folder=str(config.runs_dir / config.name),
        task=Path(config.task).name,
        backend=config.backend,
        host=socket.gethostname(),
        pid=os.getpid(),
        job_id=ray.get_runtime_context().get_job_id(),
        submission_id=_submission_id(os.environ),
        began_at=time.time(),
        environment=names_passed(config, os.environ),
    )


def _submission_id(environment: Mapping[str, str]) -> str:
    told = json.loads(environment.get(JOB_CONFIG) or "{}")
    return str(told.get("metadata", {}).get("job_submission_id", ""))
