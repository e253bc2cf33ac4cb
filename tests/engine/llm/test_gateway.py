"""The gateway: budgets, reservations, retries, what a kill leaves, what is never asked again."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from engine.llm.gateway import CallsOver
from engine.store.kinds.calls import CallFailed, CallReplied, CallReserved, GivenUp, TurnedAway
from engine.store.spending import CallBudget
from operators.llm.question import Failure, Reply, Unanswered
from scripts.scripted_model.faults import CALL_FAULTS
from scripts.scripted_model.server import Script, ScriptedServer
from tests.engine.call_log import MemoryJournal, gateway, history, question


def saying(text: str) -> Callable[[Any, int], str]:
    return lambda messages, number: text


OK = saying("fine")


def test_reserved_then_replied_then_used() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(Script(rule=OK)) as server:
            gate = gateway(server, journal)
            reply = await gate.complete(question())
            await gate.close()
        assert isinstance(reply, Reply)
        assert journal.kinds() == ["call_reserved", "call_replied"]
        reserved, replied = journal.events
        assert isinstance(reserved, CallReserved) and isinstance(replied, CallReplied)
        assert reserved.key == replied.key == "i0/c0/s0/writer/0#0"
        assert reserved.prompt == question().prompt.messages
        assert reserved.prompt_hash == question().prompt_hash
        assert replied.reply == reply
        assert 0 < reply.dollars <= reserved.dollars
        assert reply.prompt_tokens + reply.completion_tokens <= reserved.tokens
        spent = gate.spending()
        assert (spent.calls, spent.replies, spent.in_flight, spent.lost) == (1, 1, 0, 0)
        assert spent.dollars == reply.dollars

    asyncio.run(go())


def test_prompts_can_be_left_out_of_the_store() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(Script(rule=OK)) as server:
            gate = gateway(server, journal, keep_prompts=False)
            await gate.complete(question())
            await gate.close()
        assert journal.of(CallReserved)[0].prompt == ()

    asyncio.run(go())


@pytest.mark.parametrize("fault", CALL_FAULTS)
def test_a_failed_call_is_counted_and_made_again(fault: str) -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(Script(plan=[fault], rule=OK)) as server:
            gate = gateway(server, journal, timeout_s=1.5 if fault == "timeout" else 20)
            reply = await gate.complete(question())
            await gate.close()
        assert isinstance(reply, Reply)
        assert gate.spending().failures == {fault: 1}
        assert journal.kinds() == ["call_reserved", "call_failed", "call_reserved", "call_replied"]
        failed = journal.of(CallFailed)[0]
        assert (failed.number, journal.of(CallReplied)[0].number) == (0, 1)
        # A call that may have been answered counts in full; one that was refused, as a call.
        billed = fault in ("dropped", "timeout")
        assert (failed.tokens > 0) is billed
        assert gate.spending().calls == 2

    asyncio.run(go())


def test_retry_after_is_honoured() -> None:
    async def go() -> None:
        async with ScriptedServer(
            Script(plan=["rate_limited"], retry_after_s=1.2, rule=OK)
        ) as server:
            gate = gateway(server, MemoryJournal())
            await gate.complete(question())
            await gate.close()
            first, second = (logged.at_s for logged in server.log)
        assert second - first >= 1.2

    asyncio.run(go())


def test_a_question_is_given_up_after_the_retries_and_stays_so() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(Script(plan=["server_error"] * 3, rule=OK)) as server:
            gate = gateway(server, journal, retries=2)
            outcome = await gate.complete(question())
            await gate.close()
            assert isinstance(outcome, Unanswered)
            assert outcome.kind is Failure.SERVER_ERROR
            assert "3 calls" in outcome.reason
            assert journal.kinds()[-1] == "given_up"
            later = gateway(server, MemoryJournal())
            later.restore(history(journal.events))
            assert await later.complete(question()) == outcome
            await later.close()
            assert len(server.log) == 3

    asyncio.run(go())


def test_replies_of_a_killed_session_are_used_and_lost_calls_stay_spent() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(Script(rule=OK, latency_s=0.05)) as server:
            gate = gateway(server, journal)
            before = await gate.complete(question(1))
            lost = asyncio.create_task(gate.complete(question(2)))
            while not server.in_flight:
                await asyncio.sleep(0.005)
            stored = list(journal.events)  # what a kill at this moment leaves
            assert [event.kind for event in stored][-1] == "call_reserved"
            await lost
            await gate.close()

            resumed = gateway(server, MemoryJournal())
            resumed.restore(history(stored))
            spent = resumed.spending()
            assert (spent.calls, spent.replies, spent.lost, spent.in_flight) == (2, 1, 1, 0)
            lost_dollars = [event.dollars for event in stored if isinstance(event, CallReserved)]
            assert isinstance(before, Reply)
            assert spent.dollars == pytest.approx(before.dollars + lost_dollars[-1])
            calls = server.calls
            assert await resumed.complete(question(1)) == before
            assert server.calls == calls  # it was not asked again
            again = await resumed.complete(question(2))
            assert isinstance(again, Reply)
            await resumed.close()
        assert server.calls == calls + 1
        numbers = [r.number for r in journal.of(CallReserved) if r.request == question(2).key]
        assert numbers == [0]
        assert len(server.log) == 3  # two stored, one lost, as the totals says
        assert resumed.spending().calls == 3

    asyncio.run(go())


def test_a_resumed_question_numbers_its_calls_on() -> None:
    async def go() -> None:
        first, second = MemoryJournal(), MemoryJournal()
        async with ScriptedServer(Script(rule=OK)) as server:
            gate = gateway(server, first)
            await gate.complete(question(3))
            await gate.close()
            resumed = gateway(server, second)
            resumed.restore(history(first.of(CallReserved)))  # the reply was lost
            await resumed.complete(question(3))
            await resumed.close()
        assert [event.key for event in second.of(CallReserved)] == ["i0/c3/s0/writer/0#1"]

    asyncio.run(go())


def test_outcomes_of_finished_cycles_are_forgotten() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(Script(rule=OK)) as server:
            gate = gateway(server, journal)
            for number in (1, 11):
                await gate.complete(question(number))
            await gate.close()
            resumed = gateway(server, MemoryJournal())
            past = history(journal.events)
            past.forget("i0/c1/")
            resumed.restore(past)
            await resumed.complete(question(11))
            assert server.calls == 2
            await resumed.complete(question(1))
            assert server.calls == 3
            await resumed.close()

    asyncio.run(go())


@pytest.mark.parametrize(
    ("budget", "limit"),
    [
        (CallBudget(calls=5), "calls"),
        (CallBudget(tokens=6000), "tokens"),
        (CallBudget(dollars=0.055), "dollars"),
    ],
)
def test_a_budget_is_never_exceeded_and_ends_with_one_sentence(
    budget: CallBudget, limit: str
) -> None:
    async def go() -> None:
        journal = MemoryJournal()
        text = "x" * 2000  # 500 tokens of the 1000 that are reserved
        async with ScriptedServer(Script(rule=saying(text), latency_s=0.02)) as server:
            gate = gateway(server, journal, budget)
            outcomes = await asyncio.gather(
                *(gate.complete(question(i)) for i in range(20)), return_exceptions=True
            )
            await gate.close()
        replies = [o for o in outcomes if isinstance(o, Reply)]
        ends = [o for o in outcomes if isinstance(o, CallsOver)]
        assert len(replies) + len(ends) == 20
        assert len({str(end) for end in ends}) == 1
        assert limit in str(ends[0]) and "is spent" in str(ends[0])
        spent = gate.spending()
        assert spent.calls == len(server.log) == len(replies)
        assert budget.calls is None or spent.calls <= budget.calls
        assert budget.tokens is None or spent.tokens <= budget.tokens
        assert budget.dollars is None or spent.dollars <= budget.dollars
        # What was reserved for more than it took became free for others.
        assert budget.calls is not None or _most_at_once(budget) < len(replies)

    asyncio.run(go())


def _most_at_once(budget: CallBudget) -> int:
    """Calls that fit at the size of their reservations."""
    return (budget.tokens or 6000) // 1105


@pytest.mark.parametrize("budget", [CallBudget(tokens=1000), CallBudget(dollars=0.001)])
def test_a_budget_too_small_for_one_call_says_so(budget: CallBudget) -> None:
    async def go() -> None:
        async with ScriptedServer(Script(rule=OK)) as server:
            gate = gateway(server, MemoryJournal(), budget)
            with pytest.raises(CallsOver, match=r"too small for a call, .* raise budgets\."):
                await gate.complete(question())
            await gate.close()
            assert server.calls == 0

    asyncio.run(go())


def test_a_budget_counts_over_resumptions() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(Script(rule=OK)) as server:
            for start in range(0, 6, 2):
                gate = gateway(server, journal, CallBudget(calls=4))
                gate.restore(history(journal.events))
                for number in (start, start + 1):
                    if number < 4:
                        await gate.complete(question(number))
                    else:
                        with pytest.raises(CallsOver):
                            await gate.complete(question(number))
                await gate.close()
            assert server.calls == 4

    asyncio.run(go())


def test_no_more_calls_in_flight_than_configured() -> None:
    async def go() -> None:
        async with ScriptedServer(Script(rule=OK, latency_s=0.02)) as server:
            gate = gateway(server, MemoryJournal(), concurrency=3)
            await asyncio.gather(*(gate.complete(question(i)) for i in range(12)))
            await gate.close()
            assert server.most_in_flight == 3

    asyncio.run(go())


def test_waiting_to_try_again_takes_no_place_from_others() -> None:
    async def go() -> None:
        plan = ["rate_limited", ""]
        async with ScriptedServer(Script(plan=plan, rule=OK, retry_after_s=1.0)) as server:
            gate = gateway(server, MemoryJournal(), concurrency=1)
            first = asyncio.create_task(gate.complete(question(1)))
            while not server.log:
                await asyncio.sleep(0.005)
            await gate.complete(question(2))
            assert not first.done()
            await first
            await gate.close()

    asyncio.run(go())


def test_unusable_replies_are_counted_beside_failed_calls() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(Script(plan=["server_error"], rule=OK)) as server:
            gate = gateway(server, journal)
            await gate.complete(question())
            gate.turned_away(question(), Failure.PROSE_ONLY, "there is no kernel")
            await gate.close()
            assert gate.spending().failures == {"prose_only": 1, "server_error": 1}
            again = gateway(server, MemoryJournal())
            again.restore(history(journal.events))
            assert again.spending().failures == gate.spending().failures
        assert journal.of(TurnedAway)[0].key == question().key

    asyncio.run(go())


def test_refused_options_cost_a_call_each_and_no_retry() -> None:
    async def go() -> None:
        refuses = {"temperature": "temperature is not supported"}
        async with ScriptedServer(Script(refuses=refuses, rule=OK)) as server:
            gate = gateway(server, MemoryJournal(), retries=0, temperature=0.7)
            assert isinstance(await gate.complete(question()), Reply)
            assert isinstance(await gate.complete(question(1)), Reply)
            await gate.close()
            assert server.calls == 3  # it is remembered

    asyncio.run(go())


# --- many at once -------------------------------------------------------------------------------


@pytest.mark.long
def test_a_fifth_of_failing_calls_leaves_nothing_unsettled() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        script = Script(fail=0.2, seed=3, rule=OK, retry_after_s=0.02)
        async with ScriptedServer(script) as server:
            gate = gateway(server, journal, timeout_s=4, retries=8)
            outcomes = await asyncio.gather(*(gate.complete(question(i)) for i in range(150)))
            await gate.close()
        assert all(isinstance(outcome, Reply) for outcome in outcomes)
        spent = gate.spending()
        assert spent.in_flight == 0
        assert spent.calls == len(server.log) == len(journal.of(CallReserved))
        assert sum(spent.failures.values()) == spent.calls - 150
        assert set(spent.failures) == set(CALL_FAULTS)
        seen = {fault: sum(one.fault == fault for one in server.log) for fault in CALL_FAULTS}
        assert spent.failures == seen
        assert journal.of(GivenUp) == []

    asyncio.run(go())


def test_a_pause_makes_no_call_and_answers_those_in_flight() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(Script(rule=OK, latency_s=0.2)) as server:
            gate = gateway(server, journal)
            first = asyncio.ensure_future(gate.complete(question()))
            while not server.in_flight:
                await asyncio.sleep(0.01)
            await gate.pause(paused=True)
            second = asyncio.ensure_future(gate.complete(question(1)))
            assert isinstance(await first, Reply)
            await asyncio.sleep(0.1)
            assert server.calls == 1 and len(journal.of(CallReserved)) == 1
            await gate.pause(paused=False)
            assert isinstance(await second, Reply)
            await gate.pause(paused=True)
            third = asyncio.ensure_future(gate.complete(question(2)))
            await asyncio.sleep(0)
            gate.stop("it ends")
            with pytest.raises(CallsOver, match="it ends"):
                await third
            await gate.close()
        assert server.calls == 2

    asyncio.run(go())
