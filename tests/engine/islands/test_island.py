"""Tests of an island with the catalogue's operators: its decisions, its log, its resumption."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from engine.config import CampaignConfig, parse_config
from engine.ending import Stopped
from engine.islands.island import Island
from engine.islands.operators import island_operators
from engine.islands.seats import Places
from engine.islands.setting import Evaluate, Setting
from engine.store.events import (
    Added,
    CycleFinished,
    CycleStarted,
    Designed,
    Drafted,
    Evaluated,
    Event,
    Migrated,
    Selected,
)
from engine.store.replay import History
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Status
from evaluators.kernel.source import kernel_id, parse_kernel
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from operators.catalog import catalog_operators, random_candidate
from operators.catalog.search_space import Sweep
from operators.individual import Candidate, Individual
from operators.operator import Context, Draft, Operators

TASK = load_task("transpose")
INFO = DeviceInfo(
    backend="cpu",
    judges_on_device=False,
    private_process=False,
    name="a device",
    arch="x86-64",
    engine="cpu-fission",
    compiler="none",
    wavefront=64,
    lds_bytes=1 << 16,
    max_threads=1024,
    cache_bytes=1 << 20,
)


OPERATORS = catalog_operators(TASK, INFO, "families")


def judged(identity: str) -> Evaluation:
    """Every kernel passes; how fast it is follows from its id, so that runs can be compared."""
    number = int(hashlib.sha256(identity.encode()).hexdigest()[:6], 16)
    times_us = {"a": 10.0 + number % 89, "b": 10.0 + number % 83}
    return Evaluation(
        kernel_id=identity,
        task_hash=TASK.hash,
        device_class=INFO.device_class,
        status=Status.PASSED,
        times_us=times_us,
        speedup=1000.0 / sum(times_us.values()),
    )


class World:
    """One island's surroundings: a log in memory, verdicts at once, a budget of evaluations."""

    def __init__(
        self,
        *,
        budget: int,
        earlier: Sequence[Event] = (),
        task: Task = TASK,
        sweep: Sweep | None = None,
        tools: Operators | None = None,
        places: Places | None = None,
        close: Callable[[], Awaitable[None]] | None = None,
        evaluate_idle: Evaluate | None = None,
        offer: Callable[[], None] = lambda: None,
        **changes: Any,
    ) -> None:
        self.task = task
        values: dict[str, Any] = {"task": "transpose", "tracking": "none", **changes}
        values["islands"] = {"initial": 0, **changes.get("islands", {})}
        self.config: CampaignConfig = parse_config(values, where="test")
        self.budget = budget
        self.log: list[Event] = list(earlier)
        self.asked: list[str] = []
        self.sent: list[tuple[int, int, int, list[str]]] = []
        setting = Setting(
            config=self.config,
            task=task,
            device=INFO,
            operators=tools or island_operators(self.config, 0, task, INFO, None),
            random_candidate=self.random_candidate,
            journal=self,
            evaluate=self.evaluate,
            send=self.send,
            places=places,
            sweep=sweep,
            evaluate_idle=evaluate_idle,
            offer=offer,
        )
        self.close = close
        self.island = Island(0, setting)
        self.island.restore(history(earlier))

    def post(self, event: Event) -> None:
        self.log.append(event)

    async def commit(self, event: Event) -> None:
        self.log.append(event)
        await asyncio.sleep(0)

    async def evaluate(
        self, kernel_id: str, candidate: Candidate, held: bool = False
    ) -> Evaluation:
        assert kernel_id in {e.kernel_id for e in self.log if isinstance(e, Drafted)}
        if len(self.asked) >= self.budget:
            raise Stopped
        self.asked.append(kernel_id)
        await asyncio.sleep(0)
        return judged(kernel_id)

    def send(self, source: int, destination: int, round: int, elites: Sequence[Individual]) -> None:
        self.sent.append((source, destination, round, [one.id for one in elites]))

    async def random_candidate(self, context: Context) -> Draft:
        return random_candidate(context.task, context.rng)

    def run(self) -> str:
        async def life() -> str:
            await self.island.begin(
                Candidate.from_source(self.task.naive), judged(kernel_id(self.task.naive))
            )
            try:
                return await self.island.run()
            finally:
                if self.close is not None:
                    await self.close()

        return asyncio.run(life())

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.log if isinstance(event, kind)]


def history(log: Sequence[Event]) -> History:
    """As Replay.history() gives it."""
    drafts = {event.key: event for event in log if isinstance(event, Drafted)}

    def individuals(event: Event) -> tuple[Individual, ...]:
        keys: tuple[str, ...] = ()
        if isinstance(event, Added):
            keys = (event.key,)
        elif isinstance(event, Migrated):
            keys = event.drafts
        return tuple(drafts[key].individual(judged(drafts[key].kernel_id)) for key in keys)

    return [(event, individuals(event)) for event in log if not isinstance(event, Evaluated)]


def test_a_cycle_selects_designs_drafts_and_tells() -> None:
    world = World(budget=12)
    assert world.run() == "stopped"
    assert world.of(Selected) and world.of(Designed)
    seed, *drafted = world.of(Drafted)
    assert (seed.origin, seed.key) == ("seed", "i0/c0/s0")
    known = {seed.kernel_id}
    for draft in drafted:
        assert set(draft.parents) <= known
        assert (draft.experiment is not None) == (draft.origin == "experiment")
        known.add(draft.kernel_id)
    told = {event.key for event in world.of(Added)}
    assert len(told) == 13
    assert told <= {draft.key for draft in world.of(Drafted)}
    assert len({draft.kernel_id for draft in world.of(Drafted)}) == len(world.of(Drafted))


def test_the_same_seed_makes_the_same_decisions() -> None:
    first, again, other = World(budget=10), World(budget=10), World(budget=10, seed=1)
    for world in (first, again, other):
        world.run()
    assert first.log == again.log
    assert first.log != other.log


def test_islands_with_other_numbers_decide_otherwise() -> None:
    draws = []
    for seed in (0, 1):
        world = World(budget=6, seed=seed, operators=[{"kind": "random"}])
        world.run()
        draws.append([draft.kernel_id for draft in world.of(Drafted)[1:]])
    assert draws[0] != draws[1]


@pytest.mark.parametrize("kept", range(3, 46, 6))
def test_a_resumed_island_goes_on_as_if_never_stopped(kept: int) -> None:
    """Cut the log anywhere: with the rest of the budget, the same drafts come again."""
    whole = World(budget=14, islands={"cycles_in_flight": 1})
    whole.run()
    cut = whole.log[:kept]
    told = [event for event in cut if isinstance(event, Added)]
    resumed = World(budget=14 - max(0, len(told) - 1), earlier=cut, islands={"cycles_in_flight": 1})
    resumed.run()
    assert drafts(resumed.log) == drafts(whole.log)
    assert resumed.island.state() == whole.island.state()
    before = [event.kernel_id for event in told]
    assert not set(before) & set(resumed.asked)


def test_a_log_of_a_population_that_kept_others_is_taken_up() -> None:
    """Harnesses of before chose among members that this one would not have kept."""
    whole = World(budget=14, islands={"cycles_in_flight": 1})
    whole.run()
    assert max(len(event.tournament) for event in whole.of(CycleStarted)) > 1
    resumed = World(budget=2, earlier=whole.log, islands={"cycles_in_flight": 1, "capacity": 1})
    assert resumed.run() == "stopped"
    assert len(resumed.asked) == 2


def drafts(log: Sequence[Event]) -> dict[str, str]:
    return {event.key: event.kernel_id for event in log if isinstance(event, Drafted)}


def test_a_stored_draft_is_evaluated_not_drawn_again() -> None:
    whole = World(budget=14, islands={"cycles_in_flight": 1})
    whole.run()
    told = {event.key for event in whole.of(Added)}
    end, draft = next(
        (place, event)
        for place, event in enumerate(whole.log)
        if isinstance(event, Drafted) and event.cycle and event.key in told
    )
    resumed = World(budget=1, earlier=whole.log[: end + 1])
    resumed.run()
    assert resumed.asked == [draft.kernel_id]
    assert [e.key for e in resumed.of(Drafted)].count(draft.key) == 1


def test_restoring_rebuilds_population_and_counts() -> None:
    world = World(budget=25)
    world.run()
    copy = World(budget=0, earlier=world.log)
    assert copy.island.state() == world.island.state()


def test_duplicates_are_not_paid_for() -> None:
    class Narrow(World):
        async def random_candidate(self, context: Context) -> Draft:
            number = int(context.rng.integers(6))
            return Draft(candidate=Candidate.from_source(f"{TASK.naive}// {number}\n"), report="")

    world = Narrow(budget=400, operators=[{"kind": "random"}], islands={"patience": 20})
    assert world.run() == "nothing new"
    assert len(world.asked) == len(set(world.asked)) == 6
    assert sum(event.duplicates for event in world.of(CycleFinished)) > 0


def test_a_population_of_one_declines_crossover() -> None:
    world = World(
        budget=3,
        operators=[{"experiment": 0, "mutation": 0, "tuning": 0, "crossover": 1}],
        islands={"patience": 3, "cycles_in_flight": 1},
    )
    assert world.run() == "nothing new"
    assert world.asked == []
    declined = [reason for event in world.of(CycleFinished) for reason in event.declined]
    assert len(declined) == 3 and all("two parents" in reason for reason in declined)


def test_elites_leave_every_so_many_evaluations() -> None:
    world = World(
        budget=11, islands={"count": 3}, migration={"topology": "full", "every": 4, "elites": 2}
    )
    world.run()
    assert [sent[:3] for sent in world.sent] == [
        (0, 1, 1),
        (0, 2, 1),
        (0, 1, 2),
        (0, 2, 2),
        (0, 1, 3),
        (0, 2, 3),
    ]
    best = max(world.of(Added), key=lambda event: judged(event.kernel_id).speedup or 0.0)
    assert world.sent[-1][3][0] == best.kernel_id


def test_elites_that_arrive_join_the_population_and_the_log() -> None:
    world = World(budget=0)
    world.run()
    draft = Drafted(
        island=1,
        cycle=4,
        slot=2,
        kernel_id="far",
        candidate=Candidate.from_source("/*---\n---*/ far"),
        origin="experiment",
    )
    before = len(world.of(Migrated))
    world.island.receive(1, 3, [draft.individual(judged("far"))])
    (event,) = world.of(Migrated)[before:]
    assert (event.key, event.drafts) == ("i1>i0/r3", ("i1/c4/s2",))
    assert world.island.state().population == 2
    restored = World(budget=0, earlier=[draft_of_seed(world), draft, *world.log[1:]])
    assert restored.island.state().population == 2


def draft_of_seed(world: World) -> Drafted:
    seed = world.log[0]
    assert isinstance(seed, Drafted)
    return seed


def test_a_tournament_is_written_down_before_the_operators_see_it() -> None:
    world = World(budget=8, islands={"cycles_in_flight": 1})
    world.run()
    started = {event.cycle: event for event in world.of(CycleStarted)}
    for selected in world.of(Selected):
        tournament = started[selected.cycle].tournament
        assert selected.selection.base_id in tournament


@pytest.mark.parametrize(
    ("kind", "devices", "fed", "cycles"),
    [
        ("catalog", 1.0, 1.0, 2),
        ("catalog", 1.0, 1.25, 3),
        ("catalog", 2.0, 1.5, 6),
        ("llm", 1.0, 2.0, 2),
        ("llm", 2.0, 2.0, 4),
    ],
)
def test_more_cycles_are_under_way_where_devices_joined_or_wait(
    kind: str, devices: float, fed: float, cycles: int
) -> None:
    """A model's replies cost what they cost."""

    class Waiting(World):
        async def evaluate(
            self, kernel_id: str, candidate: Candidate, held: bool = False
        ) -> Evaluation:
            """Until there are as many as there will be."""
            self.asked.append(kernel_id)
            if len(self.asked) == 1:
                self.island.widen(devices, fed)
                self.island.widen(1.0, 1.0)  # never fewer
            for _ in range(100):
                await asyncio.sleep(0)
            raise Stopped

    model = {"model": "m", "max_tokens": 16}
    mutations = {"kind": kind, "experiment": 0, "crossover": 0, "mutation": 1, "tuning": 0}
    world = Waiting(
        budget=1,
        operators=[mutations],
        tools=island_operators(World(budget=1).config, 0, TASK, INFO, None),
        llm={"base_url": "http://localhost:1", "models": {"main": model}},
    )
    world.run()
    assert len(world.asked) == cycles


def test_a_fault_ends_the_island_and_is_not_hidden_by_the_end() -> None:
    class Broken(World):
        async def evaluate(
            self, kernel_id: str, candidate: Candidate, held: bool = False
        ) -> Evaluation:
            if len(self.asked) == 1:
                raise LookupError("the store is gone")
            return await super().evaluate(kernel_id, candidate)

    with pytest.raises(LookupError, match="store is gone"):
        Broken(budget=2).run()


def test_a_tuning_cycle_measures_points_of_one_space_and_none_twice() -> None:
    world = World(
        budget=30,
        credit="off",
        operators=[{"experiment": 1, "crossover": 0, "mutation": 0, "tuning": 3}],
    )
    world.run()
    cycles = {one.cycle for one in world.of(CycleStarted) if one.operator == "tuning"}
    tuned = [one for one in world.of(Drafted) if one.cycle in cycles]
    assert len(tuned) > 10 and {one.origin for one in tuned} == {"mutation"}
    assert all(one.report.startswith(("tuning: ", "variants by shape: ")) for one in tuned)
    for cycle in cycles:
        structures = {
            parse_kernel(one.candidate.source).structure for one in tuned if one.cycle == cycle
        }
        assert len(structures) <= 1
    assert len({one.kernel_id for one in world.of(Drafted)}) == len(world.of(Drafted))
