"""Tests of kernels that a person gives an island: one candidate each, wherever a kill comes."""

import asyncio

import pytest

from engine.islands.injections import draft_of
from engine.store.events import Added, CycleStarted, Drafted, Event
from engine.store.kinds.steering import Injected
from evaluators.kernel.source import kernel_id
from operators.individual import Candidate
from tests.engine.islands.test_island import TASK, World, judged

MINE = TASK.naive.rstrip() + "\n__device__ float twice(float a) { return 2.0f * a; }\n"


def injected(number: int = 1, text: str = MINE, *, entry: str = "1.json") -> Injected:
    return Injected(number=number, island=0, what="kernel", name="mine.hip", text=text, entry=entry)


def run_with(*events: Injected, budget: int = 6) -> World:
    """An island to which these are given, stored as they are before it hears of them."""
    world = World(budget=budget)
    world.log += events
    for event in events:
        world.island.injections.give(event)
    world.run()
    return world


def its_own(world: World) -> list[Event]:
    """What the log says of the injected kernel."""
    return [one for one in world.of(Drafted) + world.of(Added) if one.slot < 0]


def test_a_kernel_becomes_a_candidate_of_the_island() -> None:
    world = run_with(injected())
    drafted, added = its_own(world)
    assert isinstance(drafted, Drafted) and isinstance(added, Added)
    assert (drafted.key, drafted.origin, drafted.parents) == ("i0/c0/s-1", "injected", ())
    assert (drafted.kernel_id, drafted.report) == (kernel_id(MINE), "mine.hip")
    assert added.key == drafted.key and added.status == "NEW" and added.told_others
    assert world.asked.count(drafted.kernel_id) == 1
    assert len(world.asked) == 6 and len(world.of(Added)) == 7


def test_what_the_island_knows_is_not_evaluated_again() -> None:
    naive, twice = injected(1, TASK.naive), [injected(2), injected(3, entry="3.json")]
    world = run_with(naive, *twice)
    assert [one.key for one in its_own(world)] == ["i0/c0/s-2", "i0/c0/s-2"]
    assert len(world.asked) == len(set(world.asked))


def test_what_another_campaign_found_says_so() -> None:
    assert draft_of(injected(entry="")).origin == "carried"


@pytest.mark.parametrize("stored", ["injected", "drafted"])
def test_a_kill_at_any_point_leaves_one_draft(stored: str) -> None:
    """After an evaluation too, which the dispatcher then answers from its store."""
    whole = run_with(injected())
    last = injected() if stored == "injected" else its_own(whole)[0]
    log = whole.log[: 1 + whole.log.index(last)]
    again = World(budget=6, earlier=log)
    again.run()
    assert [one.key for one in its_own(again)] == ["i0/c0/s-1", "i0/c0/s-1"]
    assert again.asked.count(kernel_id(MINE)) == 1
    done = World(budget=6, earlier=again.log)
    done.run()
    assert kernel_id(MINE) not in done.asked
    keys = [one.key for one in done.of(Drafted)]
    assert len(keys) == len(set(keys))


def test_one_that_the_end_cut_off_is_evaluated_by_the_next_session() -> None:
    world = run_with(injected(), budget=0)
    assert [type(one) for one in its_own(world)] == [Drafted]
    again = World(budget=3, earlier=world.log)
    again.run()
    assert [type(one) for one in its_own(again)] == [Drafted, Added]


def test_a_paused_island_begins_no_cycle() -> None:
    world = World(budget=4, islands={"cycles_in_flight": 1})
    world.island.pause.set(closed=True)

    async def life() -> int:
        """How many cycles had begun when the pause was over."""
        await world.island.begin(Candidate.from_source(TASK.naive), judged(kernel_id(TASK.naive)))
        running = asyncio.ensure_future(world.island.run())
        for _ in range(20):
            await asyncio.sleep(0)
        begun = len(world.of(CycleStarted))
        world.island.pause.set(closed=False)
        await running
        return begun

    assert asyncio.run(life()) == 0 and world.of(CycleStarted)
