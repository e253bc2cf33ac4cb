"""Work that is done side by side, each piece on cores of its own."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from engine.config_errors import ConfigError

Item = TypeVar("Item")
Result = TypeVar("Result")


def core_sets(each: int) -> list[frozenset[int]]:
    """Disjoint sets of that many of the cores that this process may use. Raises ConfigError."""
    cores = sorted(os.sched_getaffinity(0))
    if not 1 <= each <= len(cores):
        raise ConfigError(f"--cores {each}: this process may use {len(cores)} cores")
    return [frozenset(cores[i : i + each]) for i in range(0, len(cores) - each + 1, each)]


def side_by_side(
    work: Callable[[Item], Result], items: Iterable[Item], sets: Sequence[frozenset[int]]
) -> list[Result]:
    """What work gave, in the order of the items. Each set of cores has one piece at a time, and the
    processes that it starts stay on them. What is begun is waited for, also when another piece
    raised, or Ctrl-C came; nothing new is begun then."""
    free: SimpleQueue[frozenset[int]] = SimpleQueue()
    for cores in sets:
        free.put(cores)

    def settle() -> None:
        os.sched_setaffinity(0, free.get())  # of this thread, and so of what it starts

    with ThreadPoolExecutor(len(sets), initializer=settle) as pool:
        return list(pool.map(work, items))
