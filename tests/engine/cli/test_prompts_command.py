"""`prompts` shows what a campaign sends, to the byte: stored, made anew, and what comes next."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine.campaign import resume_campaign, run_campaign
from engine.cli import main as cli
from engine.config import parse_config
from engine.store.kinds.calls import CallReserved
from engine.store.store import read_events
from scripts.prompt_tokens import replayed, stored
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Logged, Script, ScriptedServer
from tests.engine.local_ray import local_ray
from tests.engine.quick_bench import quick_workbench


@dataclass(frozen=True, slots=True)
class Run:
    """A campaign that has ended, and its endpoint."""

    folder: Path
    server: ScriptedServer

    @property
    def sent(self) -> dict[str, CallReserved]:
        """The last of each role."""
        events = [stored.event for stored in read_events(self.folder / "store.sqlite")]
        return {event.role: event for event in events if isinstance(event, CallReserved)}

    def copy(self, folder: Path) -> Path:
        shutil.copytree(self.folder, folder / "it")
        return folder / "it"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """One island, a cycle at a time."""
    folder = tmp_path_factory.mktemp("prompts")
    with serving(Script(seed=3)) as server:
        values: dict[str, Any] = {
            "task": "sgemm",
            "name": "it",
            "runs_dir": str(folder),
            "tracking": "none",
            "budgets": {"evaluations": 14, "tuning": 8},
            "operators": [{"kind": "llm", "crossover": 0, "mutation": 0}],
            "islands": {"count": 1, "cycles_in_flight": 1},
            "final": {"seconds": 0},
            "llm": {
                "base_url": server.base_url,
                "models": {"main": {"model": "scripted", "stream": False}},
            },
        }
        with local_ray():
            run_campaign(parse_config(values, where="test"), workbench=quick_workbench())
        yield Run(folder / "it", server)


def shown(run_dir: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(["prompts", "--run-dir", str(run_dir), *arguments]) == 0
    return capsys.readouterr().out.removesuffix("\n")


def received(call: Logged) -> str:
    messages = call.body["messages"]
    return "\n\n".join(f"[{one['role']}]\n{one['content']}" for one in messages)


def test_the_last_of_a_role_is_what_the_endpoint_received(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    everything = {received(call) for call in run.server.log}
    assert {"selector", "designer", "writer"} <= run.sent.keys()
    for role, event in run.sent.items():
        text = shown(run.folder, capsys, "--role", role)
        assert text in everything
        if role != "distiller":  # which is the whole campaign's
            place = ("--island", "0", "--cycle", str(event.cycle))
            assert shown(run.folder, capsys, "--role", role, *place) == text


def test_the_designer_reads_the_selectors_rationale(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(run.folder, capsys, "--role", "designer")
    why = text.partition("# Why these two were chosen\n")[2]
    assert "leads on most shapes" in why.partition("\n\n")[0]


def test_what_was_not_kept_is_made_anew_to_the_byte(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = run.copy(tmp_path)
    with sqlite3.connect(bare / "store.sqlite") as store:
        kept = "kind = 'call_reserved'"
        for seq, body in store.execute(f"select seq, body from events where {kept}").fetchall():
            without = json.dumps({**json.loads(body), "prompt": []})
            store.execute("update events set body = ? where seq = ?", (without, seq))
    for role, event in run.sent.items():
        assert event.prompt
        text = shown(bare, capsys, "--role", role)
        assert text == shown(run.folder, capsys, "--role", role)


def test_the_next_is_what_a_resumed_campaign_sends(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    killed = run.copy(tmp_path)
    with sqlite3.connect(killed / "store.sqlite") as store:  # as if between two cycles
        store.execute(
            "delete from events where seq > "
            "(select max(seq) from events where kind = 'cycle_finished')"
        )
    foretold = shown(killed, capsys, "--role", "selector", "--next")
    before = len(run.server.log)
    with local_ray():
        resume_campaign(killed, budgets={"evaluations": 16}, workbench=quick_workbench())
    assert received(run.server.log[before]) == foretold


def test_a_campaign_replayed_asks_the_same_again(run: Run) -> None:
    sent = [(role, list(messages)) for role, messages in stored(run.folder)]
    assert [(role, list(messages)) for role, messages in replayed(run.folder)] == sent
    assert len(sent) > 14


def test_what_is_not_there_is_said_in_a_sentence(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["prompts", "--run-dir", str(run.folder), "--role", "writer"]
    for arguments, sentence in (
        ([*at, "--cycle", "999"], "no writer was asked in cycle 999"),
        ([*at, "--task", "sgemm"], "leave out --task"),
        (["prompts", "--role", "writer"], "--run-dir"),
        (["prompts", "--role", "writer", "--task", "sgemm", "--next"], "go with --run-dir"),
    ):
        assert cli.main(arguments) == 2
        assert sentence in capsys.readouterr().err
