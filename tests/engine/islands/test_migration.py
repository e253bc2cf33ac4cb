"""Tests of the topologies."""

import pytest

from engine.config import Topology
from engine.islands.migration import destinations


def test_ring_goes_round() -> None:
    assert [destinations("ring", i, 4, seed=0, round=1) for i in range(4)] == [[1], [2], [3], [0]]


def test_full_reaches_all_others() -> None:
    assert destinations("full", 1, 4, seed=0, round=1) == [0, 2, 3]


def test_random_is_one_other_and_follows_its_key() -> None:
    drawn = [destinations("random", 2, 5, seed=3, round=number) for number in range(1, 60)]
    assert drawn == [destinations("random", 2, 5, seed=3, round=number) for number in range(1, 60)]
    assert {one for targets in drawn for one in targets} == {0, 1, 3, 4}
    assert drawn != [destinations("random", 2, 5, seed=4, round=number) for number in range(1, 60)]


@pytest.mark.parametrize("topology", ["ring", "full", "random"])
def test_a_lone_island_sends_nowhere(topology: Topology) -> None:
    assert destinations(topology, 0, 1, seed=0, round=1) == []
