"""Campaigns that ask a model, as a person starts them: exit codes, last lines, one sentence."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.cli import main as cli
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import MODEL, Script
from tests.engine.local_ray import local_ray
from tests.engine.small_tasks import small

BUDGET_DOLLARS = 0.04


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """A configuration file for small matrix products, which take no time to measure."""
    task = small("sgemm", tmp_path / "small_sgemm")
    model = {
        "model": MODEL,
        "stream": False,
        "max_tokens": 1500,
        "dollars_per_million_prompt": 1.0,
        "dollars_per_million_completion": 4.0,
    }
    values = {
        "task": str(task),
        "name": "it",
        "runs_dir": str(tmp_path / "runs"),
        "tracking": "none",
        "budgets": {"evaluations": 10_000, "dollars": BUDGET_DOLLARS},
        "final": {"seconds": 0},
        "operators": [{"kind": "llm", "mutation": 0}],
        "islands": {"count": 1, "cycles_in_flight": 3},
        "llm": {"models": {"main": model}},
    }
    file = tmp_path / "campaign.yaml"
    file.write_text(yaml.safe_dump(values))
    return file


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=580,
        env={**os.environ, **environment},
    )


COMMAND = Path(sys.executable).parent / "kernel-scientist"


def spent(run_dir: Path) -> dict[str, Any]:
    calls = json.loads((run_dir / "summary.json").read_text())["calls"]
    assert isinstance(calls, dict)
    return calls


@pytest.mark.soak
def test_a_budget_in_dollars_ends_with_a_clear_last_line_that_says_how_to_go_on(
    campaign: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_dir = tmp_path / "runs" / "it"
    with serving(Script(latency_s=0.05)) as server, local_ray():
        assert cli.main(["run", str(campaign), f"llm.base_url={server.base_url}"]) == 0
        ended = capsys.readouterr()
        assert "Traceback" not in ended.out + ended.err
        first, *_, last = ended.out.splitlines()
        assert first.startswith(f"it: the budget of {BUDGET_DOLLARS} dollars is spent: ")
        sentence, _, command = last.partition(" by ")
        assert sentence == (
            f"the budget of {BUDGET_DOLLARS} dollars is spent; go on with twice that"
        )
        assert command.endswith(f"resume {run_dir} budgets.dollars={2 * BUDGET_DOLLARS}")
        before = spent(run_dir)
        assert 0.5 * BUDGET_DOLLARS < before["dollars"] <= BUDGET_DOLLARS
        assert before["calls"] == server.calls
        assert (before["in_flight"], before["lost"]) == (0, 0)
        assert "cancelled" not in before["failures"]  # what was in flight came home

        _, *arguments = shlex.split(command)  # as it stands
        assert cli.main(arguments) == 0
        resumed = capsys.readouterr()
        after = spent(run_dir)
        assert BUDGET_DOLLARS < after["dollars"] <= 2 * BUDGET_DOLLARS
        # One that is cut off may not have reached the server; it counts all the same.
        cut_off = after["failures"].get("cancelled", 0)
        assert after["calls"] - cut_off <= server.calls <= after["calls"]
        assert f"budgets.dollars={4 * BUDGET_DOLLARS}" in resumed.out.splitlines()[-1]


def test_a_context_that_no_prompt_fits_is_one_sentence(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(Script(context_characters=3000)) as server, local_ray():
        assert cli.main(["run", str(campaign), f"llm.base_url={server.base_url}"]) == 1
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    *_, hint, last = said.err.splitlines()
    assert hint.startswith("once this is mended: ") and " resume " in hint
    assert last.startswith(f"kernel-scientist: the prompt is too long for '{MODEL}' (This model's ")
    assert last.endswith("serve it with a longer context, or lower its max_tokens in llm.models")
    assert said.out == ""
    # What was found until then is there, and everyone says that it failed.
    run_dir = campaign.parent / "runs" / "it"
    assert json.loads((run_dir / "summary.json").read_text())["ended"].startswith("failed: the pro")
    assert ">failed</span>" in (run_dir / "report.html").read_text()
    assert cli.main(["watch", str(run_dir), "--once"]) == 1
    assert "failed: the prompt is too long" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("command", ["run", "doctor"])
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("an absent endpoint", "; start the server there, or set llm.base_url"),
        ("no key", "KEY_OF_THIS_TEST, named by llm.api_key_env, is not set; export the key in it"),
        ("an unknown model", "no model 'gpt-0' (it serves scripted); set llm.models.main.model"),
    ],
)
def test_what_no_campaign_can_run_without_is_one_sentence_beforehand(
    command: str,
    given: str,
    says: str,
    campaign: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("KEY_OF_THIS_TEST", raising=False)
    with serving(Script()) as server:
        values = yaml.safe_load(campaign.read_text())
        values["llm"]["base_url"] = server.base_url
        if given == "an absent endpoint":
            values["llm"]["base_url"] = "http://127.0.0.1:9/v1"  # where nothing listens
        elif given == "no key":
            values["llm"]["api_key_env"] = "KEY_OF_THIS_TEST"
        else:
            values["llm"]["models"]["main"]["model"] = "gpt-0"
        campaign.write_text(yaml.safe_dump(values))
        wrong_usage = (command, given) == ("run", "no key")
        assert cli.main([command, str(campaign)]) == (2 if wrong_usage else 1)
    said = capsys.readouterr()
    if command == "run":
        assert said.out == ""
        [sentence] = said.err.splitlines()
        assert sentence.startswith("kernel-scientist: ")
    else:
        assert said.err == ""
        [sentence] = [one for one in said.out.splitlines() if says in one]
        assert said.out.splitlines()[-1] == f"{campaign} can't run before this is mended: models."
    assert sentence.endswith(says)
    assert not (tmp_path / "runs").exists()
