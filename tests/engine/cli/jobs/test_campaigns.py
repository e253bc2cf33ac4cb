"""Campaigns of a cluster: what Ray says of drivers, and campaigns of themselves, put together."""

import io
import json
from dataclasses import replace
from typing import Any, cast

import pytest

from engine.actors.status_file import Status, parse_status, told_of
from engine.cli.jobs.campaigns import Campaign, combined, find, folder_of
from engine.cli.jobs.cluster import Cluster, Job
from engine.cli.jobs.table import list_jobs
from engine.cli.usage import UsageError
from engine.snapshot import NOTHING_YET, Snapshot
from engine.store.budget import Left
from engine.store.scoreboard import Best

NOW = 1_000_000.0
RUN = "python scripts/run_campaign.py"
BEST = Best(kernel_id="52f238acdb2f0000", speedup=3.5, ci95=(3.0, 4.0))


def job(number: int, state: str = "RUNNING", **changes: Any) -> Job:
    values: dict[str, Any] = {
        "id": f"raysubmit_{number}",
        "job_id": f"0{number}000000",
        "submitted": True,
        "state": state,
        "entrypoint": f"""{RUN} mine.yaml 'name="it"' 'runs_dir="/data/runs"'""",
        "started_at": NOW - 100 + number,
    }
    return Job(**{**values, **changes})


def status(number: int = 1, **changes: Any) -> tuple[str, Status]:
    values: dict[str, Any] = {
        "campaign": "it",
        "folder": "/data/runs/it",
        "task": "softmax",
        "backend": "cpu",
        "host": "node3",
        "pid": 7,
        "job_id": f"0{number}000000",
        "submission_id": f"raysubmit_{number}",
        "state": "running",
        "best": BEST,
        "evaluations": 12,
        "left": Left(evaluations=30, dollars=0.52),
        "began_at": NOW - 100 + number + 0.5,
        "written_at": NOW - 2,
    }
    return "node", Status(**{**values, **changes})


def only(found: list[Campaign]) -> Campaign:
    (one,) = found
    return one


@pytest.mark.parametrize(
    ("told", "ray", "state"),
    [
        ("running", "RUNNING", "running"),
        ("paused", "RUNNING", "paused"),
        ("stopping", "RUNNING", "stopping"),
        ("ended", "RUNNING", "ended"),
        ("ended", "SUCCEEDED", "ended"),
        ("ended", "STOPPED", "ended"),
        ("interrupted", "STOPPED", "interrupted"),
        ("failed", "FAILED", "failed"),
        ("running", "FAILED", "killed"),
        ("stopping", "STOPPED", "killed"),
    ],
)
def test_the_state_is_the_campaigns_word_while_its_driver_lives(
    told: str, ray: str, state: str
) -> None:
    assert only(combined([job(1, ray)], [status(state=told)], NOW)).state == state


def test_a_driver_that_ray_forgot_is_dead() -> None:
    assert only(combined([], [status()], NOW)).state == "killed"
    assert only(combined([], [status(state="ended")], NOW)).state == "ended"


def test_a_driver_that_joined_by_itself_is_known_by_rays_number() -> None:
    own = status(submission_id="")
    driver = job(1, submitted=False, id="01000000", entrypoint="/bin/kernel-scientist run x")
    other = job(2, submitted=False, id="02000000", entrypoint="python something_else.py")
    found = only(combined([driver, other], [own], NOW))
    assert (found.state, found.job) == ("running", driver)
    assert only(combined([replace(driver, state="SUCCEEDED")], [own], NOW)).state == "killed"


def test_a_silent_driver_is_told_of() -> None:
    found = only(combined([job(1)], [status(written_at=NOW - 90)], NOW))
    assert (found.state, found.why) == ("running", "no word for 90 s")


@pytest.mark.parametrize(
    ("ray", "state"),
    [
        ("PENDING", "pending"),
        ("RUNNING", "starting"),
        ("SUCCEEDED", "ended"),
        ("STOPPED", "stopped"),
        ("FAILED", "failed"),
    ],
)
def test_before_a_campaign_tells_of_itself_its_job_does(ray: str, state: str) -> None:
    message = "failed with exit code 2, last logs:\nkernel-scientist: no such task\n"
    found = only(combined([job(1, ray, message=message)], [], NOW))
    assert (found.name, found.folder, found.state) == ("it", "/data/runs/it", state)
    assert found.why == ("no such task" if ray == "FAILED" else "")


def test_a_resumption_is_the_same_campaign_and_its_latest_job() -> None:
    again = job(2, "PENDING", entrypoint=f"{RUN} --passed gcs://p.zip --resume /data/runs/it a=1")
    found = only(combined([job(1, "STOPPED"), again], [status(state="ended")], NOW))
    assert (found.state, found.job) == ("pending", again)
    assert found.status is not None
    assert found.status.best == BEST
    began = replace(again, state="RUNNING")
    resumed = status(2, state="running")
    assert only(combined([job(1, "STOPPED"), began], [resumed], NOW)).state == "running"


def test_a_resumption_that_was_refused_hides_no_campaign_that_runs() -> None:
    refused = job(2, "FAILED", message="another process runs it")
    assert only(combined([job(1), refused], [status()], NOW)).state == "running"


def test_campaigns_come_the_latest_first_and_others_jobs_not_at_all() -> None:
    stranger = job(5, entrypoint="python train.py")
    second = job(3, entrypoint=f"{RUN} x.yaml name=two runs_dir=/r")
    unnamed = job(4, entrypoint=f"{RUN} x.yaml task=softmax")
    found = combined([job(1), stranger, second, unnamed], [status()], NOW)
    assert [one.name for one in found] == ["raysubmit_4", "two", "it"]
    for name in ("it", "/data/runs/it", "raysubmit_1"):
        assert find(found, name, "http://h").name == "it"
    with pytest.raises(UsageError, match=r"http://h has no campaign or job 'twoo' \(did you mean"):
        find(found, "twoo", "http://h")
    with pytest.raises(UsageError, match="http://h has no campaign; 'submit' sends one"):
        find([], "it", "http://h")


def test_a_command_line_that_can_not_be_read_names_no_folder() -> None:
    assert folder_of(job(1, entrypoint=f"{RUN} 'unclosed")) == ""


def test_a_status_survives_its_file_and_another_version_is_refused() -> None:
    snapshot = Snapshot(
        campaign="it",
        run_dir="/data/runs/it",
        phase="running",
        elapsed_s=3.0,
        session_s=3.0,
        devices=1,
        device="AMD EPYC",
        dispatcher=replace(NOTHING_YET, best=BEST, by_status={"PASSED": 5}),
        islands=(),
        evaluations_left=25,
        seconds_left=None,
    )
    _, before = status()
    told = told_of(before, snapshot)
    assert (told.state, told.evaluations, told.left) == ("running", 5, Left(evaluations=25))
    assert told_of(before, replace(snapshot, paused_since=1.0)).state == "paused"
    assert told_of(before, replace(snapshot, phase="finished")).state == "stopping"
    starting = replace(snapshot, phase="starting", dispatcher=NOTHING_YET)
    assert told_of(before, starting).evaluations == before.evaluations
    with pytest.raises(ValueError, match="campaign"):
        parse_status('{"of": "another version"}')


class Told:
    """A cluster, as far as a list of its campaigns asks it."""

    address = "http://h"

    def __init__(self, *jobs: Job) -> None:
        self._jobs = jobs

    def jobs(self) -> list[Job]:
        return list(self._jobs)

    def statuses(self) -> list[tuple[str, Status]]:
        return [status()] if self._jobs else []


def listed(*jobs: Job, as_json: bool = False) -> str:
    stream = io.StringIO()
    list_jobs(cast(Cluster, Told(*jobs)), stream, as_json=as_json)
    return stream.getvalue()


def test_the_list_shows_figures_and_what_went_wrong() -> None:
    failed = job(2, "FAILED", entrypoint=f"{RUN} x.yaml", message="kernel-scientist: no such task")
    head, *lines = listed(job(1), failed).splitlines()
    assert head.split() == [
        *("name", "state", "best", "evaluations", "left", "began", "job", "folder"),
    ]
    assert "30 evaluations, 0.52 dollars" in lines[1]
    assert "3.50x [3.00, 4.00] 52f238acdb2f" in lines[1]
    assert lines[1].rstrip().endswith("node3:/data/runs/it")
    assert lines[2] == "raysubmit_2: no such task"
    assert "has no campaign" in listed()
    second, first = json.loads(listed(job(1), failed, as_json=True))
    assert (second["state"], second["best"]) == ("failed", None)
    assert first["best"] == {"id": BEST.kernel_id, "speedup": 3.5, "ci95": [3.0, 4.0]}
    assert first["left"] == {"evaluations": 30, "dollars": 0.52}
