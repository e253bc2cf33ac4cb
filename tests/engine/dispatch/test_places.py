"""Places: nobody pays for what can't be evaluated, and no evaluation is left over."""

import asyncio
import random

import pytest

from engine.dispatch.dispatcher import Dispatcher
from engine.dispatch.places import Places
from engine.ending import Stopped
from operators.individual import Candidate
from tests.engine.dispatch.test_dispatcher import (
    SEED,
    MemoryJournal,
    ScriptedLane,
    dispatcher,
    kernel,
)


async def moments(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def test_a_place_that_is_let_go_goes_to_who_has_waited_longest() -> None:
    async def scenario() -> None:
        places = Places(1, lambda: 0)
        await places.hold()
        order: list[int] = []

        async def wait(number: int) -> None:
            await places.hold()
            order.append(number)

        waiting = [asyncio.create_task(wait(number)) for number in range(3)]
        await moments()
        assert order == []
        places.let_go()
        await moments()
        assert order == [0]
        places.let_go()
        places.let_go()
        await asyncio.gather(*waiting)
        assert order == [0, 1, 2]

    asyncio.run(scenario())


def test_who_waits_is_sent_away_when_every_place_was_of_use() -> None:
    async def scenario() -> None:
        taken = 0
        places = Places(1, lambda: taken)
        await places.hold()
        waiting = asyncio.create_task(places.hold())
        await moments()
        taken = 1
        places.fill()
        with pytest.raises(Stopped):
            await waiting
        with pytest.raises(Stopped):
            await places.hold()

    asyncio.run(scenario())


def test_the_end_and_a_failure_reach_who_waits() -> None:
    async def scenario() -> None:
        for error in (Stopped(), LookupError("the store is gone")):
            places = Places(1, lambda: 0)
            await places.hold()
            waiting = asyncio.create_task(places.hold())
            await moments()
            places.end(error)
            places.end(Stopped())  # what comes later hides no failure
            for asked in (waiting, places.hold()):
                with pytest.raises(type(error)):
                    await asked

    asyncio.run(scenario())


def test_who_was_cancelled_gets_no_place() -> None:
    async def scenario() -> None:
        places = Places(1, lambda: 0)
        await places.hold()
        first, second = (asyncio.create_task(places.hold()) for _ in range(2))
        await moments()
        first.cancel()
        await moments()
        places.let_go()
        await second

    asyncio.run(scenario())


def test_without_a_budget_there_is_always_a_place() -> None:
    async def scenario() -> None:
        places = Places(None, lambda: 10**9)
        for _ in range(100):
            await places.hold()
        places.let_go()
        places.fill()

    asyncio.run(scenario())


class Writers:
    """Lanes that pay for candidates, a share of which comes to nothing, beside some for free."""

    def __init__(self, busy: Dispatcher, seed: int) -> None:
        self._busy = busy
        self._draw = random.Random(seed)
        self._number = 0
        self.writing = self.paid_in_vain = self.most_writing = 0

    async def pay(self) -> None:
        while True:
            try:
                await self._busy.places.hold()
            except Stopped:
                return
            self.writing += 1
            self.most_writing = max(self.most_writing, self.writing)
            await moments(self._draw.randrange(1, 20))
            self.writing -= 1
            if self._draw.random() < 0.4:
                self._busy.places.let_go()
                continue
            try:
                await self._busy.evaluate(*self._next(), held=True)
            except Stopped:
                self.paid_in_vain += 1

    async def find(self) -> None:
        while True:
            try:
                await self._busy.evaluate(*self._next())
            except Stopped:
                return
            await moments(self._draw.randrange(1, 5))

    def _next(self) -> tuple[str, Candidate]:
        self._number += self._draw.random() < 0.8  # else one that another lane has as well
        return kernel(self._number)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("finders", [0, 2])
def test_the_budget_is_used_to_the_last_evaluation_and_nothing_is_paid_in_vain(
    seed: int, finders: int
) -> None:
    async def scenario() -> None:
        journal = MemoryJournal()
        busy = dispatcher(ScriptedLane({}), journal, budget=25)
        await busy.begin(SEED)
        writers = Writers(busy, seed)
        lanes = [writers.pay() for _ in range(8)] + [writers.find() for _ in range(finders)]
        await asyncio.wait_for(asyncio.gather(*lanes), timeout=60)
        await busy.end()
        assert busy.state().evaluated == 25
        assert writers.writing == writers.paid_in_vain == 0
        assert writers.most_writing > 1

    asyncio.run(scenario())


def test_with_one_evaluation_left_one_candidate_is_written() -> None:
    async def scenario() -> None:
        busy = dispatcher(ScriptedLane({}), MemoryJournal(), budget=2)
        await busy.begin(SEED)
        writers = Writers(busy, 0)
        lanes = [asyncio.create_task(writers.pay()) for _ in range(4)]
        await asyncio.wait_for(asyncio.gather(*lanes), timeout=60)
        assert writers.most_writing == 1
        assert busy.state().evaluated == 2

    asyncio.run(scenario())
