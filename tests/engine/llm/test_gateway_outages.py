"""Many questions while an endpoint is away: one looks, none is delayed, and none pays."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from engine.llm.config import Llm
from engine.llm.gateway import CallsOver, Gateway
from engine.store.kinds.calls import CallFailed, CallReserved
from engine.store.spending import CallBudget
from operators.llm.question import Reply, Unanswered
from scripts.scripted_model.server import MODEL, Script, ScriptedServer
from tests.engine.call_log import MemoryJournal, gateway, question

MANY = 32


def saying(text: str) -> Callable[[Any, int], str]:
    return lambda messages, number: text


OK = saying("fine")


@asynccontextmanager
async def gone(
    journal: MemoryJournal, budget: CallBudget | None = None, **changes: Any
) -> AsyncIterator[tuple[Gateway, int]]:
    """A gateway to an endpoint that has answered once and is away now, and its port."""
    async with ScriptedServer(Script(rule=OK)) as server:
        gate = gateway(server, journal, budget, **changes)
        await gate.complete(question(1000))
        port = int(server.base_url.split(":")[2].partition("/")[0])
    yield gate, port
    await gate.close()


def asking(gate: Gateway, count: int = MANY) -> list[asyncio.Task[Reply | Unanswered]]:
    return [asyncio.create_task(gate.complete(question(number))) for number in range(count)]


async def found_away(gate: Gateway) -> None:
    async with asyncio.timeout(5):
        while not gate.outages.now():
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("concurrency", [4, MANY])
def test_one_question_looks_for_all_and_all_go_on_when_it_is_back(concurrency: int) -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with gone(journal, concurrency=concurrency) as (gate, port):
            waiting = asking(gate)
            await asyncio.sleep(2.5)
            # Those in flight when it went away, and not once more.
            assert 1 <= len(journal.of(CallFailed)) <= concurrency
            assert len(gate.outages.now()) == 1
            back = ScriptedServer(Script(rule=OK, latency_s=0.05), port=port)
            async with back:
                replies = await asyncio.gather(*waiting)
            assert all(isinstance(reply, Reply) for reply in replies)
            assert (back.looks, back.calls) == (1, MANY)
            assert back.most_in_flight <= concurrency
            assert gate.outages.now() == ()
            spent = gate.spending()
            assert (spent.calls, spent.in_flight) == (1 + MANY, 0)

    asyncio.run(go())


def test_a_slow_first_reply_does_not_keep_the_others_waiting() -> None:
    async def go() -> None:
        async with gone(MemoryJournal()) as (gate, port):
            waiting = asking(gate, 8)
            await found_away(gate)
            async with ScriptedServer(Script(rule=OK, latency_s=1.0), port=port) as back:
                await asyncio.gather(*waiting)
                assert back.most_in_flight == 8

    asyncio.run(go())


def test_other_endpoints_answer_meanwhile_whatever_waits() -> None:
    async def go() -> None:
        async with ScriptedServer(Script(rule=OK)) as there:
            async with ScriptedServer(Script(rule=OK)) as here:
                models = {
                    "here": {"model": MODEL, "stream": False},
                    "there": {"model": MODEL, "stream": False, "base_url": there.base_url},
                }
                config = Llm.model_validate(
                    {"base_url": here.base_url, "models": models, "concurrency": 2}
                )
                gate = Gateway(config, CallBudget(), MemoryJournal(), {})
                await gate.complete(question(1000))
            waiting = asking(gate)
            await found_away(gate)
            async with asyncio.timeout(2):
                for number in range(100, 110):
                    asked = replace(question(number), model="there")
                    assert isinstance(await gate.complete(asked), Reply)
            assert [one.base_url for one in gate.outages.now()] == [here.base_url]
            gate.stop("that is all")
            await asyncio.gather(*waiting, return_exceptions=True)
            await gate.close()

    asyncio.run(go())


def test_a_campaign_that_ends_waits_for_no_endpoint() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with gone(journal) as (gate, _):
            waiting = asking(gate)
            await found_away(gate)
            await asyncio.sleep(0.2)
            gate.stop("the evaluations are spent")
            async with asyncio.timeout(2):
                outcomes = await asyncio.gather(*waiting, return_exceptions=True)
                await gate.settled()
            assert {str(one) for one in outcomes} == {"the evaluations are spent"}
            assert all(isinstance(one, CallsOver) for one in outcomes)
            reserved, failed = journal.of(CallReserved), journal.of(CallFailed)
            assert len(reserved) == 1 + len(failed)  # the first one was answered
            assert gate.spending().calls == 1 and gate.spending().in_flight == 0

    asyncio.run(go())


def test_a_spent_budget_is_told_though_the_endpoint_is_away() -> None:
    async def go() -> None:
        async with gone(MemoryJournal(), CallBudget(tokens=2000)) as (gate, _):
            waiting = asking(gate, 4)  # of which one fits
            await found_away(gate)
            dear = question(50, "What next? " * 500)
            async with asyncio.timeout(2):
                for asked in (gate.complete(dear), *waiting):
                    with pytest.raises(CallsOver, match="budget of 2000 tokens"):
                        await asked

    asyncio.run(go())


def test_an_endpoint_that_stays_away_is_told_to_all_that_wait_at_once() -> None:
    async def go() -> None:
        async with gone(MemoryJournal(), outage_s=1.0) as (gate, _):
            async with asyncio.timeout(5):
                outcomes = await asyncio.gather(*asking(gate), return_exceptions=True)
            assert all(isinstance(one, CallsOver) for one in outcomes)
            assert len({str(one) for one in outcomes}) == 1
            assert gate.over.startswith("nothing answers at ")

    asyncio.run(go())


def test_an_endpoint_that_asks_for_patience_is_not_away() -> None:
    async def go() -> None:
        plan = ["rate_limited"] * 3
        async with ScriptedServer(Script(rule=OK, plan=plan, retry_after_s=0.6)) as server:
            gate = gateway(server, MemoryJournal())
            waiting = asking(gate, 4)
            while len(server.log) < 4:
                await asyncio.sleep(0.005)
            assert gate.outages.now() == ()
            await asyncio.gather(*waiting)
            assert server.looks == 0
            await gate.close()

    asyncio.run(go())
