"""The catalogue's search space: which kernels it can make for a task, and those not yet tried."""

import math
from bisect import bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import get_args

import numpy as np

from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.task import Task
from operators.catalog.families import families
from operators.catalog.generic.techniques import edits_of
from operators.catalog.structure import Kind, Techniques
from operators.individual import Candidate
from operators.operator import Declined, Draft

MOST_COUNTED = 5000
"""Points, whether their constraints hold or not; of a larger space nobody is told how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSpace:
    """Files whose parameters may be chosen: the task's families, else its naive seed alone.

    kind: of the families; None when the task is no problem that the catalogue knows. edits:
    generic ones that the naive seed admits, each of which leads to a kernel with others; 0 where
    there are families, whose spaces are searched to their end.
    """

    task: str
    kind: str | None
    sources: Mapping[str, KernelSource]
    edits: int = 0

    @property
    def largest(self) -> int:
        """How many kernels there are if every constraint holds."""
        return sum(_combinations(source) for source in self.sources.values())

    @property
    def is_small(self) -> bool:
        """Whether it can be enumerated."""
        return all(source.grid.small for source in self.sources.values())

    def count(self) -> int | None:
        """How many kernels there are; None where that is not small enough to be counted."""
        if self.largest > MOST_COUNTED:
            return None
        return sum(len(source.grid.rows) for source in self.sources.values())

    def __str__(self) -> str:
        """In a few words."""
        exact = self.count()
        size = f"up to {self.largest}" if exact is None else f"{exact}"
        if self.edits:
            own = f", and {size} kernels of its own space" if self.sources else ""
            return f"generic edits, {self.edits} of the naive seed alone{own}"
        if self.kind is None:
            return f"{size} kernels of the naive seed's own space"
        return f"{size} kernels of {len(self.sources)} {self.kind} families"

    @property
    def lack(self) -> str:
        """Why nothing can be searched, and what to do; empty when something can."""
        if self.sources or self.edits:
            return ""
        return (
            f"the catalogue can search nothing for the task {self.task}: its families are for "
            f"{', '.join(get_args(Kind))}, the naive seed declares no space, and no generic "
            "technique is used or has a place in it; give the seed params and a space (README, "
            "'A kernel is one file'), or let a model write kernels (operators of kind llm)"
        )


def search_space(task: Task, techniques: Techniques = "all") -> SearchSpace:
    """What catalogue, mutation and random search can reach. Raises Rejected: a bad naive seed."""
    known = families(task, techniques)
    if known.sources:
        return SearchSpace(task=task.name, kind=known.kind, sources=known.sources)
    seed = parse_kernel(task.naive)
    sources = {"the seed": seed} if seed.space else {}
    count = edits_of(task.naive, task) if techniques != "families" else 0
    return SearchSpace(task=task.name, kind=None, sources=sources, edits=count)


def _combinations(source: KernelSource) -> int:
    return math.prod(len(values) for values in source.space.values())


class Sweep:
    """Hands out the kernels of a small space, each once; for islands that find nothing new.

    Single steps and random draws leave points out: those behind a constraint, those whose
    neighbours all failed, and the last few of many.
    """

    def __init__(self, space: SearchSpace, rng: np.random.Generator) -> None:
        """rng: decides the order, so that islands begin at different ends."""
        self._space, self._rng = space, rng
        self._names = list(space.sources)
        self._ends: list[int] = []  # of each source's points, counted over all
        self._left: list[int] | None = None

    @property
    def exhausted(self) -> bool:
        """Whether every point was handed out, or was known before."""
        return self._left is not None and not self._left and not self._space.edits

    def draw(self, known: Collection[str]) -> Draft:
        """A kernel whose id is not among the known ones. Raises Declined when there is none."""
        if not self._space.is_small:
            raise Declined("the space is too large to be enumerated")
        if self._left is None:
            sizes = [len(one.grid.rows) for one in self._space.sources.values()]
            self._ends = list(accumulate(sizes))
            self._left = self._rng.permutation(sum(sizes)).tolist()
        while self._left:
            name, kernel = self._kernel(self._left.pop())
            if kernel.id not in known:
                values = ", ".join(f"{key} = {value}" for key, value in kernel.params.items())
                return Draft(
                    candidate=Candidate.from_source(kernel.text),
                    report=f"not yet tried: {name}, {values}",
                )
        raise Declined("every kernel of the space was tried")

    def _kernel(self, number: int) -> tuple[str, KernelSource]:
        """By its number among all."""
        place = bisect_right(self._ends, number)
        source = self._space.sources[self._names[place]]
        row = number - (self._ends[place - 1] if place else 0)
        return self._names[place], source.with_params(source.grid.params(row))
