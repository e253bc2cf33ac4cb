"""Submitting a campaign: what the job is, and what is refused before anything is sent."""

import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from engine.cli.jobs.plan import is_temporary_copy, plan
from engine.cli.usage import UsageError
from engine.config_errors import ConfigError
from engine.config_file import load_config
from evaluators.tasks.task import TaskError
from tests.engine.ports import free_port
from tests.engine.ray_head import BIN
from tests.evaluators.small_task import SPACIOUS, kernel, write_task

ROOT = Path(__file__).resolve().parents[4]


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
    settings = settings_of(job.entrypoint(), checkout)
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
    settings = settings_of(job.entrypoint(), checkout)
    assert settings["tracking"] == {"uri": uri, "experiment": ""}
    assert job.run_dir == checkout / "runs" / "again"


def test_a_configuration_elsewhere_is_refused(checkout: Path) -> None:
    with pytest.raises(UsageError, match="not below"):
        plan(Path("../mine.yaml"), [], checkout / "scripts" / "..")


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"run_campaign\.py"):
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
    assert plan(Path("mine.yaml"), ["task=/no/such"], checkout, elsewhere=True).entrypoint()


def test_a_task_that_the_job_would_not_have_is_refused(checkout: Path) -> None:
    own_task(checkout / "own", SPACIOUS)
    below = checkout / "below"
    shutil.copytree(checkout / "scripts", below / "scripts")
    shutil.copy(checkout / "mine.yaml", below)
    with pytest.raises(UsageError, match=r"task \.\./own is not below"):
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
