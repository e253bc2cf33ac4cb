"""A Ray cluster as its dashboard shows it: nodes, jobs, their output, files of campaigns."""

import asyncio
import logging
import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from engine.cli.usage import UsageError

if TYPE_CHECKING:
    from engine.actors.status_file import Status

DEFAULT_ADDRESS = "http://127.0.0.1:8265"

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

STOP_S = 1800
"""Ray kills a job that it stops so long after it asked; its own 3 s are too short for an end in
order: last contests, the measurement of the best, the report."""

ON_NODE = "ray.io/node-id"

LOUD = ("ray", "ray.dashboard.modules.dashboard_sdk", "ray.dashboard.modules.job.sdk")
"""Ray's loggers that would tell of each file that is left out, each upload and each connection."""

OVER = ("SUCCEEDED", "FAILED", "STOPPED")
"""Of Ray's words for a job's state, the last ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node that is alive. gpus: by Ray's count; accelerators: their kinds, as Ray names them."""

    id: str
    ip: str
    head: bool
    gpus: float
    accelerators: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A driver that Ray knows. id: for people and for Ray; job_id: Ray's own, "" before it began.

    submitted: else it joined by itself. state: Ray's word. started_at: seconds since 1970.
    """

    id: str
    job_id: str
    submitted: bool
    state: str
    entrypoint: str = ""
    message: str = ""
    started_at: float = 0.0
    pid: int | None = None
    ip: str = ""  # of the driver's node
    node: str = ""  # its id, where Ray tells it

    @property
    def alive(self) -> bool:
        return self.state not in OVER


def address_from(given: str | None) -> str:
    """The dashboard's: as given, else as the environment names it. Raises UsageError."""
    address = given or os.environ.get("RAY_API_SERVER_ADDRESS") or DEFAULT_ADDRESS
    if not re.match(r"https?://[^/]", address):
        raise UsageError(
            f"{address} is no address of a Ray cluster's dashboard: write it as in "
            f"{DEFAULT_ADDRESS}"
        )
    return address.rstrip("/")


def seems_local(address: str) -> bool:
    """A tunnel to another machine does, too; Cluster.here knows better."""
    return urlsplit(address).hostname in ("127.0.0.1", "localhost", "::1")


class Cluster:
    """Every method raises UsageError where the cluster answers no more."""

    def __init__(self, address: str) -> None:
        """Raises UsageError: nothing answers there, or it wants another token."""
        self.address = address
        self._client: Any = _connect(address)

    @property
    def here(self) -> bool:
        """Whether its head runs on this machine, so that paths and 127.0.0.1 are the same there."""
        return any(node.head and _is_mine(node.ip) for node in self.nodes())

    def nodes(self) -> list[Node]:
        with self._asking():
            told = self._get("/api/v0/nodes")["result"]
        return [_node(one) for one in told if one["state"] == "ALIVE"]

    def jobs(self) -> list[Job]:
        with self._asking():
            return list(map(_job, self._client.list_jobs()))

    def statuses(self) -> "Iterator[tuple[str, Status]]":
        """What campaigns of this cluster last told of themselves, each with its node's id."""
        from engine.actors.status_file import PATTERN, parse_status

        for node in self.nodes():
            with self._asking():
                listed = self._get("/api/v0/logs", node_id=node.id, glob=PATTERN)
            for name in (name for names in listed.values() for name in names):
                place = {"node_id": node.id, "filename": name, "lines": "-1"}
                with self._asking():
                    file = self._client._do_request("GET", "/api/v0/logs/file", params=place)
                try:
                    yield node.id, parse_status(file.text)
                except ValueError:
                    continue  # gone meanwhile, or of another version

    def submit(self, entrypoint: str, *, folder: Path | None = None, node: str = "") -> str:
        """Returns its id. folder: the code, of which the job gets a copy; node: where, else on the
        head's."""
        environment: dict[str, Any] = {"env_vars": {"RAY_JOB_STOP_WAIT_TIME_S": str(STOP_S)}}
        if folder is not None:
            environment |= {"working_dir": str(folder), "excludes": list(EXCLUDES)}
        with self._asking():
            return str(
                self._client.submit_job(
                    entrypoint=entrypoint,
                    runtime_env=environment,
                    entrypoint_label_selector={ON_NODE: node} if node else None,
                )
            )

    def put(self, name: str, content: bytes) -> None:
        """Into the cluster's memory, as Ray keeps packages of code."""
        with self._asking():
            protocol, _, rest = name.partition("://")
            path = f"/api/packages/{protocol}/{rest}"
            answer = self._client._do_request("PUT", path, data=content)
            if answer.status_code != 200:
                raise RuntimeError(f"it refuses a package: {answer.status_code}")

    def stop(self, job: str) -> None:
        """As `ray job stop` does: returns at once."""
        with self._asking():
            self._client.stop_job(job)

    def state(self, job: str) -> str:
        """Ray's word for it."""
        with self._asking():
            return str(self._client.get_job_status(job).value)

    def log(self, job: str) -> str:
        with self._asking():
            return str(self._client.get_job_logs(job))

    def follow(self, job: str, write: Callable[[str], None]) -> None:
        """Its output from the beginning, until it ends."""

        async def tail() -> None:
            async for text in self._client.tail_job_logs(job):
                write(text)

        with self._asking():
            asyncio.run(tail())

    def _get(self, path: str, **query: str) -> Any:
        """What Ray's state API answers; its Python functions ask the cluster's own port, which a
        client need not reach."""
        answer = self._client._do_request("GET", path, params=query)
        if answer.status_code != 200:
            raise RuntimeError(f"{path} answers {answer.status_code}")
        return answer.json()["data"]["result"]

    @contextmanager
    def _asking(self) -> Iterator[None]:
        from aiohttp import ClientError

        try:
            yield
        except BrokenPipeError:  # of who reads us
            raise
        except (OSError, RuntimeError, ClientError) as error:
            said = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise UsageError(
                f"the Ray cluster at {self.address} did not do as it was asked ({said}); look "
                "whether its head still runs, with 'ray status' there"
            ) from None


def _connect(address: str) -> Any:
    """The token, where the cluster asks for one, is read by Ray from RAY_AUTH_TOKEN."""
    from ray.exceptions import AuthenticationError
    from ray.job_submission import JobSubmissionClient

    for name in LOUD:
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        with _named(address):
            return JobSubmissionClient(address)
    except AuthenticationError:
        raise UsageError(
            f"the Ray cluster at {address} refuses the token, or asks for one: set "
            "RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to the head's (~/.ray/auth_token there)"
        ) from None
    except (ConnectionError, RuntimeError, ValueError) as error:
        said = str(error).splitlines()[0]
        raise UsageError(
            f"no Ray cluster's dashboard answers at {address} ({said}); start a head with "
            "'ray start --head', or name another one by --address"
        ) from None


@contextmanager
def _named(address: str) -> Iterator[None]:
    """Ray prefers what these variables say to what it is given."""
    name = "RAY_API_SERVER_ADDRESS"
    before = os.environ.get(name)
    os.environ[name] = address
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _node(told: Mapping[str, Any]) -> Node:
    resources: Mapping[str, float] = told["resources_total"] or {}
    kind = "accelerator_type:"
    return Node(
        id=told["node_id"],
        ip=told["node_ip"],
        head=bool(told["is_head_node"]),
        gpus=resources.get("GPU", 0.0),
        accelerators=frozenset(
            name.removeprefix(kind) for name in resources if name.startswith(kind)
        ),
    )


def _job(told: Any) -> Job:
    driver = told.driver_info
    return Job(
        id=told.submission_id or told.job_id,
        job_id=told.job_id or "",
        submitted=told.submission_id is not None,
        state=told.status.value,
        entrypoint=told.entrypoint or "",
        message=told.message or "",
        started_at=(told.start_time or 0) / 1000,
        pid=int(driver.pid) if driver is not None else None,
        ip=driver.node_ip_address if driver is not None else "",
        node=told.driver_node_id or "",
    )


def _is_mine(ip: str) -> bool:
    """Only an address of this machine can be bound to."""
    try:
        family = socket.getaddrinfo(ip, None)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind((ip, 0))
    except OSError:
        return False
    return True
