"""Tests of an island's mutations in idle device time: drafted, told, resumed; not in the way."""

import asyncio
from collections.abc import Sequence

from engine.ending import Stopped
from engine.islands.population import AddStatus, Population
from engine.store.events import Added, Drafted, Event
from evaluators.evaluation import Evaluation
from operators.individual import Candidate
from tests.engine.conftest import MakeIndividual
from tests.engine.islands.test_island import World, judged


class IdleWorld(World):
    """An island of the catalogue's, whose device has time for so many mutations."""

    def __init__(self, *, idle: int, earlier: Sequence[Event] = ()) -> None:
        self.idle = idle
        self.offers = 0
        super().__init__(
            budget=8,
            earlier=earlier,
            islands={"count": 1},
            evaluate_idle=self.evaluate_idle,
            offer=self.offer,
        )

    async def evaluate_idle(
        self, kernel_id: str, candidate: Candidate, held: bool = False
    ) -> Evaluation:
        if not self.idle:
            raise Stopped
        self.idle -= 1
        return judged(kernel_id)

    def offer(self) -> None:
        self.offers += 1

    def tune(self, count: int) -> list[bool]:
        async def life() -> list[bool]:
            return [await self.island.tuning.next() for _ in range(count)]

        return asyncio.run(life())

    def mutations(self, kind: type[Drafted] | type[Added]) -> list[Drafted | Added]:
        return [event for event in self.of(kind) if event.cycle == 0 and event.slot]


def test_mutations_are_slots_of_no_cycle_and_a_resumption_finishes_them_first() -> None:
    world = IdleWorld(idle=5)
    world.run()
    assert world.tune(6) == [True] * 5 + [False]
    drafted, added = world.mutations(Drafted), world.mutations(Added)
    assert [one.key for one in drafted] == [f"i0/c0/s{slot}" for slot in range(1, 7)]
    assert [one.key for one in added] == [one.key for one in drafted[:5]]
    assert len({event.kernel_id for event in world.of(Drafted)}) == len(world.of(Drafted))
    assert world.island.state().evaluations == 9, "eight that were asked for, and the seed"

    again = IdleWorld(idle=2, earlier=world.log)
    assert again.tune(2) == [True, True]
    assert again.mutations(Added)[5].key == drafted[5].key
    assert again.mutations(Drafted)[6].key == "i0/c0/s7"


def test_an_island_that_had_nothing_says_when_it_has_something_again() -> None:
    world = IdleWorld(idle=5)
    assert world.tune(1) == [False], "there is no kernel yet"
    world.run()
    assert world.offers == 1


def test_a_mutation_joins_the_population_where_it_leads_its_structure(
    individual: MakeIndividual,
) -> None:
    population = Population(10)
    fast = individual("fast", {"a": 10.0, "b": 10.0}, code="x", slot=1)
    population.add(fast)
    for name, times, joins in (
        ("slow", {"a": 20.0, "b": 20.0}, False),
        ("other shape", {"a": 20.0, "b": 5.0}, True),
        ("faster", {"a": 5.0, "b": 4.0}, True),
    ):
        one = individual(name, times, code="x", slot=2, origin="mutation")
        assert one.in_idle_time
        assert (population.add(one) is not AddStatus.NOT_ADDED) is joins, name
    assert population.add(individual("new", {"a": 90.0, "b": 90.0}, origin="mutation")) is (
        AddStatus.NEW
    )
