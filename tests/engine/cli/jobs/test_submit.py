"""Submitting a campaign: what the job is, and one real job on a head that asks for a token."""

import json
import shlex
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from engine.cli.submit import SubmitError, is_temporary_copy, plan
from engine.config_errors import ConfigError
from engine.config_file import load_config
from evaluators.tasks.task import TaskError
from tests.engine.ports import free_port
from tests.engine.ray_head import BIN, environment_of_head, running_head
from tests.evaluators.small_task import SPACIOUS, kernel, write_task

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "run_campaign.py").write_text("")
    (tmp_path / "mine.yaml").write_text("task: softmax\ntracking: none\n")
    return tmp_path


def settings_of(entrypoint: str, checkout: Path) -> dict[str, Any]:
    """The configuration that a job with this entrypoint would run."""
    python, script, config, *overrides = shlex.split(entrypoint)
    assert (python, script) == ("python", "scripts/run_campaign.py")
    return load_config(checkout / config, overrides).model_dump(mode="json")


def test_what_depends_on_the_folder_is_made_explicit(checkout: Path) -> None:
    overrides = ["runs_dir=my runs", "tracking.uri=sqlite:///ml.db", "budgets.evaluations=7"]
    overrides.append("start_from=runs/first")
    (checkout / "mine.yaml").write_text("task: softmax\n")
    job = plan(Path("mine.yaml"), overrides, checkout)
    settings = settings_of(job.entrypoint, checkout)
    assert settings["runs_dir"] == str(checkout / "my runs")
    assert settings["start_from"] == str(checkout / "runs" / "first")
    assert settings["tracking"] == {
        "uri": f"sqlite:///{checkout / 'ml.db'}",
        "experiment": "",
    }
    assert settings["budgets"]["evaluations"] == 7
    assert str(settings["name"]).startswith("softmax-")
    assert job.run_dir == checkout / "my runs" / str(settings["name"])


@pytest.mark.parametrize("uri", ["none", "sqlite", "http://127.0.0.1:5000", "databricks"])
def test_addresses_stay_as_they_are(checkout: Path, uri: str) -> None:
    job = plan(Path("mine.yaml"), [f"tracking={uri}", "name=again"], checkout)
    settings = settings_of(job.entrypoint, checkout)
    assert settings["tracking"] == {"uri": uri, "experiment": ""}
    assert job.run_dir == checkout / "runs" / "again"


def test_a_configuration_elsewhere_is_refused(checkout: Path) -> None:
    with pytest.raises(SubmitError, match="not below"):
        plan(Path("../mine.yaml"), [], checkout / "scripts" / "..")


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SubmitError, match=r"run_campaign\.py"):
        plan(Path("mine.yaml"), [], tmp_path)


def test_a_task_that_no_job_could_use_is_refused_before_anything_is_sent(checkout: Path) -> None:
    folder = write_task(checkout / "mine", seed=SPACIOUS)
    assert plan(Path("mine.yaml"), ["task=mine"], checkout).run_dir.name.startswith("mine-")
    (folder / "reference.py").write_text("def reference(w, x, t):\n    return {}\n")
    with pytest.raises(TaskError, match="returned no 't'"):
        plan(Path("mine.yaml"), ["task=mine"], checkout)


def test_a_bad_configuration_is_refused_before_anything_is_sent(checkout: Path) -> None:
    with pytest.raises(ConfigError, match="no_such_key"):
        plan(Path("mine.yaml"), ["no_such_key=1"], checkout)


def own_task(folder: Path, seed: str) -> Path:
    write_task(folder)
    (folder / "seeds" / "naive.hip").write_text(seed)
    return folder


@pytest.mark.parametrize(
    ("seed", "told"),
    [
        ("__global__ void go() {}", r"naive\.hip: line 1: "),
        (kernel().replace("args: [w,", "args: [weights,"), r"naive\.hip on .*'weights'"),
    ],
)
def test_a_bad_task_is_refused_before_anything_is_sent(
    checkout: Path, seed: str, told: str
) -> None:
    own_task(checkout / "own", seed)
    with pytest.raises((ConfigError, TaskError), match=told):
        plan(Path("mine.yaml"), ["task=own"], checkout)


def test_a_task_that_is_not_there_is_refused(checkout: Path) -> None:
    with pytest.raises(TaskError, match=r"no task 'softmaxx' \(did you mean softmax\?\)"):
        plan(Path("mine.yaml"), ["task=softmaxx"], checkout)
    with pytest.raises(TaskError, match="no task '/no/such'"):
        plan(Path("mine.yaml"), ["task=/no/such"], checkout)
    assert plan(Path("mine.yaml"), ["task=/no/such"], checkout, elsewhere=True).entrypoint


def test_a_task_that_the_job_would_not_have_is_refused(checkout: Path) -> None:
    own_task(checkout / "own", SPACIOUS)
    below = checkout / "below"
    shutil.copytree(checkout / "scripts", below / "scripts")
    shutil.copy(checkout / "mine.yaml", below)
    with pytest.raises(SubmitError, match=r"task \.\./own is not below"):
        plan(Path("mine.yaml"), ["task=../own"], below)
    assert plan(Path("mine.yaml"), ["task=own"], checkout).run_dir.name.startswith("own-")


@pytest.mark.parametrize(
    ("folder", "temporary"),
    [
        ("/tmp/ray/session_1/runtime_resources/working_dir_files/_ray_pkg_1", True),
        ("/home/me", False),
    ],
)
def test_a_jobs_copy_of_the_code_is_known_by_its_path(folder: str, temporary: bool) -> None:
    assert is_temporary_copy(Path(folder)) == temporary


def test_a_dead_address_costs_one_sentence() -> None:
    address = f"http://127.0.0.1:{free_port()}"
    result = subprocess.run(
        [BIN / "kernel-scientist", "submit", "configs/quickstart.yaml", "--address", address],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert address in result.stderr
    assert len(result.stderr.splitlines()) == 1


@dataclass(frozen=True)
class Head:
    address: str
    environment: dict[str, str]


def answers(head: Head) -> bool:
    token = head.environment["RAY_AUTH_TOKEN"]
    headers = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"{head.address}/api/version", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=5):
            return True
    except OSError:
        return False


@pytest.fixture
def head() -> Iterator[Head]:
    started = Head(f"http://127.0.0.1:{free_port()}", environment_of_head())
    options = {
        "port": 0,
        "dashboard-host": "127.0.0.1",
        "dashboard-port": urlsplit(started.address).port,
    }
    with running_head(options, started.environment, lambda: answers(started)):
        yield started


def submit(head: Head, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BIN / "kernel-scientist", "submit", *arguments, "--address", head.address],
        cwd=ROOT,
        env={**head.environment, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.long
def test_a_campaign_runs_as_a_job_on_a_head_that_asks_for_a_token(
    head: Head, tmp_path: Path
) -> None:
    arguments = ["configs/quickstart.yaml", "task=softmax", "name=job", "tracking=none"]
    arguments += [f"runs_dir={tmp_path}", "budgets.evaluations=2", "final.seconds=0"]
    arguments += ["islands.count=1"]

    refused = submit(head, *arguments, RAY_AUTH_TOKEN="0" * 32)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "RAY_AUTH_TOKEN" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1

    done = submit(head, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "succeeded" in done.stdout.splitlines()[-1]
    assert head.environment["RAY_AUTH_TOKEN"] not in done.stdout + done.stderr
    summary = json.loads((tmp_path / "job" / "summary.json").read_text())
    assert summary["evaluations"]["total"] == 2
    assert (tmp_path / "job" / "best.hip").is_file()
