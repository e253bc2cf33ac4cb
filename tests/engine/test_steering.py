"""Campaigns that a person steers: kernels and ideas put in, kills, pauses, a warm start."""

import os
import signal
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.campaign import resume_campaign, run_campaign
from engine.carrying import MOST
from engine.config import CampaignConfig, parse_config
from engine.config_errors import ConfigError
from engine.inbox import INBOX, REFUSED, TAKEN, Entry, ask_to_pause, let_go_on, put, waiting
from engine.islands.injections import IDEA
from engine.islands.rehearsal import Rehearsal, stored_outcomes
from engine.snapshot import Snapshot
from engine.store.events import Added, CycleFinished, CycleStarted, Drafted, Evaluated, Event
from engine.store.kinds.calls import CallReplied
from engine.store.kinds.steering import Injected, Paused, WentOn
from engine.store.lineage import lineage, what_made
from engine.store.replay import replay
from engine.store.store import read_events
from evaluators.kernel.source import kernel_id
from evaluators.tasks.task_file import load_task
from operators.individual import BY_A_PERSON
from operators.llm.question import Request
from scripts.bench_engine import INFO
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script
from tests.engine import test_scientist_campaign as scientist
from tests.engine.quick_bench import quick_workbench
from tests.soaked import one_in

pytestmark = [pytest.mark.usefixtures("in_this_process"), pytest.mark.long]

NAIVE = load_task("sgemm").naive
MINE = NAIVE.rstrip() + "\n__device__ float twice(float a) { return 2.0f * a; }\n"
WORDS = "Let every thread keep four sums, as a person would."


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_OF_THIS_TEST", scientist.SECRET)


def config(folder: Path, name: str = "it", **changes: Any) -> CampaignConfig:
    values = {
        "task": "sgemm",
        "name": name,
        "runs_dir": str(folder),
        "tracking": "none",
        "budgets": {"evaluations": 12},
        "final": {"seconds": 0},
    }
    return parse_config({**values, **changes}, where="test")


def put_in(folder: Path, **entry: Any) -> Path:
    run_dir = folder / "it"
    run_dir.mkdir(exist_ok=True)
    values = {"what": "kernel", "name": "mine.hip", "text": MINE, **entry}
    put(run_dir, Entry(**values))
    return run_dir


def of(run_dir: Path, kind: type[Any]) -> list[Any]:
    stored = (one.event for one in read_events(run_dir / "store.sqlite"))
    return [event for event in stored if isinstance(event, kind)]


def cut_after(run_dir: Path, last: Event) -> None:
    """As a kill leaves the store."""
    with sqlite3.connect(run_dir / "store.sqlite") as store:
        (seq,) = store.execute(
            "SELECT seq FROM events WHERE kind = ? AND key = ?", (last.kind, last.key)
        ).fetchone()
        store.execute("DELETE FROM events WHERE seq > ?", (seq,))
    store.close()


def resumed(run_dir: Path, evaluations: int) -> None:
    budgets = {"evaluations": evaluations}
    resume_campaign(run_dir, budgets=budgets, workbench=quick_workbench())


def check_once(run_dir: Path) -> None:
    """Nothing was stored, drafted or evaluated twice."""
    for kind in (Injected, Drafted, Added):
        keys = Counter(one.key for one in of(run_dir, kind))
        assert set(keys.values()) <= {1}
    paid = Counter(one.evaluation.kernel_id for one in of(run_dir, Evaluated) if not one.number)
    assert set(paid.values()) == {1}


def test_kernels_in_the_inbox_are_evaluated_within_the_budget(tmp_path: Path) -> None:
    run_dir = put_in(tmp_path)
    put_in(tmp_path, name="again.hip", island=1)
    put_in(tmp_path, island=7)
    (run_dir / INBOX / "9.json").write_text("{}")
    run_campaign(config(tmp_path), workbench=quick_workbench())
    first, second = of(run_dir, Injected)
    assert (first.island, second.island) == (1, 1)  # a turn, and as it was asked for
    (drafted,) = [one for one in of(run_dir, Drafted) if one.origin == "injected"]
    assert (drafted.kernel_id, drafted.key) == (kernel_id(MINE), "i1/c0/s-1")
    assert drafted.key in {one.key for one in of(run_dir, Added)}
    whole = replay(run_dir / "store.sqlite")
    assert whole.scores.asked == 12 and drafted.kernel_id in whole.scores.evaluations
    (step,) = lineage(whole, drafted.kernel_id)
    assert what_made(step.drafted) == "injected: mine.hip"
    assert not list(waiting(run_dir))
    assert len(list((run_dir / INBOX / TAKEN).iterdir())) == 2
    assert len(list((run_dir / INBOX / REFUSED).iterdir())) == 2


@pytest.mark.parametrize("point", one_in(4, ["drafted", "put", "stored", "evaluated"]))
def test_a_kernel_survives_a_kill_at_every_point(tmp_path: Path, point: str) -> None:
    run_dir = put_in(tmp_path)
    run_campaign(config(tmp_path), workbench=quick_workbench())
    (taken,) = (run_dir / INBOX / TAKEN).iterdir()
    (event,) = of(run_dir, Injected)
    last: Event = event
    if point == "put":
        everything = [one.event for one in read_events(run_dir / "store.sqlite")]
        last = everything[everything.index(event) - 1]
    if point in ("put", "stored"):  # and it is still in the inbox
        taken.rename(run_dir / INBOX / taken.name)
    if point == "drafted":
        (last,) = [one for one in of(run_dir, Drafted) if one.slot < 0]
    if point == "evaluated":
        identity = kernel_id(MINE)
        (last,) = [one for one in of(run_dir, Evaluated) if one.key == f"{identity}/0"]
    cut_after(run_dir, last)
    resumed(run_dir, 14)
    check_once(run_dir)
    (added,) = [one for one in of(run_dir, Added) if one.slot < 0]
    assert added.kernel_id == kernel_id(MINE)
    assert len(of(run_dir, Injected)) == 1 and not list(waiting(run_dir))
    assert replay(run_dir / "store.sqlite").scores.asked == 14


def asking(folder: Path, base_url: str, **changes: Any) -> CampaignConfig:
    budgets = {"evaluations": 8, "tuning": 0}
    return scientist.config(folder, base_url, **{"budgets": budgets, **changes})


def of_the_idea(run_dir: Path) -> tuple[CycleStarted, list[Drafted], list[CallReplied]]:
    (started,) = [one for one in of(run_dir, CycleStarted) if one.idea]
    place = started.island, started.cycle
    drafted = [one for one in of(run_dir, Drafted) if (one.island, one.cycle) == place]
    replies = [one for one in of(run_dir, CallReplied) if (one.island, one.cycle) == place]
    return started, drafted, replies


def test_an_idea_is_tried_in_a_cycle_of_its_own(tmp_path: Path) -> None:
    run_dir = put_in(tmp_path, what="idea", name="idea.md", text=WORDS, island=1)
    with serving(Script(key=scientist.SECRET)) as server:
        run_campaign(asking(tmp_path, server.base_url), workbench=quick_workbench())
        prompts = [call.prompt for call in server.log if f"{WORDS}\n\nRubric" in call.prompt]
    (event,) = of(run_dir, Injected)
    started, (first, *_), replies = of_the_idea(run_dir)
    assert (started.island, started.operator, started.idea) == (1, IDEA, event.number)
    assert first.origin == "experiment" and first.experiment is not None
    assert (first.experiment.technique, first.experiment.description) == (BY_A_PERSON, WORDS)
    assert event.base_id == kernel_id(NAIVE) and first.parents == (event.base_id,)
    assert replies[0].request == f"{started.key}/s0/writer/0"
    assert len(prompts) == 1 and "nobody predicted" in prompts[0]
    assert rehearsed(run_dir, started)[0].prompt.messages[-1].content in prompts[0]


def rehearsed(run_dir: Path, started: CycleStarted) -> list[Request]:
    """What a stored cycle asks, made again."""
    store = run_dir / "store.sqlite"
    whole = replay(store)
    rehearsal = Rehearsal(
        whole=whole,
        outcomes=stored_outcomes(read_events(store)),
        config=parse_config(dict(whole.campaign.config), where="test"),
        task=load_task("sgemm"),
        device=INFO,
        island=started.island,
    )
    return rehearsal.cycle(started.cycle)


@pytest.mark.parametrize("point", one_in(4, ["stored", "answered", "begun", "drafted"]))
def test_an_idea_survives_a_kill_at_every_point(tmp_path: Path, point: str) -> None:
    run_dir = put_in(tmp_path, what="idea", name="idea.md", text=WORDS)
    with serving(Script(key=scientist.SECRET)) as server:
        run_campaign(asking(tmp_path, server.base_url), workbench=quick_workbench())
        (event,) = of(run_dir, Injected)
        started, (drafted, *_), (reply, *_) = of_the_idea(run_dir)
        points = {"stored": event, "begun": started, "answered": reply, "drafted": drafted}
        cut_after(run_dir, points[point])
        resumed(run_dir, 12)
    check_once(run_dir)
    started, (first, *_), replies = of_the_idea(run_dir)
    asked = Counter(one.request for one in replies)
    assert asked[f"{started.key}/s0/writer/0"] == 1
    if point in ("answered", "drafted"):
        assert first == drafted
    assert started.key in {one.key for one in of(run_dir, CycleFinished)}


class Person:
    """Lets a paused campaign go on, or ends it, once it was seen to rest for some looks."""

    def __init__(self, run_dir: Path, looks: int, *, ends: bool = False) -> None:
        self._run_dir, self._looks, self._ends = run_dir, looks, ends
        self.paused: list[Snapshot] = []

    def __call__(self, snapshot: Snapshot) -> None:
        if snapshot.paused_since is not None:
            self.paused.append(snapshot)
            if len(self.paused) == self._looks and self._ends:
                os.kill(os.getpid(), signal.SIGINT)
            elif len(self.paused) == self._looks:
                let_go_on(self._run_dir)


def test_a_paused_campaign_begins_nothing_and_goes_on(tmp_path: Path) -> None:
    run_dir = put_in(tmp_path)
    ask_to_pause(run_dir)
    person = Person(run_dir, looks=4)
    with serving(Script(key=scientist.SECRET)) as server:
        run_campaign(
            asking(tmp_path, server.base_url, operators=[{"kind": "llm"}, {"kind": "catalog"}]),
            workbench=quick_workbench(),
            observer=person,
        )
    assert len(person.paused) >= 4
    assert {one.evaluations for one in person.paused} == {1}  # the naive seed
    assert {one.calls.calls for one in person.paused if one.calls} == {0}
    assert {one.dispatcher.measuring for one in person.paused} == {0}
    assert [one.cycles for one in person.paused[-1].islands] == [0, 0]
    events = [one.event for one in read_events(run_dir / "store.sqlite")]
    kinds = [type(one) for one in events]
    assert kinds.count(Paused) == kinds.count(WentOn) == 1
    assert CycleStarted not in kinds[: kinds.index(WentOn)]
    assert replay(run_dir / "store.sqlite").scores.asked == 8


@pytest.mark.soak
def test_a_kill_in_a_pause_ends_it(tmp_path: Path) -> None:
    run_dir = put_in(tmp_path)
    ask_to_pause(run_dir)
    run_campaign(config(tmp_path), workbench=quick_workbench(), observer=Person(run_dir, looks=2))
    (paused,) = of(run_dir, Paused)
    cut_after(run_dir, paused)
    ask_to_pause(run_dir)
    assert replay(run_dir / "store.sqlite").sessions[-1].paused_at is not None
    resumed(run_dir, 12)
    whole = replay(run_dir / "store.sqlite")
    assert whole.scores.asked == 12 and whole.sessions[-1].paused_at is None
    assert len(of(run_dir, Paused)) == 1


def test_a_pause_is_no_wall_time(tmp_path: Path) -> None:
    """It lasts longer than the budget, which is spent after it."""
    run_dir = put_in(tmp_path)
    ask_to_pause(run_dir)
    person = Person(run_dir, looks=10)
    budgets = {"evaluations": 300, "wall_time_s": 2.0}
    run_campaign(config(tmp_path, budgets=budgets), workbench=quick_workbench(), observer=person)
    rested_s = replay(run_dir / "store.sqlite").sessions[0].rested_s
    assert rested_s > 2.0
    assert replay(run_dir / "store.sqlite").scores.asked > 1
    assert {one.seconds_left for one in person.paused if one.seconds_left == 0} == set()


def test_ctrl_c_ends_a_paused_campaign_in_order(tmp_path: Path) -> None:
    run_dir = put_in(tmp_path)
    ask_to_pause(run_dir)
    person = Person(run_dir, looks=3, ends=True)
    with serving(Script(key=scientist.SECRET)) as server:
        chosen = asking(tmp_path, server.base_url, operators=[{"kind": "llm"}, {"kind": "catalog"}])
        summary = run_campaign(chosen, workbench=quick_workbench(), observer=person)
        assert summary.ended == "interrupted" and server.calls == 0
        assert replay(run_dir / "store.sqlite").scores.asked == 1
        resumed(run_dir, 8)
    check_once(run_dir)
    assert kernel_id(MINE) in replay(run_dir / "store.sqlite").scores.evaluations


def test_a_campaign_begins_with_the_best_of_another(tmp_path: Path) -> None:
    run_campaign(config(tmp_path, budgets={"evaluations": 40}), workbench=quick_workbench())
    earlier = replay(tmp_path / "it" / "store.sqlite")
    warm = config(tmp_path, "warm", start_from=str(tmp_path / "it"))
    run_campaign(warm, workbench=quick_workbench())
    run_dir = tmp_path / "warm"
    carried = [one for one in of(run_dir, Drafted) if one.origin == "carried"]
    assert 2 <= len(carried) <= MOST
    best = earlier.scores.best
    assert best is not None and carried_ids(carried)[0] == best.kernel_id
    assert set(carried_ids(carried)) <= set(earlier.first_drafts)
    assert {one.island for one in carried} == {0, 1}
    assert f"{best.kernel_id[:12]} of it" in what_made(carried[0])
    whole = replay(run_dir / "store.sqlite")
    assert whole.scores.asked == 12 and best.kernel_id in whole.scores.evaluations
    cut_after(run_dir, carried[0])
    resumed(run_dir, 14)
    check_once(run_dir)
    assert set(carried_ids(carried)) == {
        one.kernel_id for one in of(run_dir, Drafted) if one.origin == "carried"
    }


def carried_ids(drafts: Sequence[Drafted]) -> list[str]:
    return [one.kernel_id for one in sorted(drafts, key=lambda one: -one.slot)]


def test_a_warm_start_needs_a_campaign_for_the_same_task(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"start_from: .*: no campaign is here"):
        run_campaign(config(tmp_path, start_from=str(tmp_path / "none")))
    run_campaign(config(tmp_path, budgets={"evaluations": 1}), workbench=quick_workbench())
    with pytest.raises(ConfigError, match="nothing to carry"):
        run_campaign(config(tmp_path, "second", start_from=str(tmp_path / "it")))
    with pytest.raises(ConfigError, match="for the task sgemm, and this one is for softmax"):
        run_campaign(config(tmp_path, "third", task="softmax", start_from=str(tmp_path / "it")))
    assert not (tmp_path / "third").exists()
