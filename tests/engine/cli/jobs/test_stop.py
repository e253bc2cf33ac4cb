"""Ending a campaign of a cluster: who is told, how, and what is said of the end."""

import io
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import pytest

from engine.actors.status_file import State, Status
from engine.cli.jobs.cluster import Cluster, Job
from engine.cli.jobs.follow import show_log
from engine.cli.jobs.stop import stop, telling
from engine.cli.usage import UsageError

STATUS = Status(
    campaign="it",
    folder="/data/runs/it",
    task="softmax",
    backend="cpu",
    host="node3",
    pid=7,
    job_id="01000000",
    submission_id="raysubmit_1",
    state="running",
    evaluations=12,
    written_at=9e9,
)
SUBMITTED = Job(
    id="raysubmit_1",
    job_id="01000000",
    submitted=True,
    state="RUNNING",
    entrypoint="python scripts/run_campaign.py x.yaml",
    pid=7,
    ip="10.0.0.3",
)
JOINED = replace(SUBMITTED, id="01000000", submitted=False)


class Cast:
    """A cluster with one campaign, which ends as it is told to here once it was asked enough."""

    address = "http://h"

    def __init__(self, job: Job, *, ends: State, asked: int = 1, reachable: bool = True) -> None:
        self.driver, self._ends, self._asked = job, ends, asked
        self._reachable = reachable
        self.status = STATUS if job.submitted else replace(STATUS, submission_id="")
        self.did: list[tuple[str, str]] = []

    def jobs(self) -> list[Job]:
        return [self.driver]

    def statuses(self) -> list[tuple[str, Status]]:
        return [("node-of-it", self.status)]

    def stop(self, job: str) -> None:
        self._ask("stop", job)

    def submit(self, entrypoint: str, *, node: str) -> str:
        if self._reachable:
            self._ask(entrypoint, node)
        return "raysubmit_2"

    def _ask(self, what: str, whom: str) -> None:
        self.did.append((what, whom))
        if len(self.did) == self._asked:
            self.driver = replace(self.driver, state="STOPPED")
            self.status = replace(self.status, state=self._ends)

    def state(self, job: str) -> str:
        if job == "raysubmit_2":
            return "SUCCEEDED" if self._reachable else "FAILED"
        return self.driver.state

    def log(self, job: str) -> str:
        return "before\n"

    def follow(self, job: str, write: Callable[[str], None]) -> None:
        write("bef")
        write("ore\naft")
        write("er\n")


def stopped(cluster: Cast, *, now: bool = False) -> tuple[int, str]:
    stream = io.StringIO()
    code = stop(cast(Cluster, cluster), "it", stream, now=now, address=None)
    return code, stream.getvalue()


def test_a_job_is_asked_once_and_its_further_output_is_shown() -> None:
    cluster = Cast(SUBMITTED, ends="ended")
    code, told = stopped(cluster)
    assert (code, cluster.did) == (0, [("stop", "raysubmit_1")])
    assert told.splitlines()[1] == "after"
    assert "before" not in told
    assert "it ended in order; result and report are in node3:/data/runs/it" in told
    assert told.splitlines()[-1] == "  /data/runs/it/report.html"


def test_at_once_it_is_told_a_second_time_on_its_node() -> None:
    cluster = Cast(SUBMITTED, ends="interrupted", asked=2)
    code, told = stopped(cluster, now=True)
    assert cluster.did == [("stop", "raysubmit_1"), (telling(7, kill=True), "node-of-it")]
    assert code == 0
    assert "it was interrupted; '" in told.splitlines()[-1]
    assert "resume it --job' goes on with it" in told.splitlines()[-1]


def test_one_that_joined_by_itself_is_told_on_its_node() -> None:
    cluster = Cast(JOINED, ends="ended")
    code, told = stopped(cluster)
    assert (code, cluster.did) == (0, [(telling(7, kill=False), "node-of-it")])
    assert "its output is where it was started" in told
    with pytest.raises(UsageError, match="it was not sent as a job"):
        show_log(cast(Cluster, cluster), "it", io.StringIO(), follow=False, address=None)


def test_one_that_can_not_be_told_is_said_so() -> None:
    with pytest.raises(UsageError, match=r"process 7 at 10\.0\.0\.3 can't be told to end"):
        stopped(Cast(JOINED, ends="ended", reachable=False))


def test_one_that_was_killed_meanwhile_is_told_of() -> None:
    code, told = stopped(Cast(SUBMITTED, ends="running"))
    assert (code, "it was killed; '" in told) == (1, True)


def test_one_that_does_not_run_is_left_alone() -> None:
    cluster = Cast(replace(SUBMITTED, state="FAILED"), ends="ended")
    code, told = stopped(cluster)
    assert (code, cluster.did) == (1, [])
    assert told == "it does not run any more (killed), so nothing was stopped\n"


@pytest.mark.parametrize(("ours", "ended"), [("run_campaign", True), ("another", False)])
def test_only_a_process_of_ours_is_told_to_end(ours: str, ended: bool) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(100)", ours]
    with subprocess.Popen(command) as process:
        try:
            told = subprocess.run(telling(process.pid, kill=False), shell=True, check=False)
            assert (told.returncode == 0) == ended
            if ended:
                assert process.wait(timeout=30) == -signal.SIGTERM
            assert (process.poll() is None) != ended
        finally:
            process.kill()
