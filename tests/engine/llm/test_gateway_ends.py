"""What ends a campaign at the gateway: endpoints, models and keys that are not there."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from engine.llm.gateway import CallsOver, Gateway
from engine.llm.preflight import preflight
from engine.store.kinds.calls import CallEvent, CallFailed, CallReplied, CallReserved
from engine.store.spending import CallBudget
from operators.llm.question import (
    CAMPAIGN,
    Failure,
    Message,
    ModelUnavailable,
    Prompt,
    Reply,
    Request,
    Role,
    Unanswered,
)
from scripts.scripted_model.server import Script, ScriptedServer
from tests.engine.call_log import MemoryJournal, gateway, history, question, section


def saying(text: str) -> Callable[[Any, int], str]:
    return lambda messages, number: text


OK = saying("fine")


def test_an_absent_endpoint_is_one_sentence() -> None:
    async def go() -> None:
        async with ScriptedServer() as server:
            pass
        gate = gateway(server, MemoryJournal())
        config = section(server.base_url)
        for attempt in (preflight(config, {}), gate.complete(question())):
            with pytest.raises(ModelUnavailable, match=r"nothing answers at .*llm\.base_url"):
                await attempt
        with pytest.raises(ModelUnavailable):
            await gate.complete(question(1))
        assert gate.spending().tokens == 0
        await gate.close()

    asyncio.run(go())


def test_an_endpoint_that_comes_back_is_waited_for() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(Script(rule=OK)) as server:
            gate = gateway(server, journal, retries=0)
            await gate.complete(question(1))
            port = int(server.base_url.split(":")[2].partition("/")[0])
        waiting = asyncio.create_task(gate.complete(question(2)))
        while not journal.of(CallFailed):
            await asyncio.sleep(0.01)
        async with ScriptedServer(Script(rule=OK), port=port):
            assert isinstance(await waiting, Reply)
            await gate.close()
        spent = gate.spending()
        assert spent.failures["unreachable"] == len(journal.of(CallFailed)) > 0
        assert spent.calls == 2  # attempts at an endpoint that is away are none
        resumed = history(journal.events).totals.spending()
        assert (resumed.calls, resumed.tokens) == (2, spent.tokens)

    asyncio.run(go())


def test_attempts_at_an_endpoint_that_is_away_use_up_no_budget_and_no_retry() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(Script(rule=OK)) as server:
            gate = gateway(server, journal, CallBudget(calls=3), retries=1)
            await gate.complete(question(1))
            port = int(server.base_url.split(":")[2].partition("/")[0])
        assert gate.outages.now() == ()
        waiting = asyncio.create_task(gate.complete(question(2)))
        while not gate.outages.now():
            await asyncio.sleep(0.01)
        await asyncio.sleep(1)
        [away] = gate.outages.now()
        assert away.base_url == server.base_url
        assert away.until - away.since == 900
        async with ScriptedServer(Script(rule=OK, plan=["server_error"]), port=port):
            assert isinstance(await waiting, Reply)
            assert gate.outages.now() == ()
            with pytest.raises(CallsOver, match="budget of 3 calls is spent"):
                await gate.complete(question(3))
            await gate.close()

    asyncio.run(go())


def test_an_endpoint_that_stays_away_ends_the_campaign() -> None:
    async def go() -> None:
        async with ScriptedServer(Script(rule=OK)) as server:
            gate = gateway(server, MemoryJournal(), outage_s=0.0)
            await gate.complete(question(1))
        # In order, as by a budget that is spent: it answered before.
        with pytest.raises(CallsOver, match=r"nothing answers at .* and did not for 0 s"):
            await gate.complete(question(2))
        assert gate.over.startswith("nothing answers at ")
        await gate.close()

    asyncio.run(go())


def test_an_unknown_model_is_one_sentence() -> None:
    async def go() -> None:
        async with ScriptedServer() as server:
            gate = gateway(server, MemoryJournal(), model="gpt-0")
            with pytest.raises(ModelUnavailable, match=r"'gpt-0' \(it serves scripted\)"):
                await preflight(section(server.base_url, model="gpt-0"), {})
            with pytest.raises(ModelUnavailable, match="has no model 'gpt-0'"):
                await gate.complete(question())
            await gate.close()

    asyncio.run(go())


def test_a_missing_key_and_a_wrong_one() -> None:
    key = "sk-secret-0123456789"

    async def go() -> None:
        async with ScriptedServer(Script(key=key, rule=OK)) as server:
            config = section(server.base_url, api_key_env="KEY_OF_THIS_TEST")
            for environment in ({}, {"KEY_OF_THIS_TEST": " "}):
                with pytest.raises(ModelUnavailable, match="KEY_OF_THIS_TEST"):
                    Gateway(config, CallBudget(), MemoryJournal(), environment)
            wrong = Gateway(
                config, CallBudget(), MemoryJournal(), {"KEY_OF_THIS_TEST": "sk-wrong-987654321"}
            )
            with pytest.raises(ModelUnavailable) as caught:
                await wrong.complete(question())
            assert "sk-wrong" not in str(caught.value) + repr(caught.value) + repr(wrong)
            journal = MemoryJournal()
            right = Gateway(config, CallBudget(), journal, {"KEY_OF_THIS_TEST": key})
            await preflight(config, {"KEY_OF_THIS_TEST": key})
            assert isinstance(await right.complete(question()), Reply)
            assert key not in repr(journal.events) + repr(right) + repr(vars(right))
            await wrong.close()
            await right.close()

    asyncio.run(go())


def test_a_campaign_that_ends_cuts_its_calls_off_and_counts_them() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(Script(rule=OK, latency_s=5)) as server:
            gate = gateway(server, journal, concurrency=2)
            calls = [asyncio.create_task(gate.complete(question(i))) for i in range(4)]
            while server.in_flight < 2:
                await asyncio.sleep(0.005)
            gate.stop("the evaluations are spent")
            for outcome in await asyncio.gather(*calls, return_exceptions=True):
                assert isinstance(outcome, CallsOver)
                assert str(outcome) == "the evaluations are spent"
            with pytest.raises(CallsOver):
                await gate.complete(question(9))
            await gate.close()
        assert [failed.failure for failed in journal.of(CallFailed)] == [Failure.CANCELLED] * 2
        assert gate.spending().in_flight == 0

    asyncio.run(go())


def test_what_was_stopped_answers_again_when_it_is_reopened() -> None:
    async def go() -> None:
        async with ScriptedServer(Script(rule=OK)) as server:
            gate = gateway(server, MemoryJournal(), CallBudget(calls=2))
            gate.stop("the evaluations are spent")
            gate.stop("the campaign has ended")
            gate.reopen()
            assert gate.over == ""
            for number in range(2):
                assert isinstance(await gate.complete(question(number)), Reply)
            with pytest.raises(CallsOver) as spent:
                await gate.complete(question(2))
            gate.stop("the campaign has ended")
            gate.reopen()  # a spent budget stays spent
            with pytest.raises(CallsOver, match=re.escape(str(spent.value))):
                await gate.complete(question(3))
            await gate.close()
            assert server.calls == 2

    asyncio.run(go())


@pytest.mark.parametrize("lasting", [False, True])
def test_the_campaign_s_own_question_goes_on_where_islands_are_cut_off(lasting: bool) -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(Script(rule=OK, latency_s=1)) as server:
            gate = gateway(server, journal, concurrency=2)
            asked = [question(0), replace(question(1), island=CAMPAIGN)]
            calls = [asyncio.create_task(gate.complete(one)) for one in asked]
            while server.in_flight < 2:
                await asyncio.sleep(0.005)
            gate.stop("the evaluations are spent", lasting=lasting)
            await gate.settled(lasting=lasting)
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
            await gate.close()
        assert isinstance(outcomes[0], CallsOver)
        assert isinstance(outcomes[1], CallsOver if lasting else Reply)
        assert len(journal.of(CallFailed)) == 1 + lasting
        assert gate.spending().in_flight == 0

    asyncio.run(go())


def test_a_question_that_is_cancelled_is_counted() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(Script(rule=OK, latency_s=5)) as server:
            gate = gateway(server, journal)
            call = asyncio.create_task(gate.complete(question()))
            while not server.in_flight:
                await asyncio.sleep(0.005)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await gate.close()
        [failed] = journal.of(CallFailed)
        assert failed.failure is Failure.CANCELLED
        assert failed.tokens == journal.of(CallReserved)[0].tokens  # nothing is streamed
        assert gate.spending().in_flight == 0

    asyncio.run(go())


class SlowJournal(MemoryJournal):
    """A commit returns only when the disk is let go on."""

    def __init__(self) -> None:
        super().__init__()
        self.disk = asyncio.Event()

    async def commit(self, event: CallEvent) -> None:
        self.events.append(event)
        await self.disk.wait()


def test_a_call_cut_off_before_it_was_sent_is_accounted_for() -> None:
    async def go() -> None:
        journal = SlowJournal()
        async with ScriptedServer(Script(rule=OK)) as server:
            gate = gateway(server, journal)
            call = asyncio.create_task(gate.complete(question()))
            while not journal.of(CallReserved):
                await asyncio.sleep(0.005)
            gate.stop("the evaluations are spent")
            await gate.settled()
            assert [failed.failure for failed in journal.of(CallFailed)] == [Failure.CANCELLED]
            assert gate.spending().in_flight == 0
            with pytest.raises(CallsOver):
                await call
            assert server.calls == 0
            await gate.close()

    asyncio.run(go())


def too_long(number: int, role: Role, *, shortened: bool) -> Request:
    asked = question(number)
    long = Prompt(messages=(Message(role="user", content="x" * 9000),), template="t")
    return replace(asked, role=role, prompt=long, shortened=shortened)


@pytest.mark.parametrize("role", ["designer", "writer", "selector", "repair"])
def test_a_needed_role_whose_shortest_prompts_never_fit_ends_the_campaign(role: Role) -> None:
    async def go() -> None:
        async with ScriptedServer(Script(rule=OK, context_characters=8000)) as server:
            gate = gateway(server, MemoryJournal())
            for number in range(9):  # a shorter one may fit
                outcome = await gate.complete(too_long(number, role, shortened=False))
                assert isinstance(outcome, Unanswered)
            for number in range(10, 12):
                outcome = await gate.complete(too_long(number, role, shortened=True))
                assert isinstance(outcome, Unanswered)
            asked = gate.complete(too_long(20, role, shortened=True))
            if role in ("designer", "writer"):
                with pytest.raises(ModelUnavailable, match=r"too long .* a longer context"):
                    await asked
            else:
                assert isinstance(await asked, Unanswered)
            await gate.close()

    asyncio.run(go())


def test_prompts_that_have_become_too_long_end_no_campaign() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(Script(rule=OK, context_characters=8000)) as server:
            gate = gateway(server, journal)
            assert isinstance(await gate.complete(question(0)), Reply)
            await gate.close()
            resumed = gateway(server, MemoryJournal())
            resumed.restore(history(journal.events))
            for number in range(1, 9):
                outcome = await resumed.complete(too_long(number, "writer", shortened=True))
                assert isinstance(outcome, Unanswered)
            await resumed.close()

    asyncio.run(go())


def test_a_reply_that_is_being_stored_still_reaches_who_asked() -> None:
    """The log must not say more than the island heard."""

    async def go() -> None:
        journal = SlowJournal()
        async with ScriptedServer(Script(rule=OK)) as server:
            gate = gateway(server, journal)
            call = asyncio.create_task(gate.complete(question()))
            while not journal.of(CallReserved):
                await asyncio.sleep(0.005)
            journal.disk.set()
            journal.disk = asyncio.Event()
            while not journal.of(CallReplied):
                await asyncio.sleep(0.005)
            gate.stop("the evaluations are spent")
            await asyncio.sleep(0.01)
            journal.disk.set()
            assert isinstance(await call, Reply)
            assert not journal.of(CallFailed)
            assert gate.spending().in_flight == 0
            await gate.close()

    asyncio.run(go())
