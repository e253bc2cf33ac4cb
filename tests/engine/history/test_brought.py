"""What was brought into a campaign, and what its log says became of it."""

from pathlib import Path
from typing import Any

from engine.history.brought import LEFT, UNDER_WAY, Brought, brought_into, counted
from engine.store.events import Added, CycleFinished, CycleStarted, Drafted, Evaluated, Event
from engine.store.kinds.sessions import SessionFinished
from engine.store.kinds.steering import Injected
from engine.store.replay import Replay, replay
from evaluators.kernel.source import kernel_id
from operators.individual import Candidate
from tests.engine import campaign_log as log

TEXT = "/*---\nparams: {}\n---*/\n// mine\n"
IDEA = Injected(
    number=1, island=0, what="idea", name="i.md", text="Try.", base_id="seed", entry="1.json"
)
BEGUN = CycleStarted(island=0, cycle=1, operator="idea", tournament=("seed",), idea=1)


def told(folder: Path, *events: Event) -> Replay:
    store = folder / "short" / "store.sqlite"
    log.write(store, [*log.opening(log.config(folder)), *events])
    return replay(store)


def kernel(number: int, entry: str) -> Injected:
    return Injected(number=number, island=0, what="kernel", name="a", text=TEXT, entry=entry)


def outcome(folder: Path, *events: Event) -> Brought:
    (only,) = brought_into(told(folder, *events))
    return only


def test_a_kernel_has_the_verdict_on_its_id(tmp_path: Path) -> None:
    assert not outcome(tmp_path, kernel(1, "1.json")).settled
    measured = log.evaluation(kernel_id(TEXT), 2.0)
    found = outcome(tmp_path, kernel(1, "1.json"), Evaluated(evaluation=measured))
    assert found.settled and found.evaluation == measured


def test_what_a_campaign_that_ended_did_not_come_to_waits_for_the_next_session(
    tmp_path: Path,
) -> None:
    ended = SessionFinished(number=0, reason="the evaluations are spent")
    for folder, brought in ((tmp_path / "a", IDEA), (tmp_path / "b", kernel(1, "1.json"))):
        found = outcome(folder, brought, ended)
        assert found.why == LEFT and not found.settled


def test_of_an_idea_the_last_kernel_counts(tmp_path: Path) -> None:
    assert outcome(tmp_path, IDEA, BEGUN).why == UNDER_WAY
    lives: list[Event] = []
    for slot, (name, speedup) in enumerate((("broken", None), ("mended", 3.0))):
        candidate = Candidate.from_source(name)
        place: dict[str, Any] = {"island": 0, "cycle": 1, "slot": 1000 * slot, "kernel_id": name}
        lives += [
            Drafted(**place, candidate=candidate, origin="experiment", parents=("seed",)),
            Evaluated(evaluation=log.evaluation(name, speedup)),
            Added(**place, status="NEW"),
        ]
    found = outcome(tmp_path, IDEA, BEGUN, *lives, CycleFinished(island=0, cycle=1))
    assert found.kernel_id == "mended" and found.evaluation is not None
    assert found.evaluation.speedup == 3.0


def test_an_idea_that_came_to_nothing_says_why(tmp_path: Path) -> None:
    declined = CycleFinished(island=0, cycle=1, declined=("writer: no",))
    found = outcome(tmp_path, IDEA, BEGUN, declined)
    assert found.settled and found.why == "the model wrote no kernel for it: writer: no"
    known = CycleFinished(island=0, cycle=1, duplicates=1)
    other = outcome(tmp_path / "other", IDEA, BEGUN, known)
    assert "knew already" in other.why


def test_what_was_brought_is_counted_by_where_it_came_from(tmp_path: Path) -> None:
    whole = told(tmp_path, IDEA, kernel(2, "2.json"), kernel(3, ""), kernel(4, ""))
    assert counted(whole) == "1 injected idea, 1 injected kernel, 2 carried kernels"
    assert counted(told(tmp_path / "other")) == ""
