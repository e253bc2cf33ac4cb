"""Cores of a study's workers: disjoint sets, so that real campaigns run side by side."""

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from engine.config_errors import ConfigError
from scripts.ablation.side_by_side import core_sets, side_by_side
from scripts.population.plan import Plan

Item = TypeVar("Item")
Result = TypeVar("Result")


def sets_of(plan: Plan) -> list[frozenset[int]]:
    """One for each worker; none where all have all cores. Raises ConfigError."""
    if plan.cores is None:
        return []
    usable = len(os.sched_getaffinity(0))
    if plan.cores * plan.workers > usable:
        raise ConfigError(
            f"cores: {plan.workers} workers of {plan.cores} cores each need "
            f"{plan.cores * plan.workers}, and this process may use {usable}; "
            "name fewer cores or fewer workers"
        )
    return core_sets(plan.cores)[: plan.workers]


def settle(cores: frozenset[int] | None) -> None:
    """This process, and what it starts, stay on these."""
    if cores is not None:
        os.sched_setaffinity(0, cores)


def on_sets(
    work: Callable[[Item], Result], items: Sequence[Item], sets: Sequence[frozenset[int]]
) -> list[Result]:
    """Side by side on those sets of cores; one after another where there are none."""
    if not sets:
        return [work(one) for one in items]
    return side_by_side(work, items, sets)
