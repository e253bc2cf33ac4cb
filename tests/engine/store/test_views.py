"""The store's views for people: a line a row, and in stores of earlier versions too."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engine.store import events
from engine.store.events import Event, to_row
from engine.store.kinds.calls import CallEvent, CallFailed, CallReplied, CallReserved, TurnedAway
from engine.store.store import Store
from operators.individual import Candidate, Experiment
from operators.llm.question import Failure, Reply
from operators.operator import Design, Selection
from tests.engine.conftest import evaluation_of

SOURCE = "".join(f"line {number} of many\n" for number in range(300))
EXPERIMENT = Experiment(
    technique="tiles",
    description="tile a and b in LDS",
    rubric="load a tile, barrier, multiply",
    performance=(10.0, 250.0),
    innovation=40,
)


def drafted(kernel_id: str, *parents: str, cycle: int = 1, island: int = 0) -> Event:
    return events.Drafted(
        island=island,
        cycle=cycle,
        slot=0,
        kernel_id=kernel_id,
        candidate=Candidate.from_source(f"// {kernel_id}\n{SOURCE}"),
        origin="experiment" if parents else "seed",
        parents=parents,
        experiment=EXPERIMENT if parents else None,
        report=f"made {kernel_id}",
    )


def of_kernels() -> Iterator[Event]:
    """seed -> tile -> wide, which two islands drafted, the second one from the seed."""
    yield drafted("seed", cycle=0)
    yield events.Evaluated(evaluation=evaluation_of("seed", {"M=1": 100.0}))
    yield drafted("tile", "seed", cycle=1)
    yield events.Evaluated(evaluation=evaluation_of("tile", {"M=1": 50.0}))
    yield drafted("wide", "tile", "seed", cycle=2)
    yield drafted("wide", "seed", cycle=2, island=1)
    yield events.Evaluated(evaluation=evaluation_of("wide", {"M=1": 25.0}))
    yield events.Evaluated(evaluation=evaluation_of("wide", {"M=1": 26.0}), number=1)


def reserved(number: int) -> CallReserved:
    return CallReserved(
        island=0,
        cycle=1,
        request="i0/c1/s0",
        number=number,
        role="writer",
        model="steady",
        prompt_hash="p",
        template="t",
        tokens=900,
        dollars=0.5,
    )


def of_calls() -> Iterator[CallEvent]:
    """One that failed, one that was answered and turned away, one in flight."""
    of: dict[str, Any] = {"island": 0, "cycle": 1, "request": "i0/c1/s0"}
    yield reserved(0)
    yield CallFailed(
        number=0,
        failure=Failure.TIMEOUT,
        reason="no reply in 60 s",
        tokens=900,
        dollars=0.5,
        **of,
    )
    yield reserved(1)
    reply = Reply(
        text="...",
        finish="stop",
        model="m",
        prompt_tokens=100,
        completion_tokens=20,
        latency_s=2.5,
        dollars=0.25,
    )
    yield CallReplied(number=1, reply=reply, **of)
    yield TurnedAway(failure=Failure.PROSE_ONLY, reason="no kernel in it", **of)
    yield reserved(2)


def of_decisions() -> Iterator[Event]:
    chosen = Selection(
        base_id="tile", reference_id="seed", rationale="best on M=1", decided_by="tournament"
    )
    yield events.Selected(island=0, cycle=2, selection=chosen)
    yield events.Designed(
        island=0, cycle=2, design=Design(avenues=("tiles",), experiments=(EXPERIMENT, EXPERIMENT))
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    with Store(path) as opened:
        opened.append([to_row(one) for one in (*of_kernels(), *of_calls(), *of_decisions())])
    return path


def asked(path: Path, query: str) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(query)]


def views(path: Path) -> list[str]:
    rows = asked(path, "SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name")
    return [row["name"] for row in rows]


def test_no_view_but_sources_prints_a_kernels_text(store: Path) -> None:
    for view in views(store):
        rows = asked(store, f"SELECT * FROM {view}")
        assert ("line 7 of many" in str(rows)) == (view == "sources"), view
    texts = {row["kernel_id"]: row["source"] for row in asked(store, "SELECT * FROM sources")}
    assert texts.keys() == {"seed", "tile", "wide"}
    assert texts["wide"].startswith("// wide\nline 0")


def test_an_individual_is_one_line_also_with_a_compilers_log(store: Path) -> None:
    with Store(store) as opened:
        failed = evaluation_of("bad", {})
        object.__setattr__(failed, "reason", "kernel.hip:3: error\n  int i\n      ^")
        opened.append([to_row(drafted("bad", "seed", cycle=3))])
        opened.append([to_row(events.Evaluated(evaluation=failed))])
    query = "SELECT * FROM individuals WHERE kernel_id = 'bad'"
    (bad,) = asked(store, query)
    assert bad["reason"] == "kernel.hip:3: error"
    (bad,) = asked(store, query.replace("individuals", "evaluations"))
    assert bad["reason"].endswith("^")


def test_a_lineage_follows_the_bases_of_first_drafts(store: Path) -> None:
    query = "SELECT * FROM lineage WHERE kernel_id = 'wide'"
    steps = asked(store, query)
    assert [(s["step"], s["ancestor_id"], s["speedup"]) for s in steps] == [
        (2, "seed", 1.0),
        (1, "tile", 2.0),
        (0, "wide", pytest.approx(50 / 13)),  # measured again
    ]
    assert [s["technique"] for s in steps] == [None, "tiles", "tiles"]


def test_calls_say_who_was_asked_what_it_took_and_what_came_of_it(store: Path) -> None:
    calls = asked(store, "SELECT * FROM calls ORDER BY number")
    assert {(c["role"], c["model"]) for c in calls} == {("writer", "steady")}
    told = [(c["outcome"], c["tokens"], c["latency_s"], c["dollars"]) for c in calls]
    assert told == [
        ("timeout", 900, None, 0.5),
        ("replied", 120, 2.5, 0.25),
        ("in flight", 900, None, 0.5),
    ]
    assert calls[1]["turned_away"] == "no kernel in it"


def test_selections_and_designs_are_rows(store: Path) -> None:
    (selection,) = asked(store, "SELECT * FROM selections")
    assert selection["base_id"] == "tile" and selection["decided_by"] == "tournament"
    designs = asked(store, "SELECT * FROM designs ORDER BY place")
    assert [(one["place"], one["technique"], one["high"]) for one in designs] == [
        (0, "tiles", 250.0),
        (1, "tiles", 250.0),
    ]


OLD_VIEWS = {
    # As commit 20edbf1 made them: with sources, and none of the newer ones.
    "drafts": "SELECT json_extract(body, '$.kernel_id') AS kernel_id, "
    """json_extract(body, '$.candidate.files."kernel.hip"') AS source """
    "FROM events WHERE kind = 'drafted'",
    "individuals": "SELECT kernel_id, source FROM drafts",
}


def make_old(path: Path, old: Mapping[str, str]) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for view in views(path):
            connection.execute(f"DROP VIEW {view}")
        for name, query in old.items():
            connection.execute(f"CREATE VIEW {name} AS {query}")
        connection.execute("PRAGMA user_version = 0")
        connection.commit()


def test_an_older_store_gets_todays_views_when_its_campaign_goes_on(store: Path) -> None:
    today = views(store)
    make_old(store, OLD_VIEWS)
    assert views(store) == ["drafts", "individuals"]
    before = asked(store, "SELECT * FROM events")
    Store(store).close()
    assert views(store) == today
    assert len(asked(store, "SELECT * FROM lineage WHERE kernel_id = 'wide'")) == 3
    assert asked(store, "SELECT * FROM events") == before


def test_views_are_left_alone_where_they_are_todays(store: Path) -> None:
    """A reader's statements stay valid: the schema does not change at each resumption."""
    (before,) = asked(store, "PRAGMA schema_version")
    Store(store).close()
    (after,) = asked(store, "PRAGMA schema_version")
    assert before == after
