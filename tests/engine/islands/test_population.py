"""Tests of the population: what stays, what goes, who meets in a tournament."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from engine.islands.population import AddStatus, Population
from tests.engine.conftest import MakeIndividual


def test_what_did_not_pass_is_not_added(individual: MakeIndividual) -> None:
    population = Population(4)
    assert population.add(individual("bad", {})) is AddStatus.NOT_ADDED
    assert len(population) == 0


def test_members_come_fastest_first(individual: MakeIndividual) -> None:
    population = Population(4)
    for name, time_us in (("slow", 90.0), ("fast", 10.0), ("middle", 50.0)):
        assert population.add(individual(name, {"a": time_us})) is AddStatus.NEW
    assert [one.id for one in population] == ["fast", "middle", "slow"]
    assert "slow" in population and "other" not in population


def test_measured_again_the_later_measurement_counts(individual: MakeIndividual) -> None:
    population = Population(4)
    population.add(individual("k", {"a": 10.0}))
    assert population.add(individual("k", {"a": 20.0})) is AddStatus.IMPROVE_EXISTING
    assert [one.evaluation.times_us["a"] for one in population] == [20.0]


@pytest.mark.parametrize(
    ("times_us", "status", "left"),
    [
        ({"a": 9.9, "b": 49.5}, AddStatus.IMPROVE_EXISTING, {"twin"}),
        ({"a": 10.1, "b": 50.5}, AddStatus.NOT_ADDED, {"first"}),
        ({"a": 9.9, "b": 40.0}, AddStatus.NEW, {"first", "twin"}),  # not alike on b
    ],
)
def test_of_two_near_twins_the_faster_stays(
    individual: MakeIndividual, times_us: dict[str, float], status: AddStatus, left: set[str]
) -> None:
    population = Population(4)
    population.add(individual("first", {"a": 10.0, "b": 50.0}, code="same", slot=1))
    assert population.add(individual("twin", times_us, code="same", slot=2)) is status
    assert {one.id for one in population} == left


def test_alike_in_time_only_is_no_twin(individual: MakeIndividual) -> None:
    population = Population(4)
    population.add(individual("first", {"a": 10.0}, code="one"))
    assert population.add(individual("second", {"a": 10.0}, code="another")) is AddStatus.NEW


def test_the_best_on_one_shape_survives(individual: MakeIndividual) -> None:
    population = Population(3)
    specialist = individual("specialist", {"a": 1.0, "b": 9000.0})
    population.add(specialist)
    for number in range(10):
        times_us = {"a": 20.0 + number, "b": 20.0 + number}
        population.add(individual(f"all-round {number}", times_us))
    ids = [one.id for one in population]
    assert len(ids) == 3
    assert "specialist" in ids and ids[0] == "all-round 0"


def test_a_full_population_turns_the_slowest_away(individual: MakeIndividual) -> None:
    population = Population(2)
    population.add(individual("one", {"a": 10.0}))
    population.add(individual("two", {"a": 20.0}))
    assert population.add(individual("three", {"a": 30.0})) is AddStatus.NOT_ADDED
    assert population.add(individual("four", {"a": 5.0})) is AddStatus.NEW
    assert [one.id for one in population] == ["four", "one"]


def test_more_shapes_than_places_keep_the_fastest(individual: MakeIndividual) -> None:
    population = Population(1)
    population.add(individual("a", {"a": 1.0, "b": 100.0, "c": 100.0}))
    population.add(individual("all", {"a": 2.0, "b": 2.0, "c": 2.0}))
    assert [one.id for one in population] == ["all"]


def test_a_tournament_has_the_champion_of_some_shape(individual: MakeIndividual) -> None:
    population = Population(30)
    population.add(individual("on a", {"a": 1.0, "b": 900.0}))
    population.add(individual("on b", {"a": 900.0, "b": 1.0}))
    for number in range(20):
        population.add(individual(f"k{number}", {"a": 50.0 + number, "b": 50.0 + number}))
    for seed in range(50):
        chosen = population.tournament(np.random.default_rng(seed), 4)
        assert len({one.id for one in chosen}) == 4
        assert {"on a", "on b"} & {one.id for one in chosen}
        speedups = [one.evaluation.speedup or 0.0 for one in chosen]
        assert speedups == sorted(speedups, reverse=True)


def test_faster_and_younger_are_drawn_more_often(individual: MakeIndividual) -> None:
    population = Population(60)
    for number in range(60):
        population.add(individual(f"k{number}", {"a": 60.0 - 0.5 * (number % 30)}))
    drawn = Counter(
        one.id
        for seed in range(400)
        for one in population.tournament(np.random.default_rng(seed), 5)
    )
    fast = sum(drawn[f"k{n}"] for n in range(60) if n % 30 >= 20)
    slow = sum(drawn[f"k{n}"] for n in range(60) if n % 30 < 10)
    assert fast > 3 * slow
    young = sum(drawn[f"k{n}"] for n in range(30, 59))
    old = sum(drawn[f"k{n}"] for n in range(29))
    assert young > old


def test_the_same_key_draws_the_same_tournament(individual: MakeIndividual) -> None:
    population = Population(20)
    for number in range(20):
        population.add(individual(f"k{number}", {"a": 50.0 + number}))
    first = population.tournament(np.random.default_rng((7, 0, 3)), 6)
    again = population.tournament(np.random.default_rng((7, 0, 3)), 6)
    assert first == again


@pytest.mark.parametrize("size", [1, 2, 10])
def test_a_tournament_is_never_larger_than_the_population(
    individual: MakeIndividual, size: int
) -> None:
    population = Population(5)
    assert population.tournament(np.random.default_rng(0), size) == []
    for name in "xyz":
        population.add(individual(name, {"a": float(ord(name))}))
    assert len(population.tournament(np.random.default_rng(0), size)) == min(size, 3)


def test_elites_are_the_fastest_then_the_champions(individual: MakeIndividual) -> None:
    population = Population(5)
    population.add(individual("all", {"a": 10.0, "b": 10.0}))
    population.add(individual("second", {"a": 11.0, "b": 11.0}))
    population.add(individual("on b", {"a": 500.0, "b": 5.0}))
    assert [one.id for one in population.elites(2)] == ["all", "on b"]


def test_diversity_counts_structures_not_parameters(individual: MakeIndividual) -> None:
    population = Population(8)
    assert population.diversity() == 0.0
    population.add(individual("k1", {"a": 10.0}, code="one", slot=1))
    population.add(individual("k2", {"a": 20.0}, code="one", slot=2))
    assert population.diversity() == pytest.approx(1.0)
    population.add(individual("k3", {"a": 30.0}, code="two", slot=1))
    population.add(individual("k4", {"a": 40.0}, code="two", slot=2))
    assert population.diversity() == pytest.approx(2.0)


def test_a_capacity_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Population(0)


def test_a_tournament_always_holds_the_champions(individual: MakeIndividual) -> None:
    population = Population(40)
    for number in range(20):
        population.add(individual(f"k{number}", {"a": 50.0 + number, "b": 50.0 + number}))
    population.add(individual("on a", {"a": 1.0, "b": 5000.0}))
    population.add(individual("on b", {"a": 5000.0, "b": 1.0}))
    best = next(iter(population)).id
    for seed in range(50):
        chosen = {one.id for one in population.tournament(np.random.default_rng(seed), 6)}
        assert {best, "on a", "on b"} <= chosen and len(chosen) == 6
    few = [one.id for one in population.tournament(np.random.default_rng(0), 1)]
    assert few == [best]


def test_a_busy_moment_makes_no_champion(individual: MakeIndividual) -> None:
    """Raw times of two moments: the slow one was timed while the machine was twice as fast."""
    fast, slow = individual("fast", {"a": 10.0}), individual("slow", {"a": 20.0})
    raw = replace(slow.evaluation, times_us={"a": 5.0})
    population = Population(2)
    population.add(fast)
    population.add(replace(slow, evaluation=raw))
    assert [one.id for one in population.elites(2)] == ["fast", "slow"]
    population.add(individual("third", {"a": 15.0}))
    assert [one.id for one in population] == ["fast", "third"]
