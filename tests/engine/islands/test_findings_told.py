"""Which islands are told which findings, and what their operators then know."""

from typing import Any

import pytest

from engine.store.kinds.findings import Distilled, FindingsTold
from operators.finding import Finding
from operators.operator import Knowledge
from tests.engine.islands.test_island import TASK, World

OWN = Finding(id="o", kind="win", rule="Tiles", by="model")
THEIRS = Finding(id="t", kind="trap", rule="Padding", by="model", origin="first")
FELL = Finding(id="f", kind="win", rule="Splits", origin="first", fallen="fell at evaluation 9: no")


def distilled(number: int) -> Distilled:
    return Distilled(number=number, evaluations=20 * number, findings=(OWN, THEIRS, FELL))


def told(world: World) -> list[int]:
    return [event.number for event in world.log if isinstance(event, FindingsTold)]


def known(world: World) -> Knowledge:
    cycle = world.island._cycles.next()
    return cycle.knowledge


def test_an_island_is_told_each_once_and_later_cycles_know_what_stands() -> None:
    world = World(budget=5)
    before = world.island
    assert known(world) == Knowledge()
    for number in (1, 1, 3, 2):
        before.know(distilled(number))
    assert told(world) == [1, 3]
    after = known(world)
    assert [line.partition(" (")[0] for line in after.findings] == ["Tiles", "trap: Padding"]
    assert "found by first" in after.findings[1] and TASK.hash not in after.findings[1]
    assert after.brought == (THEIRS,)


@pytest.mark.parametrize(
    ("changes", "numbers"),
    [
        ({"islands": {"memory": "own"}}, [0]),
        ({"operators": [{"base": "seed", "crossover": 0, "mutation": 0, "tuning": 0}]}, []),
        ({"operators": [{"kind": "random"}]}, [0]),
        ({}, [0, 1]),
    ],
)
def test_islands_that_share_nothing_know_only_what_was_brought_along(
    changes: dict[str, Any], numbers: list[int]
) -> None:
    world = World(budget=5, **changes)
    for number in (0, 1):
        world.island.know(distilled(number))
    assert told(world) == numbers
