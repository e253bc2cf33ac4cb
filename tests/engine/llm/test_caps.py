"""Budgets of calls under attack: many at once, any sizes, failures, kills, endless replies."""

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.llm.config import LlmModel
from engine.store.kinds.calls import CallEvent, CallFailed, CallReplied, CallReserved
from engine.store.spending import CallBudget, SpendingTotals
from operators.llm.question import Failure, Reply
from scripts.scripted_model.faults import CALL_FAULTS
from scripts.scripted_model.server import Script, ScriptedServer
from tests.engine.call_log import MemoryJournal, gateway, history, question

LIMITS = st.sampled_from(
    [CallBudget(calls=9), CallBudget(tokens=9000), CallBudget(dollars=0.07), CallBudget()]
)


def of_any_length(seed: int) -> Callable[[Any, int], str]:
    """Up to the 1000 tokens that a model of the tests may write, at four characters each."""
    return lambda messages, number: "x" * random.Random(f"{seed}/{number}").randint(1, 4000)


def within(events: Sequence[CallEvent], budget: CallBudget) -> bool:
    """Whether a kill after these events leaves no more spent than the budget allows."""
    past = history(events)
    past.totals.write_off()
    spent = past.totals.spending()
    return all(
        limit is None or used <= limit + 1e-9
        for used, limit in (
            (spent.calls, budget.calls),
            (spent.tokens, budget.tokens),
            (spent.dollars, budget.dollars),
        )
    )


@settings(max_examples=15)
@given(
    budget=LIMITS,
    seed=st.integers(0, 999),
    at_once=st.integers(1, 24),
    stream=st.booleans(),
    kill=st.floats(0, 1),
    data=st.data(),
)
def test_no_moment_of_any_session_passes_a_cap(
    budget: CallBudget, seed: int, at_once: int, stream: bool, kill: float, data: st.DataObject
) -> None:
    faults = [fault for fault in CALL_FAULTS if fault != "timeout"]
    plan = data.draw(st.lists(st.sampled_from(["", *faults]), max_size=12))

    async def asked(journal: MemoryJournal, script: Script, at: float) -> None:
        """A session, which is stopped part of the way where at is below 1."""
        async with ScriptedServer(script) as server:
            gate = gateway(server, journal, budget, stream=stream, retries=2, concurrency=at_once)
            gate.restore(history(journal.events))
            questions = [asyncio.create_task(gate.complete(question(i))) for i in range(24)]
            while at < 1 and len(server.log) < 24 * at and not all(q.done() for q in questions):
                await asyncio.sleep(0.002)
            if at < 1:
                gate.stop("enough")
            await asyncio.gather(*questions, return_exceptions=True)
            await gate.settled()
            await gate.close()
            assert gate.spending().in_flight == 0

    async def go() -> None:
        script = Script(
            plan=list(plan),
            rule=of_any_length(seed),
            latency_s=0.01,
            spread=0.9,
            retry_after_s=0.01,
        )
        first = MemoryJournal()
        await asked(first, script, kill)
        assert all(within(first.events[:n], budget) for n in range(len(first.events) + 1))
        cut = round(kill * len(first.events))  # what a kill leaves of it
        second = MemoryJournal(first.events[:cut])
        await asked(second, script, 1.0)
        assert all(within(second.events[:n], budget) for n in range(cut, len(second.events) + 1))

    asyncio.run(go())


def test_replies_beyond_their_size_are_reckoned_with_from_the_first_on() -> None:
    """An endpoint that counts 4000 tokens where 1000 were allowed."""
    budget = CallBudget(tokens=60_000)

    async def go() -> None:
        script = Script(rule=lambda messages, number: "fine", hidden_tokens=4000, latency_s=0.01)
        async with ScriptedServer(script) as server:
            gate = gateway(server, MemoryJournal(), budget, concurrency=4)
            outcomes = await asyncio.gather(
                *(gate.complete(question(i)) for i in range(40)), return_exceptions=True
            )
            await gate.close()
        replies = [one for one in outcomes if isinstance(one, Reply)]
        assert budget.tokens is not None
        assert 0.8 * budget.tokens < gate.spending().tokens <= budget.tokens
        assert gate.spending().tokens == sum(r.prompt_tokens + r.completion_tokens for r in replies)

    asyncio.run(go())


RESERVED = 100


def reserved(number: int, tokens: int) -> CallReserved:
    return CallReserved(
        island=0,
        cycle=number,
        request=f"i0/c{number}",
        number=0,
        role="writer",
        model="main",
        prompt_hash="0",
        template="t",
        tokens=tokens,
        dollars=0.0,
    )


def settled(number: int, tokens: int, *, failed: bool) -> CallEvent:
    common: dict[str, Any] = {
        "island": 0,
        "cycle": number,
        "request": f"i0/c{number}",
        "number": 0,
    }
    if failed:
        return CallFailed(
            failure=Failure.DROPPED, reason="gone", tokens=tokens, dollars=0.0, **common
        )
    reply = Reply(
        text="x",
        finish="stop",
        model="m",
        prompt_tokens=tokens,
        completion_tokens=0,
        latency_s=0.0,
    )
    return CallReplied(reply=reply, **common)


@given(
    limit=st.integers(100, 5000),
    ratio=st.floats(0.1, 6),
    turns=st.lists(st.tuples(st.booleans(), st.integers(0, 50), st.booleans()), max_size=120),
)
def test_only_calls_in_flight_at_the_first_surprise_can_pass_a_cap(
    limit: int, ratio: float, turns: list[tuple[bool, int, bool]]
) -> None:
    """Every call takes `ratio` times what was reckoned; it is not known before the first ends."""
    totals, budget = SpendingTotals(), CallBudget(tokens=limit)
    flying: list[int] = []
    taken = round(ratio * RESERVED)
    surprised = 0  # tokens beyond reservations of what was in flight when the first ended
    for number, (asks, which, failed) in enumerate(turns):
        if asks and not totals.shortage(budget, "main", tokens=RESERVED, dollars=0.0):
            tokens, _ = totals.reckoned("main", RESERVED, 0.0)
            totals.take(reserved(number, tokens))
            flying.append(number)
        elif flying:
            if "main" not in totals.excess:
                surprised = max(0, taken - RESERVED) * len(flying)
            ended = flying.pop(which % len(flying))
            totals.take(settled(ended, taken, failed=failed))
        assert totals.spending().tokens <= limit + surprised


def test_a_resumption_remembers_what_replies_took() -> None:
    events = [reserved(0, RESERVED), settled(0, 3 * RESERVED, failed=False)]
    totals = history(events).totals
    assert totals.reckoned("main", RESERVED, 1.0) == (3 * RESERVED, 1.0)
    assert totals.reckoned("other", RESERVED, 1.0) == (RESERVED, 1.0)


@pytest.mark.parametrize("key", ["max_tokens", "max_completion_tokens", "n"])
def test_a_size_that_budgets_do_not_see_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match=f"extra_body may not hold {key}"):
        LlmModel(model="m", extra_body={key: 4})
