"""Tests of the store: one writer, nothing twice, nothing lost that was acknowledged."""

import math
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from engine.store import events
from engine.store.events import Event, Row, from_row, to_row
from engine.store.kinds import sessions
from engine.store.store import Store, StoreError, decode, find_draft, read_events
from evaluators.evaluation import Evaluation
from operators.individual import Candidate, Experiment
from operators.operator import Design, Selection
from tests.engine.conftest import evaluation_of

EXPERIMENT = Experiment(
    technique="tiles",
    description="tile a and b in LDS",
    rubric="load a tile, barrier, multiply",
    performance=(10.0, 250.0),
    innovation=40,
    params={"BM": 64, "names": ["a", "b"]},
)
DRAFTED = events.Drafted(
    island=1,
    cycle=2,
    slot=0,
    kernel_id="k1",
    candidate=Candidate.from_source("the text of k1"),
    origin="experiment",
    parents=("k0",),
    experiment=EXPERIMENT,
    report="did all of it",
)
PASSED = replace(
    evaluation_of("k1", {"M=1": 12.5, "M=2": 25.0}),
    blocks={"M=1": (0.5, 0.25), "M=2": (0.125,)},
    errors={"M=1/c": 0.75},
    resources=({"kernel": "gemm", "vgprs": 32},),
    seconds={"compile": 0.5, "device": 1.25},
)
EVENTS: list[Event] = [
    sessions.CampaignStarted(
        config={"task": "sgemm", "islands": {"count": 2}},
        task_hash="t",
        baseline_id="k0",
        versions={"python": "3.11"},
    ),
    sessions.SessionStarted(
        number=0,
        began_at=1.5,
        budgets={"evaluations": 5},
        device="d",
        device_class="c",
        devices=2,
        stop={"speedup": 20.0, "plateau": None},
    ),
    sessions.ForecastMade(
        number=0,
        text="5 evaluations will take about 10 calls",
        evaluations=(5.0, 5.0, 5.0),
        calls=(10.0, 8.0, 12.0),
        tokens=(9e4, 7e4, 2e5),
        dollars=None,
        first="evaluations",
    ),
    events.CycleStarted(island=1, cycle=2, operator="experiment", tournament=("k0", "k9")),
    events.Selected(
        island=1,
        cycle=2,
        selection=Selection(
            base_id="k0", reference_id="k9", rationale="best on M=1", decided_by="tournament"
        ),
    ),
    events.Designed(
        island=1, cycle=2, design=Design(avenues=("tiles", "waves"), experiments=(EXPERIMENT,))
    ),
    DRAFTED,
    events.Evaluated(evaluation=PASSED, verified=True),
    events.Evaluated(evaluation=evaluation_of("k2", {})),
    events.Added(island=1, cycle=2, slot=0, kernel_id="k1", status="NEW"),
    events.CycleFinished(island=1, cycle=2, duplicates=1, declined=("nothing to cross",)),
    events.Migrated(island=0, source=1, round=3, drafts=("i1/c2/s0",)),
    events.EpochStarted(number=1, anchor_id="k1", link={"M=1": (0.5, 0.5)}),
    events.Fault(session=0, number=1, where="device 0", message="ended", kernel_id="k1"),
    sessions.SearchStarted(number=0),
    sessions.DevicesWatched(
        number=0, count=3, busy_s={"candidates": 2.5}, idle_s={"waiting for models": 0.5}
    ),
    sessions.NodesChanged(number=0, count=1, nodes={"a": 2, "b": 0}),
    sessions.SearchEnded(number=0, reason="interrupted"),
    sessions.SessionFinished(number=0, reason="interrupted"),
    sessions.Restored(source="/shared/it.sqlite", seq=9, last_at=12.5, at=99.0),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


def rows(*chosen: Event) -> list[Row]:
    return [to_row(event) for event in chosen]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.kind)
def test_an_event_comes_back_as_it_went(event: Event) -> None:
    kind, _, _, _, body = to_row(event)
    assert from_row(kind, body) == event


def test_every_kind_is_tested_here() -> None:
    here = {events.__name__, sessions.__name__}  # those of other modules have their own tests
    own = {name for name, kind in events.KINDS.items() if kind.__module__ in here}
    assert {event.kind for event in EVENTS} == own


def test_events_come_back_in_order(path: Path) -> None:
    with Store(path) as store:
        store.append(rows(*EVENTS[:3]))
        store.append(rows(*EVENTS[3:]))
        assert [one.event for one in decode(store.read(limit=100))] == EVENTS
        assert [one.event for one in decode(store.read(after=2, limit=2))] == EVENTS[2:4]
        assert [stored.event for stored in read_events(path)] == EVENTS  # beside the writer
    numbers = [stored.seq for stored in read_events(path)]
    assert numbers == sorted(numbers)


def test_appending_twice_adds_once(path: Path) -> None:
    with Store(path) as store:
        store.append(rows(DRAFTED))
        store.append(rows(replace(DRAFTED, report="another"), EVENTS[0]))
    assert [stored.event for stored in read_events(path)] == [DRAFTED, EVENTS[0]]


def test_one_kernel_has_many_measurements(path: Path) -> None:
    again = events.Evaluated(evaluation=PASSED, number=1)
    with Store(path) as store:
        store.append(rows(events.Evaluated(evaluation=PASSED), again))
    assert len(list(read_events(path))) == 2


def test_a_second_writer_is_turned_away(path: Path) -> None:
    with Store(path), pytest.raises(StoreError, match="another process is running"):
        Store(path, lock_wait_s=0)
    Store(path, lock_wait_s=0).close()


def test_views_show_individuals_to_people(path: Path) -> None:
    with Store(path) as store:
        store.append(rows(*EVENTS))
    connection = sqlite3.connect(path)
    query = "SELECT kernel_id, origin, technique, status, speedup FROM individuals"
    assert connection.execute(query).fetchall() == [
        ("k1", "experiment", "tiles", "PASSED", PASSED.speedup)
    ]
    query = "SELECT status, reason FROM evaluations WHERE kernel_id = 'k2'"
    assert connection.execute(query).fetchall() == [("WRONG", "c[0] is 1.0, expected 2.0")]
    assert connection.execute("SELECT place FROM faults").fetchall() == [("device 0",)]
    connection.close()


def test_a_kernels_text_is_found(path: Path) -> None:
    with Store(path) as store:
        store.append(rows(DRAFTED))
    found = find_draft(path, "k1")
    assert found == DRAFTED and found.candidate.source == "the text of k1"
    assert find_draft(path, "k7") is None


def test_what_is_no_store_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such store"):
        list(read_events(tmp_path / "none.sqlite"))
    odd = tmp_path / "odd.sqlite"
    odd.write_text("not a database, and long enough to be read as one" * 100)
    with pytest.raises(StoreError, match="not a campaign's store"):
        list(read_events(odd))


WRITER = """
import sys
from pathlib import Path
from engine.store.events import Fault, to_row
from engine.store.store import Store
store = Store(Path(sys.argv[1]))
number = 0
while True:
    batch = [Fault(session=0, number=number + i, where="w", message="m" * 500) for i in range(7)]
    store.append([to_row(event) for event in batch])
    number += 7
    print(number, flush=True)
"""


def test_a_killed_writer_loses_nothing_acknowledged(path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    acknowledged = [int(next(child.stdout)) for _ in range(20)]
    child.send_signal(signal.SIGKILL)
    acknowledged += [int(line) for line in child.stdout]
    child.wait()
    stored = [one.event for one in read_events(path)]
    assert len(stored) >= acknowledged[-1]
    assert len(stored) % 7 == 0  # a batch is there as a whole or not at all
    with Store(path, lock_wait_s=0) as store:  # the lock went with the process
        store.append(rows(DRAFTED))


@pytest.mark.parametrize("error", [math.inf, math.nan])
def test_an_infinite_error_is_stored_as_the_largest(path: Path, error: float) -> None:
    odd = replace(PASSED, errors={"M=1/c": error}, log="Infinity, NaN")
    with Store(path) as store:
        store.append(rows(events.Evaluated(evaluation=odd)))
    (stored,) = read_events(path)
    assert isinstance(stored.event, events.Evaluated)
    assert stored.event.evaluation == replace(odd, errors={"M=1/c": sys.float_info.max})
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT status FROM evaluations").fetchall() == [("PASSED",)]
    connection.close()


def test_evaluations_equal_after_the_store(path: Path) -> None:
    with Store(path) as store:
        store.append(rows(events.Evaluated(evaluation=PASSED)))
    (stored,) = read_events(path)
    assert isinstance(stored.event, events.Evaluated)
    assert isinstance(stored.event.evaluation, Evaluation)
    assert stored.event.evaluation == PASSED


def test_a_store_at_rest_is_read_from_a_folder_that_can_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.append([to_row(event) for event in EVENTS])
    there = sorted(tmp_path.iterdir())
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    assert [one.event for one in read_events(path)] == EVENTS
    assert sorted(tmp_path.iterdir()) == there


def test_a_locked_store_is_called_locked(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.append([to_row(event) for event in EVENTS])
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="another program keeps this store locked"):
            list(read_events(path))
