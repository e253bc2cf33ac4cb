"""Outages: an endpoint that answered once is waited for from its first silence on, by one look."""

import asyncio
from itertools import pairwise

import pytest

from engine.llm.outages import TRIES_AT_FIRST_CONTACT, Outages
from operators.llm.call import ApiKey, NoReply
from operators.llm.endpoint import Endpoint
from operators.llm.question import Failure


class Place(Endpoint):
    """An endpoint that is there or not, as it is told; keeps when it was looked at."""

    def __init__(self, port: int) -> None:
        super().__init__(f"http://127.0.0.1:{port}/v1", ApiKey())
        self.there = False
        self.looks: list[float] = []

    async def models(self) -> list[str] | None:
        self.looks.append(asyncio.get_running_loop().time())
        there = self.there
        await asyncio.sleep(0.01)
        if not there:
            raise NoReply(Failure.UNREACHABLE, f"nothing answers at {self.base_url}")
        raise NoReply(Failure.RATE_LIMITED, "later")  # whatever it says, it is there


def places() -> tuple[Place, Place]:
    return Place(1), Place(2)


async def ask(
    outages: Outages, endpoint: Endpoint, slots: asyncio.Semaphore, *, payable: bool = True
) -> NoReply | None:
    """A question, as far as its call; it takes a moment."""
    async with outages.place(endpoint, slots, lambda: payable) as absent:
        await asyncio.sleep(0.001)
        return absent


async def until(count: int, endpoint: Place) -> None:
    async with asyncio.timeout(10):
        while len(endpoint.looks) < count:
            await asyncio.sleep(0.01)


def test_one_that_never_answered_gets_a_few_tries() -> None:
    async def go() -> None:
        here, _ = places()
        outages = Outages(900.0)
        for _ in range(9):  # questions asked at once
            assert not outages.failed(here)
        assert outages.now() == ()
        absent = await ask(outages, here, asyncio.Semaphore(4))
        assert absent is not None and absent.kind is Failure.UNREACHABLE
        assert len(here.looks) == TRIES_AT_FIRST_CONTACT - 1
        assert outages.failed(here)

    asyncio.run(go())


def test_waiting_begins_with_the_silence_not_with_the_last_answer() -> None:
    """Replies may take longer than outage_s."""
    now = 0.0
    here, _ = places()
    outages = Outages(900.0, clock=lambda: now)
    outages.answered(here)
    now = 5000.0
    assert not outages.failed(here)
    now = 5899.0
    assert not outages.failed(here)
    now = 5900.0
    assert outages.failed(here)


def test_only_a_look_ends_an_outage_and_the_next_begins_anew() -> None:
    now = 0.0

    async def go() -> None:
        nonlocal now
        here, there = places()
        outages = Outages(900.0, clock=lambda: now)
        for endpoint in (here, there):
            outages.answered(endpoint)
            assert not outages.failed(endpoint)
        assert [one.base_url for one in outages.now()] == [here.base_url, there.base_url]
        outages.answered(here)  # a reply that was under way when it went away
        assert [one.base_url for one in outages.now()] == [here.base_url, there.base_url]
        here.there = True
        assert await ask(outages, here, asyncio.Semaphore(1)) is None
        assert [one.base_url for one in outages.now()] == [there.base_url]
        now = 1000.0
        assert not outages.failed(here)
        assert outages.failed(there)

    asyncio.run(go())


def test_one_of_many_looks_with_growing_pauses_and_all_go_on_together() -> None:
    async def go() -> None:
        here, there = places()
        outages, slots = Outages(900.0), asyncio.Semaphore(5)
        outages.answered(here)
        outages.failed(here)
        waiting = [asyncio.create_task(ask(outages, here, slots)) for _ in range(32)]
        for _ in range(9):
            async with asyncio.timeout(20):  # whoever waits takes no place from others
                assert await ask(outages, there, slots) is None
        await until(3, here)
        assert not any(one.done() for one in waiting)
        first, second = (later - one for one, later in pairwise(here.looks))
        assert second > first > 0.5
        here.there = True
        assert await asyncio.gather(*waiting) == [None] * 32
        assert len(here.looks) == 4

    asyncio.run(go())


def test_another_looks_where_the_one_who_did_is_gone() -> None:
    async def go() -> None:
        here, _ = places()
        outages, slots = Outages(900.0), asyncio.Semaphore(1)
        outages.answered(here)
        outages.failed(here)
        first, second = (asyncio.create_task(ask(outages, here, slots)) for _ in range(2))
        await until(1, here)
        first.cancel()
        here.there = True
        async with asyncio.timeout(5):
            assert await second is None
        assert len(here.looks) == 2 and first.cancelled()

    asyncio.run(go())


@pytest.mark.parametrize("why", ["ended", "not payable"])
def test_nobody_waits_in_vain(why: str) -> None:
    async def go() -> None:
        here, _ = places()
        outages, slots = Outages(900.0), asyncio.Semaphore(1)
        outages.answered(here)
        outages.failed(here)
        payable = why == "ended"
        waiting = [ask(outages, here, slots, payable=payable) for _ in range(8)]
        if why == "ended":
            asyncio.get_running_loop().call_later(0.1, outages.end)
        async with asyncio.timeout(5):
            assert await asyncio.gather(*waiting) == [None] * 8
        assert here.looks == []

    asyncio.run(go())


def test_the_last_look_comes_when_the_wait_is_over_and_tells_one_for_all() -> None:
    async def go() -> None:
        here, _ = places()
        outages, slots = Outages(0.05), asyncio.Semaphore(1)
        outages.answered(here)
        outages.failed(here)
        began = asyncio.get_running_loop().time()
        absent = await ask(outages, here, slots)
        assert absent is not None and outages.failed(here)
        assert len(here.looks) == 1 and 0.04 < here.looks[0] - began < 0.25

    asyncio.run(go())
