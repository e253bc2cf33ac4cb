"""Pairs of arms: by how much one is better than the other, and whether that is shown."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np

from engine.compare.amounts import Amounts
from engine.compare.arms import Arm
from engine.compare.campaign import Campaign, CompareError
from engine.compare.statistics import (
    LEVEL,
    Stratum,
    Values,
    campaigns_needed,
    deviation,
    difference,
    holm,
    interval,
    least_campaigns,
    least_p,
    permutation_p,
)
from engine.history.trajectory import AXES, Axis

Quantity = Literal["best", "area"]
"""Best so far at an amount; the area under it until then."""

QUANTITIES: tuple[Quantity, ...] = get_args(Quantity)

Outcome = Literal["real", "not shown", "too few"]

WORTH_SHOWING = 1.1
"""A ratio, for how many campaigns would do, where the difference seen is too small to look for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What carries the verdict. at: on the axis `over`; None: what all reached. reference: the
    name of a campaign of the arm that others are compared with; all_pairs: every two arms."""

    by: Quantity = "best"
    over: Axis = "evaluations"
    at: float | None = None
    reference: str = ""
    all_pairs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A factor (a speedup, or a ratio of two) with its 95% interval; None where a configuration
    has a single campaign, so that nothing says how campaigns differ."""

    value: float
    ci95: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """How many times as good the second arm of a pair is as the first. p: of the permutation test,
    not adjusted."""

    quantity: Quantity
    axis: Axis
    ratio: Estimate
    p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """On a pair, by its primary cell. p: adjusted for the number of pairs (Holm).

    real: the interval leaves out 1, and p <= 0.05. too few: so few campaigns can show nothing.
    needed: campaigns of each (and task) that would show the ratio needed_for four times in five:
    the one seen, or 1.1 where that is too small to look for; None where the spread is not known,
    or for more than 200. least: with fewer nothing can be shown.
    """

    outcome: Outcome
    p: float
    least: int
    needed: int | None = None
    needed_for: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two arms on the tasks that both have. counts: campaigns of each. by_task: the primary ratio
    on each of several tasks. single: tasks that are left out, as an arm has one campaign there.
    spreads: standard deviations between campaigns of each arm, of logarithms; None where nothing
    says."""

    first: Arm
    second: Arm
    tasks: tuple[str, ...]
    single: tuple[str, ...]
    counts: tuple[int, int]
    cells: tuple[Cell, ...]
    by_task: Mapping[str, Estimate]
    spreads: tuple[float | None, float | None]
    verdict: Verdict

    def cell(self, quantity: Quantity, axis: Axis) -> Cell | None:
        return next((c for c in self.cells if (c.quantity, c.axis) == (quantity, axis)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meeting:
    """Two arms, and the values of their campaigns."""

    first: Arm
    second: Arm
    shared: Sequence[str]
    amounts: Amounts

    @property
    def tasks(self) -> list[str]:
        """Those on which both have several campaigns; all where there are none."""
        return [one for one in self.shared if min(self.counts(one)) > 1] or [*self.shared]

    def counts(self, task: str) -> tuple[int, int]:
        return len(self.first.of_task(task)), len(self.second.of_task(task))

    def strata(self, quantity: Quantity, axis: Axis, tasks: Sequence[str]) -> list[Stratum]:
        return [
            Stratum(
                first=values_of(self.first, task, quantity, axis, self.amounts),
                second=values_of(self.second, task, quantity, axis, self.amounts),
            )
            for task in tasks
        ]


def pair_up(arms: Sequence[Arm], question: Question, amounts: Amounts) -> list[Pair]:
    """Each arm with the first, or all of them. Raises CompareError: no task in common."""
    chosen = combinations(arms, 2) if question.all_pairs else ((arms[0], b) for b in arms[1:])
    meetings = [
        _Meeting(first=first, second=second, shared=shared, amounts=amounts)
        for first, second in chosen
        if (shared := [task for task in first.tasks if task in second.tasks])
    ]
    if not meetings:
        raise CompareError(
            "these configurations have no task in common; compare campaigns of the same task"
        )
    primary = [one.strata(question.by, question.over, one.tasks) for one in meetings]
    adjusted = holm([permutation_p(strata) for strata in primary])
    return [
        _pair(meeting, question, _verdict(strata, p, len(meetings)))
        for meeting, strata, p in zip(meetings, primary, adjusted, strict=True)
    ]


def values_of(arm: Arm, task: str, quantity: Quantity, axis: Axis, amounts: Amounts) -> Values:
    """Logarithms, one for each of an arm's campaigns of a task."""
    amount = amounts[task][axis]
    return np.array([_value(one, quantity, axis, amount) for one in arm.of_task(task)])


def exp(centre: float, ends: tuple[float, float] | None) -> Estimate:
    ci95 = (math.exp(ends[0]), math.exp(ends[1])) if ends else None
    return Estimate(value=math.exp(centre), ci95=ci95)


def _value(campaign: Campaign, quantity: Quantity, axis: Axis, amount: float) -> float:
    if quantity == "area":
        return campaign.trajectory.log_area(axis, amount)
    return math.log(campaign.trajectory.best_at(axis, amount))


def _pair(meeting: _Meeting, question: Question, verdict: Verdict) -> Pair:
    tasks, shared = meeting.tasks, meeting.shared
    counts = [meeting.counts(task) for task in tasks]
    by_task = {task: _ratio(meeting.strata(question.by, question.over, [task])) for task in shared}
    strata = meeting.strata(question.by, question.over, tasks)
    return Pair(
        first=meeting.first,
        second=meeting.second,
        tasks=tuple(tasks),
        single=tuple(task for task in shared if task not in tasks),
        counts=(sum(count for count, _ in counts), sum(count for _, count in counts)),
        cells=tuple(_cells(meeting)),
        by_task=by_task if len(shared) > 1 else {},
        spreads=(deviation([s.first for s in strata]), deviation([s.second for s in strata])),
        verdict=verdict,
    )


def _cells(meeting: _Meeting) -> Iterator[Cell]:
    for axis in AXES:
        if all(axis in meeting.amounts[task] for task in meeting.tasks):
            for quantity in QUANTITIES:
                strata = meeting.strata(quantity, axis, meeting.tasks)
                p = permutation_p(strata)
                yield Cell(quantity=quantity, axis=axis, ratio=_ratio(strata), p=p)


def _ratio(strata: Sequence[Stratum]) -> Estimate:
    return exp(difference(strata), interval(strata))


def _verdict(strata: Sequence[Stratum], p: float, pairs: int) -> Verdict:
    """p: adjusted for so many pairs."""
    ends, level = interval(strata), LEVEL / pairs
    least = least_campaigns(len(strata), level)
    if ends is not None and p <= LEVEL and not ends[0] <= 0 <= ends[1]:
        return Verdict(outcome="real", p=p, least=least)
    counts = [(len(one.first), len(one.second)) for one in strata]
    can_show = ends is not None and least_p(counts) <= level
    needed, effect = _needed(strata, level)
    return Verdict(
        outcome="not shown" if can_show else "too few",
        p=p,
        least=least,
        needed=needed,
        needed_for=None if needed is None else math.exp(effect),
    )


def _needed(strata: Sequence[Stratum], level: float) -> tuple[int | None, float]:
    """More than there are, for the effect seen or WORTH_SHOWING; and that effect."""
    spread = deviation([values for one in strata for values in (one.first, one.second)])
    seen = difference(strata)
    if spread is None:
        return None, seen
    there = min(min(len(one.first), len(one.second)) for one in strata)
    for effect in (seen, math.copysign(math.log(WORTH_SHOWING), seen)):
        needed = campaigns_needed(effect, spread, len(strata), level)
        if needed is not None:
            return max(needed, there + 1), effect
    return None, seen
