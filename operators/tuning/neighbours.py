"""The next untried point beside a fast kernel, and a share of the tries for every structure."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evaluators.evaluation import Rejected
from evaluators.kernel.source import KernelSource
from operators.catalog.landscape import Key, Landscape, key_of, known_points, parsed
from operators.catalog.mutator import steps
from operators.catalog.technique import changes
from operators.individual import Candidate, Individual
from operators.operator import Draft

LEAST_SHARE = 1 / 8
"""A structure's share of the tries, beside the fastest one's, goes with the square of its speed;
the slowest gets this much, so that every structure has its first points early."""

Params = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A point that nobody has tried, and the kernel that it is a mutation of."""

    parent: Individual
    draft: Draft


@dataclass(slots=True)
class _Structure:
    """Kernels that differ in parameters only. passed, parents: fastest first."""

    members: list[Individual]
    passed: list[Individual]
    parents: list[Individual]


class Neighbours:
    """Its choice follows from what it is shown: it remembers only what it need not look at again.

    Structures take turns by stride scheduling (Waldspurger and Weihl, MIT/LCS/TM-528, 1995).
    """

    def __init__(self) -> None:
        self._spent: set[str] = set()  # ids of kernels without an untried neighbour

    def next(
        self,
        parents: Iterable[Individual],
        points: Iterable[Individual],
        known: Collection[str],
    ) -> Proposal | None:
        """parents: whose neighbours may be tried; points: all that were measured, whatever came of
        them; known: ids of all kernels that are no news. None: no point is beside one that passed.

        The fastest point that has an untried neighbour comes first."""
        structures = _structures(parents, points)
        fastest = max((_speed(one.parents[0]) for one in structures), default=1.0)

        def turn(one: _Structure) -> tuple[float, float, str]:
            speed = _speed(one.parents[0])
            share = max(LEAST_SHARE, (speed / fastest) ** 2)
            return len(one.members) / share, -speed, one.parents[0].id

        for structure in sorted(structures, key=turn):
            for centre in structure.passed:
                if centre.id in self._spent:
                    continue
                found = _neighbour(centre, structure.members, known)
                if found is not None:
                    return _proposal(structure.parents[0], found)
                self._spent.add(centre.id)
        return None


def _structures(parents: Iterable[Individual], points: Iterable[Individual]) -> list[_Structure]:
    """Those with a parent that passed and declares a space."""
    found: dict[str, _Structure] = defaultdict(lambda: _Structure([], [], []))
    for one in points:
        kernel = _parsed(one)
        if kernel is not None:
            found[kernel.structure].members.append(one)
            if one.evaluation.passed:
                found[kernel.structure].passed.append(one)
    for one in parents:
        kernel = _parsed(one)
        if kernel is not None and kernel.space and one.evaluation.passed:
            found[kernel.structure].parents.append(one)
    for structure in found.values():
        for ranked in (structure.parents, structure.passed):
            ranked.sort(key=lambda one: (-_speed(one), one.id))
    return [structure for structure in found.values() if structure.parents]


def _parsed(one: Individual) -> KernelSource | None:
    try:
        return parsed(one.candidate.source)
    except Rejected:
        return None


def _speed(individual: Individual) -> float:
    """Over the naive seed, whose own evaluation may name none."""
    return individual.evaluation.speedup or 1.0


def _proposal(parent: Individual, made: KernelSource) -> Proposal:
    """Whichever point it is beside, it is told as a change of the structure's fastest kernel."""
    changed = changes(parsed(parent.candidate.source).params, made.params)
    report = f"mutation in idle device time: {changed}"
    draft = Draft(candidate=Candidate.from_source(made.text), report=report)
    return Proposal(parent=parent, draft=draft)


def _neighbour(
    centre: Individual, members: Sequence[Individual], known: Collection[str]
) -> KernelSource | None:
    """One parameter one step; where all of these are known, two of them."""
    kernel = parsed(centre.candidate.source)
    singles = steps(kernel)
    pairs = [{**a, **b} for a, b in combinations(singles, 2) if a.keys() != b.keys()]
    seen = known_points(members)
    for group in (singles, pairs):
        points = [{**kernel.params, **changed} for changed in group]
        fresh = [
            point
            for point in points
            if key_of(kernel, point) not in seen and kernel.feasible(point)
        ]
        for point in _promising(kernel, fresh, members):
            made = kernel.with_params(point)
            if made.id not in known:
                return made
    return None


def _promising(
    kernel: KernelSource, points: Sequence[Params], members: Sequence[Individual]
) -> list[Params]:
    """The best first: by the gain expected, with a standard deviation on top for what is not known
    (Auer, Using Confidence Bounds for Exploitation-Exploration Trade-offs, JMLR 2002)."""
    if not points:
        return []
    keys: list[Key] = [key_of(kernel, point) for point in points]
    gains = Landscape(members).gains(key_of(kernel), keys)
    order = np.argsort(-(gains.mean + gains.deviation), kind="stable")
    return [points[int(place)] for place in order]
