"""Calls of models in the report: by role, and no other sums than the summary's."""

from pathlib import Path

from engine.history.history import read_history
from engine.report.models import costs_of
from engine.report.report import write_report
from engine.store.events import Event
from engine.store.kinds.calls import CallFailed, CallReplied, CallReserved, GivenUp, TurnedAway
from engine.store.kinds.sessions import SessionStarted
from operators.llm.question import Failure, Reply, Role
from tests.engine import campaign_log as log
from tests.engine.report.page_reader import PageReader


def reserved(number: int, role: Role) -> CallReserved:
    return CallReserved(
        island=0,
        cycle=1,
        request=f"i0/c1/{role}",
        number=number,
        role=role,
        model="main",
        prompt_hash="",
        template="",
        tokens=1000,
        dollars=1.0,
    )


def replied(number: int, role: Role, latency_s: float) -> CallReplied:
    reply = Reply(
        text="it",
        finish="stop",
        model="m",
        prompt_tokens=300,
        completion_tokens=20,
        latency_s=latency_s,
        dollars=0.25,
    )
    return CallReplied(island=0, cycle=1, request=f"i0/c1/{role}", number=number, reply=reply)


def failed(number: int, role: Role, failure: Failure) -> CallFailed:
    return CallFailed(
        island=0,
        cycle=1,
        request=f"i0/c1/{role}",
        number=number,
        failure=failure,
        reason="no",
        tokens=500,
        dollars=0.5,
    )


def calls() -> list[Event]:
    turned = TurnedAway(
        island=0, cycle=1, request="i0/c1/writer", failure=Failure.PROSE_ONLY, reason="prose"
    )
    given_up = GivenUp(
        island=0, cycle=1, request="i0/c1/designer", failure=Failure.TIMEOUT, reason="late"
    )
    return [
        reserved(0, "writer"),
        replied(0, "writer", 2.0),
        turned,
        reserved(1, "writer"),
        replied(1, "writer", 4.0),
        reserved(0, "designer"),
        failed(0, "designer", Failure.TIMEOUT),
        given_up,
        reserved(0, "selector"),
        failed(0, "selector", Failure.UNREACHABLE),
        reserved(1, "selector"),  # in flight at the kill
    ]


def test_the_sum_is_the_summarys(tmp_path: Path) -> None:
    store = tmp_path / "runs" / "short" / "store.sqlite"
    opening = [*log.opening(log.config(tmp_path))]
    again = next(one for one in opening if isinstance(one, SessionStarted))
    started = SessionStarted(
        number=1,
        began_at=again.began_at + 9,
        budgets=again.budgets,
        device=again.device,
        device_class=again.device_class,
        devices=1,
    )
    log.write(store, [*opening, *calls(), started])
    history = read_history(store)
    *rows, total = costs_of(history.calls)
    spending = history.replay.calls.totals.spending()
    assert (total.calls, total.replies) == (spending.calls, spending.replies) == (4, 2)
    tokens = total.prompt_tokens + total.completion_tokens + total.other_tokens
    assert tokens == spending.tokens == 640 + 500 + 1000
    assert total.dollars == spending.dollars == 2.0
    by_role = {row.role: row for row in rows}
    assert by_role["writer"].latency_s == 3.0
    assert dict(by_role["writer"].failures) == {"prose only": 1}
    assert dict(by_role["designer"].failures) == {"timeout": 1, "questions given up": 1}
    assert dict(by_role["selector"].failures) == {"unreachable": 1, "lost in kills": 1}
    page = PageReader.of(write_report(history, store.parent, state="killed", made_at=0.0))
    assert "4 calls of models (2.00 dollars)" in page.text
    assert "writer main 2 2 600 40 0 0.50 3 s 1 prose only" in page.text
    assert "dollars for models" in (store.parent / "plots" / "best_so_far.svg").read_text()
