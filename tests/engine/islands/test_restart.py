"""Tests of how islands begin, by an initial design, and begin again where they stagnate."""

from typing import Any

import pytest

from engine.islands.memory import Memory
from engine.islands.population import Population
from engine.islands.restart import diverse
from engine.store.events import Added, CycleStarted, Drafted
from evaluators.kernel.source import parse_kernel
from operators.catalog.families import families
from operators.individual import Individual
from tests.engine.islands.test_island import TASK, World, drafts, judged
from tests.operators.examples import individual as passed

ALONE = {"count": 1, "cycles_in_flight": 1}
SOURCE = """/*---
params: {A: 1, B: 1}
space: {A: [1, 2, 4, 8, 16], B: [1, 2, 4, 8, 16]}
launches: [{kernel: k, grid: [1], block: [64], args: [x]}]
---*/
__global__ void k(float* x) { x[0] = A + B; }
"""


def point(a: int, b: int, speed: float) -> Individual:
    return passed(parse_kernel(SOURCE).with_params({"A": a, "B": b}).text, speed)


def params(one: Individual) -> dict[str, int]:
    return dict(parse_kernel(one.candidate.source).params)


# --- the first generation -----------------------------------------------------------------------


def test_an_island_begins_with_points_of_every_family() -> None:
    world = World(budget=40, islands={**ALONE, "initial": 2})
    world.run()
    known = families(TASK)
    first = [event for event in world.of(CycleStarted) if event.operator == "initial"]
    assert [event.cycle for event in first] == list(range(1, 1 + len(first)))
    drafted = [one for one in world.of(Drafted) if 0 < one.cycle <= len(first)]
    found = [known.of(parse_kernel(one.candidate.source)) for one in drafted]
    assert {name: found.count(name) for name in known.sources} == dict.fromkeys(known.sources, 2)
    assert {one.origin for one in drafted} == {"initial"}
    assert {one.operator for one in world.of(CycleStarted)[len(first) :]} - {"initial"}


def test_a_quarter_of_the_evaluations_is_the_most() -> None:
    world = World(budget=20, islands={**ALONE, "initial": 50}, budgets={"evaluations": 12})
    world.run()
    made = [one for one in world.of(Drafted) if one.report.startswith("initial design: ")]
    assert len(made) == 3


def test_islands_of_models_or_chance_have_no_part_in_it() -> None:
    for kind in ("random", "catalog"):
        mixes: list[dict[str, Any]] = [{"kind": kind}, {"kind": "random"}]
        world = World(budget=0, operators=mixes, islands={"count": 3, "initial": 2})
        expected = [0, 2] if kind == "catalog" else []
        assert world.config.designing_islands == expected


@pytest.mark.parametrize("kept", range(3, 70, 7))
def test_resumed_it_goes_on_with_its_first_generation_and_its_restarts(kept: int) -> None:
    islands = {**ALONE, "initial": 2, "restart": 6}
    whole = World(budget=30, islands=islands)
    whole.run()
    assert any(event.restarted for event in whole.of(CycleStarted))
    cut = whole.log[:kept]
    told = [event for event in cut if isinstance(event, Added)]
    resumed = World(budget=30 - max(0, len(told) - 1), earlier=cut, islands=islands)
    resumed.run()
    assert drafts(resumed.log) == drafts(whole.log)
    assert resumed.island.state() == whole.island.state()
    assert resumed.of(CycleStarted) == whole.of(CycleStarted)


# --- restarts -----------------------------------------------------------------------------------


def test_an_island_that_finds_nothing_better_begins_again_without_its_best() -> None:
    world = World(budget=40, islands={**ALONE, "restart": 5})
    world.run()
    starts = world.of(CycleStarted)
    again = next(place for place, event in enumerate(starts) if event.restarted)
    speeds = {one.kernel_id: judged(one.kernel_id).speedup or 0.0 for one in world.of(Drafted)}
    before = [
        event.kernel_id
        for event in world.log[: world.log.index(starts[again])]
        if isinstance(event, Added)
    ]
    assert max(before, key=speeds.__getitem__) not in starts[again].tournament
    assert len(starts[again].tournament) > 1
    stale = before[-5:]
    assert max(map(speeds.__getitem__, stale)) <= max(map(speeds.__getitem__, before[:-5]))


def test_without_the_key_none_does() -> None:
    world = World(budget=40, islands=ALONE)
    world.run()
    assert not any(event.restarted for event in world.of(CycleStarted))


def test_those_far_from_the_best_and_from_each_other_are_taken() -> None:
    archive = [
        point(1, 1, 9.0),
        point(1, 2, 8.9),  # beside the best
        point(16, 16, 8.0),
        point(16, 8, 7.9),  # beside the one before
        point(1, 16, 7.0),
        point(16, 1, 1.0),  # far away, and slow
    ]
    archive += [point(2, 4, 0.5), point(4, 2, 0.4), point(4, 4, 0.3), point(8, 4, 0.2)]
    found = diverse(archive, 2)
    assert [params(one) for one in found] == [{"A": 16, "B": 16}, {"A": 1, "B": 16}]


def test_one_kernel_alone_is_no_new_beginning() -> None:
    memory = Memory(8, World(budget=0).config.operators_of(0))
    memory.take_in([point(1, 1, 2.0)])
    assert not memory.restart()
    assert len(memory.population) == 1


def test_a_population_begins_again_within_its_capacity() -> None:
    population = Population(3)
    for number in (1, 2, 4):
        population.add(point(number, 1, float(number)))
    population.begin_again([point(1, value, 1.0) for value in (1, 2, 4, 8)])
    assert sorted(params(one)["B"] for one in population) == [1, 2, 4]
    assert all(params(one)["A"] == 1 for one in population)
