"""Tests of one memory: what an island measures all know, ideas are written once, and a kill
loses nothing of it."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine.config import parse_config
from engine.ending import Stopped
from engine.islands.island import Island
from engine.islands.setting import Setting
from engine.llm.idea_book import IdeaBook
from engine.store.events import (
    Added,
    CycleFinished,
    CycleStarted,
    Designed,
    Drafted,
    Evaluated,
    Event,
)
from engine.store.kinds.ideas import IdeaCompared
from engine.store.kinds.sessions import CampaignStarted, SessionStarted
from engine.store.replay import Replay
from engine.store.store import Stored
from evaluators.evaluation import Evaluation
from evaluators.kernel.source import kernel_id
from operators.catalog import random_candidate
from operators.individual import Candidate, Experiment, Individual
from operators.operator import Context, Design, Draft
from tests.engine.islands.test_island import INFO, OPERATORS, TASK, judged

IDEAS = (
    "Pad each row of the LDS tile by a word against bank conflicts.",
    "Split the reduction over several blocks that add partial sums with atomics.",
    "Unroll the inner loop by eight.",
    "Load sixteen bytes a lane with float4.",
    "Prefetch the next tile while this one is computed.",
    "Let one wavefront take a row, and reduce by shuffles.",
    "Renumber the blocks for locality in L2.",
    "Replace the division by a reciprocal.",
)


class Mind:
    """A designer that offers the ideas in turn, from a place of its own; a writer that obeys."""

    def __init__(self, first: int) -> None:
        self.next = first
        self.shown: list[Context] = []
        self.written: list[str] = []

    async def design(self, base: Individual, reference: Individual, context: Context) -> Design:
        self.shown.append(context)
        await asyncio.sleep(0)
        self.next += 1
        description = IDEAS[(self.next - 1) % len(IDEAS)]
        one = Experiment(
            technique=description.split()[0].lower(),
            description=description,
            rubric="1. Do it.",
            performance=(0, 10),
            innovation=10,
        )
        return Design(avenues=("one",), experiments=(one,))

    async def write(
        self, base: Individual, reference: Individual, experiment: Experiment, context: Context
    ) -> Draft:
        await asyncio.sleep(0)
        self.written.append(experiment.description)
        source = f"{TASK.naive}// {experiment.description}\n"
        return Draft(candidate=Candidate.from_source(source), report="done")


class Archipelago:
    """Two islands, a log, verdicts at once; each island's mind begins with another idea."""

    def __init__(self, budget: int, memory: str = "shared", earlier: Sequence[Event] = ()) -> None:
        values: dict[str, Any] = {
            "task": "transpose",
            "tracking": "none",
            "islands": {"count": 2, "cycles_in_flight": 1, "memory": memory, "patience": 3},
            "migration": {"elites": 0},
            "operators": [{"kind": "llm", "crossover": 0, "mutation": 0}],
            "llm": {"models": {"any": {"model": "any"}}},
        }
        self.config = parse_config(values, where="test")
        self.budget = budget
        self.log: list[Event] = list(earlier)
        shared = memory == "shared"
        replay = replayed(earlier)
        self.book = IdeaBook(self, shared=shared, earlier=replay.ideas)
        self.minds = [Mind(0), Mind(2)]
        self.islands = [self.island(index, shared) for index in range(2)]
        for index, island in enumerate(self.islands):
            island.restore(replay.history(index))
            if shared:
                island.hear(replay.unheard(index, [1 - index]))

    def island(self, index: int, shared: bool) -> Island:
        mind = self.minds[index]
        setting = Setting(
            config=self.config,
            task=TASK,
            device=INFO,
            operators=replace(OPERATORS, designer=mind, writer=mind),
            random_candidate=self.random_candidate,
            journal=self,
            evaluate=self.evaluate,
            send=lambda *_: None,
            share=(lambda one: self.islands[1 - index].hear([one])) if shared else None,
            ideas=self.book,
        )
        return Island(index, setting)

    def post(self, event: Event) -> None:
        self.log.append(event)

    async def commit(self, event: Event) -> None:
        self.log.append(event)
        await asyncio.sleep(0)

    async def evaluate(
        self, kernel_id: str, candidate: Candidate, held: bool = False
    ) -> Evaluation:
        if any(event.evaluation.kernel_id == kernel_id for event in self.of(Evaluated)):
            return judged(kernel_id)
        if self.budget == 0:
            raise Stopped
        self.budget -= 1
        await self.commit(Evaluated(evaluation=judged(kernel_id)))
        return judged(kernel_id)

    async def random_candidate(self, context: Context) -> Draft:
        return random_candidate(context.task, context.rng)

    def run(self) -> list[str]:
        async def life() -> list[str]:
            seed = kernel_id(TASK.naive)
            if not self.of(Evaluated):
                await self.commit(Evaluated(evaluation=judged(seed)))
            for island in self.islands:
                await island.begin(Candidate.from_source(TASK.naive), judged(seed))
            return await asyncio.gather(*(island.run() for island in self.islands))

        return asyncio.run(life())

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.log if isinstance(event, kind)]


def replayed(log: Sequence[Event]) -> Replay:
    whole = Replay(CampaignStarted(config={}, task_hash="t", baseline_id="b"))
    session = SessionStarted(
        number=0, began_at=0.0, budgets={}, device="a device", device_class="class", devices=1
    )
    for number, event in enumerate((session, *log)):
        whole.apply(Stored(number, 0.0, event))
    return whole


def test_what_one_island_measures_the_other_is_shown() -> None:
    world = Archipelago(budget=6)
    world.run()
    shown = world.minds[1].shown[-1].individuals.values()
    assert {one.island for one in shown if one.experiment} == {0, 1}
    assert any(event.heard for event in world.of(CycleStarted))
    populations = [{one.island for one in island._memory.population} for island in world.islands]
    assert populations == [{0}, {1}]


def test_an_idea_is_written_once_however_many_islands_have_it() -> None:
    world = Archipelago(budget=100)
    assert world.run() == ["nothing new", "nothing new"]
    written = [one for mind in world.minds for one in mind.written]
    assert sorted(written) == sorted(IDEAS)
    declined = [reason for event in world.of(CycleFinished) for reason in event.declined]
    assert any("every experiment was tried before" in reason for reason in declined)


def test_a_designer_hears_what_its_idea_repeats_and_is_asked_once_more() -> None:
    world = Archipelago(budget=100)
    world.run()
    told = [context for mind in world.minds for context in mind.shown if context.repeated]
    assert told and all(context.key.endswith("/redesign") for context in told)
    again = [event.key for event in world.of(Designed) if event.again]
    assert again and all(key.endswith("/again") for key in again)


def test_memories_of_their_own_pay_twice() -> None:
    world = Archipelago(budget=100, memory="own")
    world.run()
    written = [one for mind in world.minds for one in mind.written]
    assert len(written) > len(set(written)) == len(IDEAS)
    assert not any(event.heard for event in world.of(CycleStarted))


def test_a_kill_anywhere_loses_nothing_that_was_learned() -> None:
    whole = Archipelago(budget=100)
    whole.run()
    for kept in range(3, len(whole.log), 7):
        cut = whole.log[:kept]
        resumed = Archipelago(budget=100, earlier=cut)
        known = {event.key for event in cut if isinstance(event, IdeaCompared)}
        for island in resumed.islands:
            heard = {one.id for one in island._memory.individuals.values()}
            heard |= {one.id for one in island._memory._heard}
            added = [event for event in cut if isinstance(event, Added)]
            told = {event.kernel_id for event in added if event.cycle}
            assert told <= heard
        resumed.run()
        claimed = [event.key for event in resumed.log if isinstance(event, IdeaCompared)]
        assert len(claimed) == len(set(claimed)) and known <= set(claimed)
        drafted = [event.kernel_id for event in resumed.of(Drafted) if event.cycle]
        assert len(drafted) == len(set(drafted))
