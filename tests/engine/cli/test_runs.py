"""The list of campaigns: what a line says is what a replay says, and a broken folder has one."""

import json
import os
import shutil
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main as cli
from engine.history.campaigns import state_of
from engine.history.glance import glance
from engine.store.events import Evaluated, Event
from engine.store.kinds.calls import CallFailed, CallReplied, CallReserved
from engine.store.kinds.contests import Contested, FinalMeasurement
from engine.store.kinds.sessions import SessionStarted
from engine.store.replay import replay
from engine.store.store import driving
from engine.store.summary import write_results
from operators.llm.question import Failure, Reply
from tests.engine import campaign_log as log


def put(folder: Path, name: str, events: Sequence[Event]) -> Path:
    """A campaign's store."""
    store = folder / name / "store.sqlite"
    log.write(store, events)
    return store


def whole_log(folder: Path, **changes: Any) -> list[Event]:
    return [*log.opening(log.config(folder, **changes)), *log.middle(), *log.ending()]


def won(number: int, kernel_id: str, rival_id: str, speedup: float) -> Contested:
    return Contested(
        number=number,
        kernel_id=kernel_id,
        rival_id=rival_id,
        why="contender",
        outcome="won",
        ratio=(2.0, 1.9, 2.1),
        gains=dict.fromkeys(log.LABELS, 0.7),
        speedup=speedup,
        ci95=(0.8 * speedup, 1.2 * speedup),
        ci99=(0.7 * speedup, 1.3 * speedup),
        sittings=2,
    )


def unverified(events: Sequence[Event]) -> list[Event]:
    """As today, where only the naive seed is the best without a contest."""
    return [
        replace(one, verified=one.evaluation.kernel_id == "seed")
        if isinstance(one, Evaluated)
        else one
        for one in events
    ]


def shown(*arguments: str | Path) -> int:
    return cli.main(["runs", *map(str, arguments)])


def logs(folder: Path) -> dict[str, list[Event]]:
    whole = whole_log(folder)
    contested = unverified(whole[:-1])
    contested += [won(0, "tile", "seed", 2.9), won(1, "wide", "tile", 5.5)]
    again = Evaluated(evaluation=log.evaluation("wide", None), number=1)
    final = FinalMeasurement(
        number=0, kernel_id="wide", speedup=5.1, ci95=(5.0, 5.2), ci99=(4.9, 5.3), sittings=3
    )
    lost = replace(won(1, "wide", "tile", 5.5), outcome="not shown", speedup=None)
    return {
        "of before contests": whole,
        "only started": whole[:1],
        "killed at its start": whole[:2],
        "contested": contested,
        "a verdict that was revised": [*contested, again],
        "one that lost": [*contested[:-1], lost],
        "measured at the end": [*contested, final, *log.ending()],
        "resumed": [*contested, replace(_session(whole), number=1)],
    }


def _session(events: Sequence[Event]) -> SessionStarted:
    return next(one for one in events if isinstance(one, SessionStarted))


@pytest.mark.parametrize("kind", list(logs(Path("/"))))
@pytest.mark.parametrize("summarised", [False, True])
def test_a_glance_says_what_a_replay_says(kind: str, summarised: bool, tmp_path: Path) -> None:
    store = put(tmp_path, "one", logs(tmp_path)[kind])
    whole = replay(store)
    if summarised:
        write_results(whole, store.parent)
    seen, best = glance(store), whole.scores.best
    assert (seen.best and seen.best.kernel_id) == (best and best.kernel_id)
    assert (seen.best and seen.best.speedup) == (best and best.speedup)
    assert (seen.best and seen.best.ci95) == (best and best.ci95)
    assert seen.evaluations == whole.scores.by_status.total()
    assert seen.state == state_of(whole, store)
    assert (seen.ended or "killed") == whole.ended


def test_a_summary_of_an_earlier_session_is_not_believed(tmp_path: Path) -> None:
    store = put(tmp_path, "one", whole_log(tmp_path))
    write_results(replay(store), store.parent)
    summary = store.with_name("summary.json")
    values = json.loads(summary.read_text())
    values["best"]["speedup"] = 99.0
    summary.write_text(json.dumps(values))
    best = glance(store).best
    assert best is not None and best.speedup == 99.0  # as long as nothing came after it
    os.utime(summary, (1.7e9, 1.7e9))
    best = glance(store).best
    assert best is not None and best.speedup == 6.0


def test_dollars_are_those_of_a_replay(tmp_path: Path) -> None:
    model = {"model": "m", "dollars_per_million_prompt": 1.0}
    llm = {"models": {"main": model}}
    events = whole_log(tmp_path, llm=llm)[:2]
    common: dict[str, Any] = {"island": 0, "cycle": 1, "number": 0}
    for number in range(3):
        reserved = CallReserved(
            **common,
            request=f"q{number}",
            role="writer",
            model="main",
            prompt_hash="",
            template="",
            tokens=100,
            dollars=0.25,
        )
        events.append(reserved)
    reply = Reply(
        text="",
        model="m",
        prompt_tokens=1,
        completion_tokens=1,
        finish="stop",
        latency_s=1.0,
        dollars=0.125,
    )
    failed = CallFailed(
        **common, request="q1", failure=Failure.TIMEOUT, reason="", tokens=1, dollars=0.5
    )
    events += [CallReplied(**common, request="q0", reply=reply), failed]
    events.append(replace(_session(events), number=1))  # what was in flight was lost with it
    store = put(tmp_path, "one", events)
    assert glance(store).dollars == replay(store).calls.totals.spending().dollars == 0.875


def test_a_process_that_runs_a_campaign_is_seen_before_it_stores_anything(tmp_path: Path) -> None:
    store = put(tmp_path, "one", whole_log(tmp_path)[:1])
    assert glance(store).state == "killed"
    with driving(store):
        assert glance(store).state == "starting"
        log.write(store, whole_log(tmp_path)[1:-1])
        assert glance(store).state == "running"
        log.write(store, whole_log(tmp_path))
        assert glance(store).state == "running"  # it tells MLflow the rest
    assert glance(store).state == "ended"
    with driving(store):
        os.utime(store.with_name("store.sqlite.driver"), (4e9, 4e9))  # later than its last event
        assert glance(store).state == "starting"


def test_the_newest_is_first_and_what_is_broken_has_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    older = put(tmp_path, "older", whole_log(tmp_path))
    put(tmp_path, "newer", whole_log(tmp_path)[:-1])
    with sqlite3.connect(older) as connection:
        connection.execute("UPDATE events SET at = at - 1000")
    connection.close()
    for name, content in (("text", b"this is no database" * 300), ("empty", b"")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "store.sqlite").write_bytes(content)
    shutil.copytree(tmp_path / "older", tmp_path / "later")
    with sqlite3.connect(tmp_path / "later" / "store.sqlite") as connection:
        connection.execute("UPDATE events SET kind = 'of_a_later_version' WHERE seq = 1")
    connection.close()
    assert shown(tmp_path) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "state", "task", "backend", "best", "evaluations", "began",
                            "last", "event"]  # fmt: skip
    assert [line.split()[:2] for line in lines[:2]] == [["newer", "killed"], ["older", "ended"]]
    assert "6.00x [5.40, 6.60] wide" in lines[0] and " 4 " in lines[0]
    assert sorted(line.partition(":")[0] for line in lines[2:]) == ["empty", "later", "text"]
    assert all("can't be read" in line for line in lines[2:])

    assert shown(tmp_path, "--json") == 0
    told = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert (told["newer"]["best"]["id"], told["newer"]["best"]["speedup"]) == ("wide", 6.0)
    assert told["newer"]["best"]["ci95"] == pytest.approx([5.4, 6.6])
    assert (told["older"]["state"], told["older"]["ended"]) == ("ended", "evaluations spent")
    assert told["text"]["error"]


def test_a_folder_without_campaigns_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shown(tmp_path) == 0
    assert "no campaign is in" in capsys.readouterr().out
    assert shown(tmp_path, "--json") == 0
    assert json.loads(capsys.readouterr().out) == []
    assert shown(tmp_path / "none") == 2
    assert "no such folder" in capsys.readouterr().err


def test_a_campaigns_own_folder_is_listed_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, "one", whole_log(tmp_path))
    assert shown(tmp_path / "one") == 0
    assert capsys.readouterr().out.splitlines()[1].split()[0] == "one"
