"""Ending a campaign of a cluster: in order, with result and report, or at once."""

import sys
import time
from typing import IO

from engine.cli.jobs.campaigns import Campaign, campaigns_of, find
from engine.cli.jobs.cluster import Cluster, Job
from engine.cli.jobs.follow import follow_to_end, typed, wait_for_end
from engine.cli.usage import FAILED, INTERRUPTED, OK, UsageError

LOOK_EVERY_S = 1.0
NOW_S = 30
"""A campaign that was told twice is given so long, and is killed then."""

OURS = "run_campaign|kernel-scientist"
"""One of these stands in the command line of a campaign's driver."""


def stop(cluster: Cluster, name: str, stream: IO[str], *, now: bool, address: str | None) -> int:
    """Wait until it has ended, and say where its result is; returns the exit code.

    Raises UsageError.
    """
    one = find(campaigns_of(cluster), name, cluster.address)
    if not one.alive or one.job is None:
        print(
            f"{one.name} does not run any more ({one.state}), so nothing was stopped", file=stream
        )
        return FAILED
    try:
        if one.job.submitted:
            _stop_job(cluster, one, one.job, stream, now=now, address=address)
        else:
            _stop_driver(cluster, one, one.job, stream, now=now)
    except KeyboardInterrupt:
        print(
            f"kernel-scientist: no longer waiting; {one.name} ends by itself. End it at once with "
            f"'{typed('stop', one.name, '--now', address=address)}'",
            file=sys.stderr,
        )
        return INTERRUPTED
    return _tell(find(campaigns_of(cluster), one.job.id, cluster.address), stream, address)


def _stop_job(
    cluster: Cluster,
    one: Campaign,
    job: Job,
    stream: IO[str],
    *,
    now: bool,
    address: str | None,
) -> None:
    """Ray sends it one SIGTERM and no other, so a second one goes by a job of its own."""
    shown = len(cluster.log(job.id))
    cluster.stop(job.id)
    if not now:
        print(f"{one.name} was asked to end in order; its further output:", file=stream)
    elif job.pid is not None and one.state != "pending":
        print(f"{one.name} is ended at once", file=stream)
        _signal(cluster, job, one.node, kill=True)
    follow_to_end(cluster, job.id, one.name, stream, address, shown=shown)


def _stop_driver(cluster: Cluster, one: Campaign, job: Job, stream: IO[str], *, now: bool) -> None:
    """One that joined the cluster by itself."""
    if one.state != "stopping" or now:
        _signal(cluster, job, one.node, kill=False)
    if now and one.state != "stopping":
        _signal(cluster, job, one.node, kill=True)
    print(f"{one.name} was asked to end; its output is where it was started", file=stream)
    while any(driver.id == job.id and driver.alive for driver in cluster.jobs()):
        time.sleep(LOOK_EVERY_S)


def _signal(cluster: Cluster, job: Job, node: str, *, kill: bool) -> None:
    """SIGTERM to a driver, by a job on its node. kill: SIGKILL, too, where it lives on.

    Raises UsageError: there is no such process.
    """
    sent = cluster.submit(telling(job.pid, kill=kill), node=node)
    if wait_for_end(cluster, sent) != "SUCCEEDED" and any(
        one.id == job.id and one.alive for one in cluster.jobs()
    ):
        raise UsageError(
            f"process {job.pid} at {job.ip} can't be told to end from the cluster (job {sent}): "
            "end it where it was started"
        )


def telling(pid: int | None, *, kill: bool) -> str:
    """A command line that tells a process of ours to end, and fails where it is none."""
    words = [f"tr '\\0' ' ' < /proc/{pid}/cmdline | grep -Eq '{OURS}'", f"kill -TERM {pid}"]
    if kill:
        alive = f"kill -0 {pid} 2>/dev/null"
        wait = f"for i in $(seq {NOW_S}); do {alive} || exit 0; sleep 1; done"
        words.append(f"{{ {wait}; kill -KILL {pid}; }}")
    return " && ".join(words)


def _tell(one: Campaign, stream: IO[str], address: str | None) -> int:
    """How it ended, and where its result is."""
    match one.state:
        case "ended":
            print(f"{one.name} ended in order; result and report are in {one.place}", file=stream)
            for file in ("summary.json", "report.html"):
                print(f"  {one.folder}/{file}", file=stream)
            return OK
        case "interrupted" | "stopped" | "killed":
            again = typed("resume", one.name, "--job", address=address)
            began = one.status is not None and one.status.evaluations
            rest = f"'{again}' goes on with it" if began else "its search had not begun"
            print(f"{one.name} was {one.state}; {rest}", file=stream)
            return OK if one.state != "killed" else FAILED
        case _:
            print(f"{one.name} is {one.state}{f': {one.why}' if one.why else ''}", file=stream)
            return FAILED
