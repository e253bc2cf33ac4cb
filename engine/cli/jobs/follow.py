"""A job's output on this terminal, and how the job ended."""

import sys
import time
from typing import IO

from engine.cli.jobs.campaigns import Campaign, campaigns_of, find
from engine.cli.jobs.cluster import OVER, Cluster
from engine.cli.usage import FAILED, INTERRUPTED, OK, UsageError
from engine.commands import command

LOOK_EVERY_S = 1.0


def typed(*words: str, address: str | None) -> str:
    """A command of ours. address: as it was given; None: where the environment names it."""
    place = ("--address", address) if address else ()
    return command("kernel-scientist", *words, *place)


def show_log(
    cluster: Cluster, name: str, stream: IO[str], *, follow: bool, address: str | None
) -> int:
    """Print a campaign's output so far, or until it ends; returns the exit code."""
    one = find(campaigns_of(cluster), name, cluster.address)
    job = submitted(one)
    if not follow:
        print(cluster.log(job), end="", file=stream)
        return OK
    return follow_to_end(cluster, job, one.name, stream, address)


def submitted(one: Campaign) -> str:
    """The id of its job. Raises UsageError."""
    if one.job is None or not one.job.submitted:
        raise UsageError(
            f"{one.name} was not sent as a job, so the cluster keeps no output of it: look at the "
            f"terminal where it was started, or use 'kernel-scientist watch' at {one.place}"
        )
    return one.job.id


def follow_to_end(
    cluster: Cluster,
    job: str,
    name: str,
    stream: IO[str],
    address: str | None,
    *,
    shown: int = 0,
) -> int:
    """Returns 0 when it succeeded. shown: characters of its output that were seen before."""
    tail = _Tail(stream, shown)
    try:
        cluster.follow(job, tail)
        state = wait_for_end(cluster, job)
    except KeyboardInterrupt:
        print(
            f"kernel-scientist: no longer following; {name} goes on. End it with "
            f"'{typed('stop', name, address=address)}'",
            file=sys.stderr,
        )
        return INTERRUPTED
    print(f"job {job}: {state.lower()}", file=stream)
    return OK if state == "SUCCEEDED" else FAILED


def wait_for_end(cluster: Cluster, job: str) -> str:
    """Ray's word for how it ended."""
    while (state := cluster.state(job)) not in OVER:
        time.sleep(LOOK_EVERY_S)
    return state


class _Tail:
    """Writes what was not shown."""

    def __init__(self, stream: IO[str], shown: int) -> None:
        self._stream, self._skip = stream, shown

    def __call__(self, text: str) -> None:
        self._stream.write(text[self._skip :])
        self._stream.flush()
        self._skip = max(0, self._skip - len(text))
