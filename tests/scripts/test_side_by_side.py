"""Pieces of work on cores of their own."""

import os
import subprocess
import sys
import threading

import pytest

from engine.config_errors import ConfigError
from scripts.ablation.side_by_side import core_sets, side_by_side

ASK = "import os; print(sorted(os.sched_getaffinity(0)))"


def cores_of_a_process(_: int) -> str:
    return subprocess.run(
        [sys.executable, "-c", ASK], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_sets_are_disjoint_and_of_that_many_cores() -> None:
    here = os.sched_getaffinity(0)
    for each in range(1, len(here) + 1):
        sets = core_sets(each)
        assert len(sets) == len(here) // each
        assert all(len(one) == each for one in sets)
        assert len(frozenset().union(*sets)) == each * len(sets)
    for each in (0, len(here) + 1):
        with pytest.raises(ConfigError, match=f"--cores {each}: this process may use {len(here)}"):
            core_sets(each)


def test_processes_stay_on_the_cores_of_their_set() -> None:
    sets = core_sets(1)
    said = side_by_side(cores_of_a_process, range(3 * len(sets)), sets)
    assert len(said) == 3 * len(sets)
    assert set(said) <= {str(sorted(one)) for one in sets}


def test_each_set_has_one_piece_at_a_time_and_answers_keep_their_order() -> None:
    busy, lock = [0, 0], threading.Lock()

    def work(item: int) -> int:
        with lock:
            busy[0] += 1
            busy[1] = max(busy)
        threading.Event().wait(0.01)
        with lock:
            busy[0] -= 1
        return item * item

    every = frozenset(os.sched_getaffinity(0))
    assert side_by_side(work, range(9), [every, every]) == [n * n for n in range(9)]
    assert busy[1] <= 2


def test_what_raises_ends_it_and_what_is_begun_is_waited_for() -> None:
    begun: list[int] = []
    ended: list[int] = []

    def work(item: int) -> None:
        begun.append(item)
        if item == 1:
            raise ConfigError("so it is")
        threading.Event().wait(0.1)
        ended.append(item)

    every = frozenset(os.sched_getaffinity(0))
    with pytest.raises(ConfigError, match="so it is"):
        side_by_side(work, range(50), [every, every])
    assert len(begun) < 50
    assert set(begun) - set(ended) == {1}
