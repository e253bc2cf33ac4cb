"""What contests may take of the devices' time: far leads go at once, small ones wait for it."""

import asyncio
import math
from dataclasses import replace

import pytest

from engine.dispatch.allowance import LARGE_SHARE, SHARE, Allowance
from engine.gate import Gate
from engine.store.events import Evaluated
from engine.store.kinds.contests import Contested
from engine.store.scoreboard import Scoreboard
from tests.engine.dispatch.test_contests import RacingLane
from tests.engine.dispatch.test_dispatcher import (
    SEED,
    SEED_ID,
    MemoryJournal,
    dispatcher,
    kernel,
    passed,
)

FAR, SMALL, FARTHER = kernel(1), kernel(2), kernel(3)
SPEEDUPS = {FAR[0]: math.exp(0.5), SMALL[0]: 1.8, FARTHER[0]: math.e}
"""FAR and FARTHER as the lane's links say."""
HOURS = 10_000.0


def test_it_is_due_when_no_more_than_the_share_was_spent() -> None:
    spent = [0.0]
    allowance = Allowance(lambda: 4, lambda: spent[0])
    allowance.begin()
    assert allowance.due_in() == 0.0
    spent[0] = 60.0
    assert allowance.due_in() == pytest.approx(60.0 / (4 * SHARE), abs=10.0)


def test_what_should_not_wait_has_a_larger_share() -> None:
    allowance = Allowance(lambda: 1, lambda: 60.0)
    allowance.begin()
    assert 0.0 < allowance.due_in(LARGE_SHARE) < allowance.due_in(SHARE) / 2


def test_the_first_small_lead_waits_until_a_sitting_may_be_spent() -> None:
    """What it will take is told by how long the naive seed's measurement took."""

    async def scenario() -> None:
        lane, journal = RacingLane(SPEEDUPS), MemoryJournal()
        scores = Scoreboard()
        seed = replace(passed(SEED_ID, 1.0), seconds={"device": HOURS})
        scores.apply(Evaluated(evaluation=seed, verified=True))
        busy = dispatcher(lane, journal, scores=scores)
        await busy.begin(SEED)
        await busy.evaluate(*SMALL)
        assert busy.state().contesting == 1
        await busy.end()
        assert not journal.of(Contested)
        await busy.decide()
        best = busy.state().best
        assert best is not None and best.kernel_id == SMALL[0] and not best.final

    asyncio.run(scenario())


def test_nobody_waits_in_the_end() -> None:
    async def scenario() -> None:
        allowance = Allowance(lambda: 1, lambda: HOURS)
        allowance.begin()
        waiting = asyncio.ensure_future(allowance.due())
        await asyncio.sleep(0)
        assert not waiting.done()
        allowance.end()
        assert not await waiting
        assert not await allowance.due(LARGE_SHARE)

    asyncio.run(scenario())


def test_the_first_goes_at_once_and_a_stop_ends_the_others_wait() -> None:
    async def scenario() -> None:
        lane = RacingLane(SPEEDUPS)
        lane.sitting_s, journal = HOURS, MemoryJournal()
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        for one in (FAR, SMALL, FARTHER):
            await busy.evaluate(*one)
        while not journal.of(Contested):
            await asyncio.sleep(0)
        await busy.end()
        assert len(journal.of(Contested)) == 1
        assert busy.state().contesting == 0

    asyncio.run(scenario())


def test_what_still_waits_when_the_search_ends_has_its_contest_then() -> None:
    async def scenario() -> None:
        lane = RacingLane(SPEEDUPS)
        lane.sitting_s, journal = HOURS, MemoryJournal()
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        await busy.evaluate(*FAR)
        while not journal.of(Contested):
            await asyncio.sleep(0)
        await busy.evaluate(*SMALL)
        await busy.end()
        assert [one.kernel_id for one in journal.of(Contested)] == [FAR[0]]
        await busy.finish(0.0)
        best = busy.state().best
        assert best is not None and best.kernel_id == SMALL[0]

    asyncio.run(scenario())


def test_nothing_is_spent_in_a_pause() -> None:
    async def scenario() -> None:
        pause = Gate()
        pause.set(closed=True)
        allowance = Allowance(lambda: 1, lambda: 0.0, pause)
        assert allowance.due_in() > 0
        waiting = asyncio.ensure_future(allowance.due())
        await asyncio.sleep(0.01)
        assert not waiting.done()
        pause.set(closed=False)
        assert allowance.due_in() == 0 and await waiting

    asyncio.run(scenario())
