"""Calls without a reply count in credit: what they took is told, stored, and kept over a kill."""

import asyncio

import pytest

from engine.config_sections import OperatorMix
from engine.credit.meter import Meter
from engine.store.kinds.calls import CallFailed, GivenUp
from operators.llm.question import Reply, Unanswered
from scripts.scripted_model.server import Script, ScriptedServer
from tests.engine.call_log import MemoryJournal, gateway, history, question, section


def test_a_question_that_is_given_up_costs_its_kernel_what_its_calls_took() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        plan = ["server_error", "timeout"]
        async with ScriptedServer(Script(plan=plan, retry_after_s=0.01)) as server:
            gate = gateway(server, journal, retries=1, timeout_s=0.4)
            meter = Meter(gate, section(server.base_url), OperatorMix(), 0)
            outcome = await meter.complete(question())
            await gate.close()
        assert isinstance(outcome, Unanswered)
        failed = journal.of(CallFailed)
        assert [one.seconds >= 0.4 for one in failed] == [False, True]
        assert outcome.vain.dollars == sum(one.dollars for one in failed) > 0
        assert outcome.vain.seconds == pytest.approx(sum(one.seconds for one in failed))
        assert [one.outcome for one in journal.of(GivenUp)] == [outcome]
        assert history(journal.events).outcomes[question().key] == outcome
        bill = meter.slot("i0/c0/s0")
        assert (bill.seconds, bill.dollars) == (outcome.vain.seconds, outcome.vain.dollars)
        assert bill.writer == "main"

    asyncio.run(go())


def test_a_reply_costs_what_the_calls_before_it_took_too_after_a_kill_as_well() -> None:
    async def go() -> None:
        first, second = MemoryJournal(), MemoryJournal()
        script = Script(plan=["timeout"], rule=lambda messages, number: "fine")
        async with ScriptedServer(script) as server:
            gate = gateway(server, first, retries=0, timeout_s=0.4)
            await gate.complete(question())
            await gate.close()
            (lost,) = first.of(CallFailed)
            before_it_was_given_up = [one for one in first.events if not isinstance(one, GivenUp)]
            resumed = gateway(server, second)
            resumed.restore(history(before_it_was_given_up))
            meter = Meter(resumed, section(server.base_url), OperatorMix(), 0)
            reply = await meter.complete(question())
            await resumed.close()
        assert isinstance(reply, Reply)
        assert (reply.vain.seconds, reply.vain.dollars) == (lost.seconds, lost.dollars)
        bill = meter.slot("i0/c0/s0")
        assert bill.seconds == pytest.approx(reply.latency_s + lost.seconds)
        assert bill.dollars == pytest.approx(reply.dollars + lost.dollars)

    asyncio.run(go())
