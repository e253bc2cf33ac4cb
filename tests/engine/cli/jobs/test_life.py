"""A campaign's life as a job, on a real head that asks for a token; no value of a variable that it
is passed stands anywhere afterwards."""

import json
import re
import secrets
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from engine.actors.status_file import PATTERN, Status, parse_status
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import MODEL, Script
from tests.engine.ports import free_port
from tests.engine.ray_head import BIN, environment_of_head, running_head
from tests.engine.small_tasks import small

ROOT = Path(__file__).resolve().parents[4]
SECRET = f"sk-{secrets.token_hex(16)}"
"""Not written down: a job's copy of the code holds this file."""
VARIABLE = "KEY_OF_THIS_LIFE"
TASK = "small_sgemm"
PATIENCE_S = 300.0


@dataclass(frozen=True)
class Head:
    address: str
    environment: dict[str, str]
    folder: Path

    def type(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """A command line at the checkout's top."""
        return subprocess.run(
            [BIN / words[0], *words[1:]],
            cwd=ROOT,
            env={
                **self.environment,
                "RAY_API_SERVER_ADDRESS": self.address,
                "NO_COLOR": "1",
                **environment,
            },
            capture_output=True,
            text=True,
            check=False,
        )

    def campaigns(self) -> dict[str, dict[str, Any]]:
        """By name, as `jobs --json` tells of them."""
        told = self.type("kernel-scientist", "jobs", "--json")
        assert told.returncode == 0, told.stderr
        found: list[dict[str, Any]] = json.loads(told.stdout)
        assert len({one["name"] for one in found}) == len(found)
        return {one["name"]: one for one in found}

    def wait(self, name: str, until: Callable[[Status], bool]) -> None:
        """Until its file says so; a look at it costs less than `jobs`."""
        end = time.monotonic() + PATIENCE_S
        logs = self.folder / "session_latest" / "logs"
        pattern = PATTERN.replace("*", f"{name}-*")
        while not any(until(parse_status(file.read_text())) for file in logs.glob(pattern)):
            assert time.monotonic() < end, self.campaigns()
            time.sleep(0.2)


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
    address, environment = f"http://127.0.0.1:{free_port()}", environment_of_head()
    environment["PYTHONPATH"] = str(ROOT)
    options = {
        "port": 0,
        "dashboard-host": "127.0.0.1",
        "dashboard-port": urlsplit(address).port,
    }
    started = Head(address, environment, Path())
    with running_head(options, environment, lambda: answers(started)) as folder:
        yield Head(address, environment, folder)


def quick(tmp_path: Path) -> list[str]:
    """Of a campaign that ends as soon as it is asked to."""
    return [
        "configs/quickstart.yaml",
        f"task={tmp_path / TASK}",
        f"runs_dir={tmp_path / 'runs'}",
        "tracking=none",
        "final.seconds=0",
        "islands={count: 1, cycles_in_flight: 1, initial: 0}",
        "budgets={evaluations: 100000, tuning: 0}",
    ]


def asking(base_url: str) -> list[str]:
    """Of one that asks a model."""
    llm = {
        "base_url": base_url,
        "api_key_env": VARIABLE,
        "models": {"main": {"model": MODEL, "stream": False, "max_tokens": 1500}},
    }
    return ["operators=[{kind: llm, mutation: 0}]", "probes.most=0", f"llm={json.dumps(llm)}"]


def one_sentence(done: subprocess.CompletedProcess[str], told: str) -> None:
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


def holds_secret(folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert files
    return [path for path in files if SECRET.encode() in path.read_bytes()]


class Typed:
    """Command lines, and all that they ever said."""

    def __init__(self, head: Head) -> None:
        self._head, self.said = head, ""

    def __call__(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        done = self._head.type(*words, **environment)
        self.said += done.stdout + done.stderr
        return done

    def well(self, *words: str, **environment: str) -> str:
        """What it says on stdout; it works."""
        done = self(*words, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def send_by_ray(typed: Typed, tmp_path: Path) -> str:
    """A campaign as typed without any command of ours; the job's id."""
    plain = ["python", "scripts/run_campaign.py", *quick(tmp_path), "name=plain"]
    plain += ["operators=[{kind: random}]"]
    environment = {"working_dir": ".", "env_vars": {"RAY_JOB_STOP_WAIT_TIME_S": "1800"}}
    sent = ["ray", "job", "submit", "--no-wait", "--runtime-env-json", json.dumps(environment)]
    told = re.search(r"Job '(\w+)' submitted", typed.well(*sent, "--", *plain))
    assert told is not None
    return told[1]


def summary(run_dir: Path) -> Any:
    return json.loads((run_dir / "summary.json").read_text())


def ended_by_ray(head: Head, typed: Typed, job: str, run_dir: Path) -> None:
    head.wait("plain", lambda one: one.state == "running")
    typed.well("ray", "job", "stop", job)
    assert (run_dir / "report.html").is_file()
    assert summary(run_dir)["ended"] == "interrupted"
    assert {one["state"] for one in head.campaigns().values()} == {"ended"}
    assert "plain: interrupted" in typed.well("ray", "job", "logs", job)


def resumed(head: Head, typed: Typed, run_dir: Path, job: str) -> None:
    before = summary(run_dir)["calls"]["calls"]
    resume = ["kernel-scientist", "resume", "life", "--job", f"calls={before + 1}"]
    assert "succeeded" in typed.well(*resume, **{VARIABLE: SECRET}).splitlines()[-1]
    assert summary(run_dir)["calls"]["calls"] == before + 1
    again = head.campaigns()["life"]
    assert (again["state"], again["left"]["calls"]) == ("ended", 0)
    assert again["job"] != job


@pytest.mark.long
@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_a_campaign_lives_as_jobs_on_a_head_that_asks_for_a_token(
    head: Head, tmp_path: Path, whole: bool
) -> None:
    """whole: beside one that is sent by Ray's own command, and resumed."""
    run_dir, other = tmp_path / "runs" / "life", tmp_path / "runs" / "plain"
    small("sgemm", tmp_path / TASK)
    typed = Typed(head)
    one_sentence(typed("kernel-scientist", "jobs", RAY_AUTH_TOKEN="0" * 32), "RAY_AUTH_TOKEN")
    with serving(Script(key=SECRET, latency_s=2.0)) as server:
        chosen = [*quick(tmp_path), *asking(server.base_url), "name=life"]
        submit = ["kernel-scientist", "submit", "--detach", *chosen]
        assert VARIABLE in typed.well(*submit, **{VARIABLE: SECRET})
        by_ray = send_by_ray(typed, tmp_path) if whole else ""

        head.wait("life", lambda one: one.state == "running" and bool(server.log))
        running = head.campaigns()["life"]
        assert (running["state"], running["folder"]) == ("running", str(run_dir))
        assert running["left"]["evaluations"] + running["evaluations"] == 100000
        assert running["best"]["speedup"] >= 1
        logs = typed.well("kernel-scientist", "logs", "life")
        assert f"variables that were passed: {VARIABLE}" in logs
        assert "life ended in order" in typed.well("kernel-scientist", "stop", "life")
        assert (run_dir / "report.html").is_file()
        assert summary(run_dir)["ended"] == "interrupted"

        if whole:
            ended_by_ray(head, typed, by_ray, other)
            resumed(head, typed, run_dir, running["job"])
    assert SECRET not in typed.said
    assert head.environment["RAY_AUTH_TOKEN"] not in typed.said
    assert holds_secret(head.folder) == []
    assert holds_secret(tmp_path) == []
