"""A campaign whose models are slow: devices tune meanwhile, and a resumption goes on with that."""

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from engine.campaign import resume_campaign, run_campaign
from engine.snapshot import Snapshot
from engine.store.events import Added, CycleStarted, Drafted, Evaluated
from engine.store.replay import replay
from engine.store.store import read_events
from scripts.scripted_model.answers import Messages, answer
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script
from tests.engine.quick_bench import quick_workbench
from tests.engine.test_scientist_campaign import SECRET, config, section

pytestmark = pytest.mark.usefixtures("in_this_process")

ASKED, TUNED = 8, 8
PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_OF_THIS_TEST", SECRET)


@dataclass
class SlowModel:
    """Answers so many calls, and no more until devices were seen to be idle for that reason."""

    reason: str
    calls: int
    base_url: str = ""
    seen: list[Snapshot] = field(default_factory=list)
    thought: threading.Event = field(default_factory=threading.Event)

    def __call__(self, snapshot: Snapshot) -> None:
        self.seen.append(snapshot)
        if self.reason in snapshot.dispatcher.idle:
            self.thought.set()

    def rule(self, messages: Messages, number: int) -> str:
        if number >= self.calls and not self.thought.wait(PATIENCE_S):
            self.thought.set()
        return answer(messages, number)


@contextmanager
def slow_model(reason: str, *, calls: int = 0) -> Iterator[SlowModel]:
    model = SlowModel(reason, calls)
    with serving(Script(key=SECRET, rule=model.rule)) as server:
        model.base_url = server.base_url
        yield model


def events(folder: Path, kind: type[Any]) -> list[Any]:
    stored = (one.event for one in read_events(folder / "it" / "store.sqlite"))
    return [event for event in stored if isinstance(event, kind)]


def mutations(folder: Path, kind: type[Any]) -> list[Any]:
    return [event for event in events(folder, kind) if event.cycle == 0 and event.slot]


def run(folder: Path, model: SlowModel, tuned: int) -> None:
    budgets = {"evaluations": ASKED, "tuning": tuned}
    llm = {**section(model.base_url), "timeout_s": 300.0}
    chosen = config(folder, model.base_url, budgets=budgets, final={"seconds": 0}, llm=llm)
    run_campaign(chosen, workbench=quick_workbench(), observer=model)


def test_devices_tune_while_models_think_and_a_kill_loses_none_of_it(tmp_path: Path) -> None:
    with slow_model(f"budgets.tuning ({TUNED}) is spent", calls=12) as model:
        run(tmp_path, model, TUNED)
        check_tuned(tmp_path, model.seen)
        last = mutations(tmp_path, Drafted)[-1]
        cut_after(tmp_path, last.key)
        tuned = replay(tmp_path / "it" / "store.sqlite").scores.tuned
        resume_campaign(
            tmp_path / "it", budgets={"evaluations": ASKED + 2}, workbench=quick_workbench()
        )
    whole = replay(tmp_path / "it" / "store.sqlite")
    assert whole.scores.asked == ASKED + 2
    assert tuned <= whole.scores.tuned <= TUNED
    paid = Counter(e.evaluation.kernel_id for e in events(tmp_path, Evaluated) if not e.number)
    assert set(paid.values()) == {1}
    keys = [one.key for one in mutations(tmp_path, Drafted)]
    assert len(keys) == len(set(keys))


def check_tuned(folder: Path, seen: list[Snapshot]) -> None:
    whole = replay(folder / "it" / "store.sqlite")
    assert (whole.scores.asked, whole.scores.tuned) == (ASKED, TUNED)
    assert whole.ended == "the evaluations are spent"
    drafted = mutations(folder, Drafted)
    known = {one.kernel_id for one in events(folder, Drafted)}
    assert {one.origin for one in drafted} == {"mutation"}
    assert {one.parents[0] for one in drafted} <= known
    assert {one.key for one in mutations(folder, Added)} == {one.key for one in drafted}
    assert seen[-1].dispatcher.tuned == TUNED and seen[-1].evaluations_left == 0


def cut_after(folder: Path, key: str) -> None:
    """As a kill leaves the store: a mutation was drafted, and nothing came of it yet."""
    with sqlite3.connect(folder / "it" / "store.sqlite") as store:
        (seq,) = store.execute(
            "SELECT seq FROM events WHERE kind = 'drafted' AND key = ?", (key,)
        ).fetchone()
        store.execute("DELETE FROM events WHERE seq > ?", (seq,))
    store.close()


def test_without_a_budget_for_it_nothing_is_tuned(tmp_path: Path) -> None:
    with slow_model("budgets.tuning is 0") as model:
        run(tmp_path, model, 0)
    assert model.thought.is_set()
    assert not mutations(tmp_path, Drafted) and events(tmp_path, CycleStarted)
