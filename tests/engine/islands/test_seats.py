"""An island whose candidates are paid for: a place before each question, none lost, none left."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from engine.dispatch.places import Places
from engine.islands.seats import PAID
from engine.store.events import Added, Drafted, Event
from evaluators.evaluation import Evaluation
from operators.individual import Candidate, Experiment, Individual
from operators.operator import Context, Declined, Draft, Operators, Selection
from tests.engine.islands.test_island import OPERATORS, World, judged


class Till:
    """Real places, and how many are out; whatever is asked without one is noted."""

    def __init__(self, budget: int, taken: Any) -> None:
        self._places = Places(budget, taken)
        self.out = self.asking = self.most_asking = self.asked = 0
        self.without: list[str] = []
        self.answered: set[str] = set()

    async def hold(self) -> None:
        await self._places.hold()
        self.out += 1

    def let_go(self) -> None:
        self.out -= 1
        self._places.let_go()

    def fill(self) -> None:
        self.out -= 1
        self._places.fill()

    async def question(self, name: str) -> None:
        """name: of the context; what was answered before costs nothing."""
        if name in self.answered:
            return
        self.asked += 1
        self.asking += 1
        self.most_asking = max(self.most_asking, self.asking)
        if self.asking > self.out:
            self.without.append(name)
        for _ in range(self.asked % 7):
            await moment()
        self.asking -= 1


async def moment() -> None:
    await asyncio.sleep(0)


class Paid:
    """The catalogue's operators, each of whose answers is paid for; every third is of no use."""

    def __init__(self, till: Till) -> None:
        self._till = till

    async def select(self, tournament: Sequence[Individual], context: Context) -> Selection:
        await self._till.question(context.key)
        return await OPERATORS.selector.select(tournament, context)

    async def design(self, base: Individual, reference: Individual, context: Context) -> Any:
        await self._till.question(context.key)
        return await OPERATORS.designer.design(base, reference, context)

    async def write(
        self, base: Individual, reference: Individual, experiment: Experiment, context: Context
    ) -> Draft:
        await self._till.question(context.key)
        if int(context.rng.integers(3)) == 0:
            raise Declined("two replies could not be used")
        return await OPERATORS.writer.write(base, reference, experiment, context)

    async def cross(self, first: Individual, second: Individual, context: Context) -> Draft:
        await self._till.question(context.key)
        return await OPERATORS.crossover.cross(first, second, context)


class PaidWorld(World):
    def __init__(self, *, budget: int, earlier: Sequence[Event] = (), **changes: Any) -> None:
        self.till = Till(budget, lambda: len(self.asked))
        begun = {event.cycle for event in earlier if isinstance(event, Drafted)}
        self.till.answered = {
            f"i0/c{cycle}/{name}" for cycle in begun for name in ("select", "design")
        }
        paid = Paid(self.till)
        tools = replace(OPERATORS, selector=paid, designer=paid, writer=paid, crossover=paid)
        assert isinstance(tools, Operators)
        super().__init__(budget=budget, earlier=earlier, tools=tools, places=self.till, **changes)

    async def evaluate(
        self, kernel_id: str, candidate: Candidate, held: bool = False
    ) -> Evaluation:
        """As the dispatcher, which joins equal requests."""
        if not held and kernel_id not in self.asked:
            await self.till.hold()
            held = True
        if kernel_id in self.asked:
            if held:
                self.till.let_go()
            return judged(kernel_id)
        evaluation = await super().evaluate(kernel_id, candidate)
        self.till.fill()
        return evaluation


def paid_in_vain(world: World) -> set[str]:
    """Candidates that were written and not evaluated."""
    evaluated = {event.kernel_id for event in world.of(Added)} | set(world.asked)
    return {
        draft.key
        for draft in world.of(Drafted)
        if draft.origin in PAID and draft.kernel_id not in evaluated
    }


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("lanes", [1, 4])
def test_nothing_is_asked_without_a_place_and_no_place_is_left(seed: int, lanes: int) -> None:
    world = PaidWorld(budget=14, seed=seed, islands={"cycles_in_flight": lanes})
    assert world.run() == "stopped"
    assert world.till.without == []
    assert len(world.asked) == 14
    assert world.till.out == world.till.asking == 0
    assert paid_in_vain(world) == set()


def test_with_one_evaluation_left_one_lane_asks() -> None:
    world = PaidWorld(budget=1, islands={"cycles_in_flight": 4})
    assert world.run() == "stopped"
    assert world.till.most_asking == 1
    assert len(world.asked) == 1


@pytest.mark.parametrize("kept", [5, 20, 35, 52, 55, 58, 68])
def test_a_resumed_island_comes_to_its_end_and_evaluates_what_was_paid_for(kept: int) -> None:
    whole = PaidWorld(budget=14, islands={"cycles_in_flight": 4})
    whole.run()
    cut = whole.log[:kept]
    told = [event for event in cut if isinstance(event, Added)]
    left = 14 - max(0, len(told) - 1)
    resumed = PaidWorld(budget=left, earlier=cut, islands={"cycles_in_flight": 4})
    resumed.run()
    assert len(resumed.asked) == left
    assert resumed.till.out == 0
    assert resumed.till.without == []
    assert paid_in_vain(resumed) == set()
