"""What calls without a reply count for: what was streamed, else all that they may have cost."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from engine.llm.gateway import Gateway
from engine.store.kinds.calls import CallFailed, CallReplied, CallReserved
from operators.llm.call import estimated_tokens
from operators.llm.completion import Completion
from operators.llm.question import Failure, Reply
from scripts.scripted_model.server import Script, ScriptedServer
from tests.engine.call_log import MemoryJournal, gateway, history, question

CHUNKS = 40
HEARD = 30 * CHUNKS // 3
"""Tokens of as many chunks of 30 characters, at three characters a token."""

ASKED = estimated_tokens(question().prompt.messages)


def saying(text: str) -> Callable[[Any, int], str]:
    return lambda messages, number: text


def broken(fault: str, **changes: Any) -> Script:
    """100 chunks of 30 characters each, 40 of which are sent."""
    values = {"rule": saying("x" * 3000), "chunks": 100, "broken_after": CHUNKS, **changes}
    return Script(plan=[fault], **values)


def known(gate: Gateway) -> Gateway:
    """Its model has replied before, and showed all that it wrote."""
    asked: dict[str, Any] = {"island": 0, "cycle": 9, "request": "i0/c9/s0/writer/0", "number": 0}
    reply = Reply(
        text="fine",
        finish="stop",
        model="scripted",
        prompt_tokens=0,
        completion_tokens=0,
        latency_s=0.1,
    )
    reserved = CallReserved(
        role="writer",
        model="main",
        prompt_hash="0",
        template="t",
        tokens=10,
        dollars=0.0,
        **asked,
    )
    gate.restore(history([reserved, CallReplied(reply=reply, **asked)]))
    return gate


async def cut_off(server: ScriptedServer, gate: Gateway, journal: MemoryJournal) -> None:
    """Ask, and stop as soon as the server has sent what it sends."""
    asked = asyncio.create_task(gate.complete(question()))
    while not server.log:
        await asyncio.sleep(0.005)
    for _ in range(100):  # what was sent comes in between
        await asyncio.sleep(0.005)
    gate.stop("the evaluations are spent")
    await asyncio.gather(asked, return_exceptions=True)


async def failed(gate: Gateway, journal: MemoryJournal) -> tuple[CallReserved, CallFailed]:
    await gate.close()
    assert gate.spending().in_flight == 0
    assert gate.spending().tokens == journal.of(CallFailed)[0].tokens
    return journal.of(CallReserved)[0], journal.of(CallFailed)[0]


@pytest.mark.parametrize("ended", ["cancelled", "timeout", "dropped"])
def test_what_was_streamed_counts(ended: str) -> None:
    async def go() -> None:
        journal = MemoryJournal()
        fault = "cut" if ended == "dropped" else "stalled"
        timeout_s = 5 if ended == "timeout" else 60
        async with ScriptedServer(broken(fault)) as server:
            gate = gateway(
                server, journal, stream=True, max_tokens=1000, timeout_s=timeout_s, retries=0
            )
            known(gate)
            if ended == "cancelled":
                await cut_off(server, gate, journal)
            else:
                await gate.complete(question())
            reserved, failure = await failed(gate, journal)
        assert failure.failure == ended
        assert failure.tokens == ASKED + HEARD < reserved.tokens
        assert failure.dollars == pytest.approx((ASKED + 10 * HEARD) / 1e6)

    asyncio.run(go())


def test_a_streamed_reply_that_had_not_begun_counts_as_its_prompt() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(Script(plan=["timeout"])) as server:
            gate = known(gateway(server, journal, stream=True, timeout_s=60))
            await cut_off(server, gate, journal)
            _, failure = await failed(gate, journal)
        assert failure.tokens == ASKED

    asyncio.run(go())


def test_of_a_reply_that_comes_whole_nothing_is_known_and_all_counts() -> None:
    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(Script(plan=["timeout"])) as server:
            gate = gateway(server, journal, stream=False, timeout_s=60)
            await cut_off(server, gate, journal)
            reserved, failure = await failed(gate, journal)
        assert failure.tokens == reserved.tokens
        assert failure.dollars == reserved.dollars > 0

    asyncio.run(go())


def test_of_a_model_that_never_replied_nothing_is_known_and_all_counts() -> None:
    """It may think in secret, and a timeout too short for it would cost nothing ever after."""

    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(broken("stalled")) as server:
            gate = gateway(server, journal, stream=True, timeout_s=0.5, retries=0)
            await gate.complete(question())
            reserved, failure = await failed(gate, journal)
        assert failure.failure == "timeout"
        assert failure.tokens == reserved.tokens
        assert failure.dollars == reserved.dollars > 0

    asyncio.run(go())


def test_a_model_that_thinks_in_secret_counts_in_full() -> None:
    """What it shows tells nothing of what it had generated when it was cut off."""

    async def go() -> None:
        journal = MemoryJournal()
        script = broken("stalled", hidden_tokens=2000)
        script.plan.insert(0, "")
        async with ScriptedServer(script) as server:
            gate = gateway(server, journal, stream=True, timeout_s=0.5, retries=0, max_tokens=4000)
            await gate.complete(question(0))
            await gate.complete(question(1))
            await gate.close()
        [failure] = journal.of(CallFailed)
        assert failure.tokens == journal.of(CallReserved)[1].tokens

    asyncio.run(go())


def test_more_than_a_model_may_generate_does_not_count() -> None:
    """Blanks take few tokens: an estimate by characters is held to max_tokens."""

    async def go() -> None:
        journal = MemoryJournal()
        async with ScriptedServer(broken("cut")) as server:
            gate = known(gateway(server, journal, stream=True, max_tokens=100, retries=0))
            await gate.complete(question())
            reserved, failure = await failed(gate, journal)
        assert failure.tokens == ASKED + 100 <= reserved.tokens

    asyncio.run(go())


def test_tokens_are_counted_by_the_endpoint_as_far_as_it_says() -> None:
    heard = Completion()
    for line in (
        'data: {"choices": [{"delta": {"reasoning_content": "123456"}}]}',
        'data: {"choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 7}}',
        'data: {"choices": [{"delta": {"content": "123456789"}}]}',
    ):
        assert not heard.take_line(line)
    assert (heard.prompt_tokens, heard.generated_tokens) == (50, 7 + 3)


def test_an_error_in_the_middle_of_a_stream_leaves_what_came_before_it() -> None:
    """An endpoint's error costs nothing where it had said nothing yet."""

    async def go(script: Script) -> int:
        journal = MemoryJournal()
        async with ScriptedServer(script) as server:
            gate = known(gateway(server, journal, stream=True, retries=0))
            await gate.complete(question())
            _, failure = await failed(gate, journal)
        assert failure.failure is Failure.SERVER_ERROR
        return failure.tokens

    assert asyncio.run(go(broken("error"))) == ASKED + HEARD
    assert asyncio.run(go(Script(plan=["server_error"]))) == 0
