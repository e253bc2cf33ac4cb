"""Tests of idle device time: mutations fill it, on a budget of their own, and delay nobody."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

import pytest

from engine.dispatch.dispatcher import Dispatcher
from engine.dispatch.idle import Occupancy
from engine.dispatch.setting import TuningLimits
from engine.dispatch.workbench import Built
from engine.ending import Stopped
from engine.store.events import EpochStarted, Evaluated
from engine.store.scoreboard import Scoreboard
from evaluators.evaluation import Evaluation
from tests.engine.dispatch.test_dispatcher import (
    SEED,
    SEED_ID,
    MemoryJournal,
    ScriptedLane,
    compile_at_once,
    dispatcher,
    kernel,
    passed,
)

FIRST = 100
"""Numbers of mutations begin here; those of kernels that are asked for are smaller."""


class Mutations:
    """An island that has so many mutations to try. ask: those asked of it, by island."""

    def __init__(self, count: int) -> None:
        self.left = list(range(FIRST, FIRST + count))
        self.islands: list[int] = []
        self.dispatcher: Dispatcher | None = None

    async def mutate(self, island: int) -> bool:
        self.islands.append(island)
        if not self.left:
            return False
        assert self.dispatcher is not None
        try:
            await self.dispatcher.evaluate(*kernel(self.left.pop(0)), idle=True)
        except Stopped:
            return False
        return True


Compile = Callable[[str], Awaitable[Built | Evaluation]]


async def tuning(
    lane: ScriptedLane,
    journal: MemoryJournal,
    count: int,
    *,
    allowed: int = 1000,
    budget: int | None = None,
    compile: Compile = compile_at_once,
    scores: Scoreboard | None = None,
    islands: Iterable[int] = (0,),
    others: Iterable[ScriptedLane] = (),
) -> tuple[Dispatcher, Mutations]:
    """A dispatcher whose devices are idle, and an island with so many mutations for them."""
    mutations = Mutations(count)
    limits = TuningLimits(budget=allowed, islands=[*islands], mutate=mutations.mutate)
    made = dispatcher(
        lane, journal, *others, compile=compile, budget=budget, scores=scores, tuning=limits
    )
    mutations.dispatcher = made
    await made.begin(SEED)
    made.tune()
    return made, mutations


async def turns(count: int = 300) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def ids(*numbers: int) -> list[str]:
    return [kernel(number)[0] for number in numbers]


def test_idle_devices_measure_mutations_beside_the_budget_of_evaluations() -> None:
    async def scenario() -> None:
        lane, journal = ScriptedLane({}), MemoryJournal()
        busy, _ = await tuning(lane, journal, 5, budget=2)
        while busy.state().tuned < 5:
            await asyncio.sleep(0)
        assert lane.measured == [SEED_ID, *ids(*range(FIRST, FIRST + 5))]
        assert [event.tuning for event in journal.of(Evaluated)] == [False] + 5 * [True]
        assert (await busy.evaluate(*kernel(1))).passed  # the seed and this one: two
        with pytest.raises(Stopped):
            await busy.evaluate(*kernel(2))
        assert busy.state().asked == 2

    asyncio.run(scenario())


def test_what_is_asked_for_waits_for_no_mutation_that_is_queued() -> None:
    async def scenario() -> None:
        lane, journal = ScriptedLane({}), MemoryJournal()
        lane.gate = asyncio.Event()
        lane.gate.set()
        busy, _ = await tuning(lane, journal, 40)
        lane.gate.clear()
        while not busy.state().measuring:
            await asyncio.sleep(0)
        await turns()
        state, before = busy.state(), len(lane.measured)
        assert state.measuring == 1 and state.ready >= 1, "one at a time, the next one compiled"
        asks = [asyncio.ensure_future(busy.evaluate(*kernel(number))) for number in (1, 2, 3)]
        await turns()
        lane.gate.set()
        await asyncio.gather(*asks)
        assert sorted(lane.measured[before + 1 : before + 4]) == sorted(ids(1, 2, 3))

    asyncio.run(scenario())


def test_what_is_asked_for_is_compiled_beside_mutations_that_are() -> None:
    async def scenario() -> None:
        slow = asyncio.Event()

        async def compile(source: str) -> Built | Evaluation:
            if f"// {FIRST}" in source:
                await slow.wait()
            return await compile_at_once(source)

        lane, journal = ScriptedLane({}), MemoryJournal()
        busy, _ = await tuning(lane, journal, 9, compile=compile)
        await turns()
        assert (await busy.evaluate(*kernel(1))).passed
        assert busy.state().compiling == 1, "one worker is left for what is asked for"
        again = asyncio.ensure_future(busy.evaluate(*kernel(FIRST)))
        await turns()
        slow.set()
        await again
        assert sum(event.tuning for event in journal.of(Evaluated)) == 0

    asyncio.run(scenario())


def test_a_mutation_that_somebody_asks_for_counts_as_asked_and_goes_first() -> None:
    async def scenario() -> None:
        lane, other, journal = ScriptedLane({}), ScriptedLane({}, "device 1"), MemoryJournal()
        lane.gate = other.gate = asyncio.Event()
        lane.gate.set()
        busy, _ = await tuning(lane, journal, 6, others=[other])
        lane.gate.clear()
        while busy.state().ready < 2 or busy.state().measuring < 2:
            await asyncio.sleep(0)
        asked = asyncio.ensure_future(busy.evaluate(*kernel(FIRST + 3)))  # FIRST + 2 was before it
        await turns()
        lane.gate.set()
        await asked
        stored = {one.evaluation.kernel_id: one.tuning for one in journal.of(Evaluated)}
        assert kernel(FIRST + 3)[0] in list(stored)[1:4]
        assert [stored[one] for one in ids(FIRST, FIRST + 3)] == [True, False]

    asyncio.run(scenario())


def test_the_budget_of_mutations_holds_over_a_resumption_and_its_end_is_told() -> None:
    async def scenario() -> None:
        scores = Scoreboard()
        name, _ = kernel(FIRST - 1)
        scores.apply(Evaluated(evaluation=passed(SEED_ID, 1.0), verified=True))
        scores.apply(EpochStarted(number=0, anchor_id=SEED_ID))
        scores.apply(Evaluated(evaluation=passed(name, 1.0), tuning=True))
        lane, journal = ScriptedLane({}), MemoryJournal()
        busy, _ = await tuning(lane, journal, 9, allowed=3, scores=scores, budget=2)
        while busy.state().tuned < 3:
            await asyncio.sleep(0)
        await turns()
        assert len(lane.measured) == 2
        assert busy.state().idle == "waiting for models, budgets.tuning (3) is spent"
        assert (await busy.evaluate(*kernel(1))).passed

    asyncio.run(scenario())


def test_islands_without_a_mutation_are_asked_again_when_one_offers_something() -> None:
    async def scenario() -> None:
        lane, journal = ScriptedLane({}), MemoryJournal()
        busy, mutations = await tuning(lane, journal, 0, islands=(1, 3))
        while not busy.state().idle:
            await asyncio.sleep(0)
        assert "no kernel declares a space with untried points" in busy.state().idle
        asked = len(mutations.islands)
        assert set(mutations.islands) == {1, 3}
        await turns()
        assert len(mutations.islands) == asked, "nothing is new, so nobody is asked"
        mutations.left = [FIRST]
        busy.offer(3)
        while busy.state().tuned < 1:
            await asyncio.sleep(0)
        assert mutations.islands[asked:].count(1) == 0

    asyncio.run(scenario())


def test_a_stop_ends_what_waits_and_what_is_measured_is_told() -> None:
    async def scenario() -> None:
        lane, journal = ScriptedLane({}), MemoryJournal()
        lane.gate = asyncio.Event()
        lane.gate.set()
        busy, _ = await tuning(lane, journal, 40)
        lane.gate.clear()
        while not busy.state().measuring:
            await asyncio.sleep(0)
        done = len(journal.of(Evaluated))
        ending = asyncio.ensure_future(busy.end())
        await turns()
        lane.gate.set()
        await ending
        assert len(journal.of(Evaluated)) == done + 1
        assert busy.state().idle == ""
        state = busy.state()
        assert (state.compiling, state.ready, state.measuring) == (0, 0, 0)

    asyncio.run(scenario())


def test_a_device_with_any_work_is_not_idle() -> None:
    lane, occupancy = ScriptedLane({}), Occupancy()
    assert occupancy.empty(lane)
    with occupancy.on(lane):
        assert not occupancy.empty(lane)
    lane.free = False
    assert not occupancy.empty(lane)
