"""One island's population: bounded, a Pareto front over shapes, without near-twins."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from engine.snapshot import IslandState
from evaluators.evaluation import Evaluation
from evaluators.measuring.gain import gains_over_seed
from operators.individual import Individual

TWIN_LOG_RATIO = 0.02
"""Two kernels of one structure within 2% on every shape are one kernel twice."""

AGE_HALF_LIFE = 30
"""Additions after which a member's weight in a tournament has lost half of its bonus for youth."""


class AddStatus(Enum):
    """What a population did with an individual."""

    NOT_ADDED = "not added"
    IMPROVE_EXISTING = "improved an existing one"
    NEW = "new"


@dataclass(slots=True)
class _Member:
    """gains: ln ratios to the naive seed by shape, paired: raw times of two moments differ by more
    than two kernels do. score: geometric mean speedup over the naive seed, or
    what else orders (Evaluation.over_seed)."""

    individual: Individual
    born: int  # the number of additions offered before it
    gains: Mapping[str, float] = field(init=False)
    score: float = field(init=False)

    def __post_init__(self) -> None:
        self.gains = gains_over_seed(self.individual.evaluation)
        self.score = self.individual.evaluation.over_seed or 0.0


class Population:
    """Passed individuals by id. All decisions follow from the order of the calls and the rng."""

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a population's capacity is at least 1, not {capacity}")
        self.capacity = capacity
        self._members: dict[str, _Member] = {}
        self._offered = 0

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Individual]:
        """Fastest first."""
        return (member.individual for member in self._ranked())

    def __contains__(self, kernel_id: str) -> bool:
        return kernel_id in self._members

    def add(self, individual: Individual) -> AddStatus:
        """Take the individual in, in place of its twin or of the least useful member."""
        self._offered += 1
        if not individual.evaluation.passed:
            return AddStatus.NOT_ADDED
        new = _Member(individual, self._offered)
        if individual.in_idle_time and not self._leads(new):
            return AddStatus.NOT_ADDED
        if individual.id in self._members:
            self._members[individual.id] = new  # measured again: the later measurement counts
            return AddStatus.IMPROVE_EXISTING
        twin = self._twin(new)
        if twin is not None and twin.score >= new.score:
            return AddStatus.NOT_ADDED
        if twin is not None:
            del self._members[twin.individual.id]
        self._members[individual.id] = new
        if twin is not None:
            return AddStatus.IMPROVE_EXISTING
        if len(self._members) > self.capacity:
            loser = self._least_useful()
            del self._members[loser.individual.id]
            if loser is new:
                return AddStatus.NOT_ADDED
        return AddStatus.NEW

    def begin_again(self, with_these: Iterable[Individual]) -> None:
        """As if nothing else had ever been offered."""
        self._members = {
            one.id: _Member(one, self._offered)
            for one in list(with_these)[: self.capacity]
            if one.evaluation.passed
        }

    def revise(self, kernel_id: str, evaluation: Evaluation) -> None:
        """A member's new verdict; one that does not pass any more leaves."""
        member = self._members.get(kernel_id)
        if member is None:
            return
        if evaluation.passed:
            revised = replace(member.individual, evaluation=evaluation)
            self._members[kernel_id] = _Member(revised, member.born)
        else:
            del self._members[kernel_id]

    def members(self, ids: Iterable[str]) -> tuple[Individual, ...]:
        """Raises KeyError."""
        return tuple(self._members[one].individual for one in ids)

    def tournament(self, rng: np.random.Generator, size: int) -> list[Individual]:
        """Up to `size` members, best first.

        The best over all shapes is always among them, then as many as there is room for of
        those that are best on some shape; the others are drawn without replacement by rank and
        age.
        """
        ranked = self._ranked()
        seated = set(self._by_merit(ranked)[: min(size, 1 + len(self._champion_ids()))])
        others = [place for place in range(len(ranked)) if place not in seated]
        weights = np.array([self._weight(place, ranked) for place in others])
        count = min(size - len(seated), len(others))
        if count > 0:
            drawn = rng.choice(others, count, replace=False, p=weights / weights.sum())
            seated |= {int(place) for place in drawn}
        return [ranked[place].individual for place in sorted(seated)]

    def elites(self, count: int) -> list[Individual]:
        """The fastest over all shapes first, then those that are best on some shape."""
        ranked = self._ranked()
        return [ranked[place].individual for place in self._by_merit(ranked)[:count]]

    def _by_merit(self, ranked: list[_Member]) -> list[int]:
        """Places in ranked: the first, then those that are best on some shape, then the others."""
        champions = self._champion_ids()
        return sorted(
            range(len(ranked)),
            key=lambda place: (place != 0, ranked[place].individual.id not in champions, place),
        )

    def diversity(self) -> float:
        """Effective number of structures: exp of the Shannon entropy over sources less params.

        1.0 when all members are one source with other parameters; 0.0 when there are none.
        """
        counts = Counter(_structure(member.individual) for member in self._members.values())
        total = sum(counts.values())
        if not total:
            return 0.0
        return math.exp(-sum(n / total * math.log(n / total) for n in counts.values()))

    def _ranked(self) -> list[_Member]:
        return sorted(self._members.values(), key=lambda m: (-m.score, m.individual.id))

    def _weight(self, place: int, ranked: list[_Member]) -> float:
        by_rank = math.exp(-3.0 * place / len(ranked))
        age = self._offered - ranked[place].born
        return by_rank * (1.0 + math.exp2(-age / AGE_HALF_LIFE))

    def _champion_ids(self) -> set[str]:
        """The best on each shape."""
        members = sorted(self._members.values(), key=lambda m: m.individual.id)
        labels = {label for member in members for label in member.gains}
        return {
            max(members, key=lambda m: m.gains.get(label, -math.inf)).individual.id
            for label in labels
        }

    def _twin(self, new: _Member) -> _Member | None:
        structure = _structure(new.individual)
        for member in self._members.values():
            if _structure(member.individual) == structure and _alike(member.gains, new.gains):
                return member
        return None

    def _leads(self, new: _Member) -> bool:
        """Whether it is faster than every member of its structure, over all or on some shape.

        A population full of one kernel's other parameters would have nothing left to compare.
        """
        structure = _structure(new.individual)
        rivals = [m for m in self._members.values() if _structure(m.individual) == structure]
        return all(new.score > rival.score for rival in rivals) or any(
            all(gain > rival.gains.get(label, -math.inf) for rival in rivals)
            for label, gain in new.gains.items()
        )

    def _least_useful(self) -> _Member:
        """The slowest of those that are nowhere best; dominated ones go first.

        Where every member is best on some shape, the slowest but the fastest over all goes.
        """
        ranked = self._ranked()
        champions = self._champion_ids()
        loose = [m for m in ranked[1:] if m.individual.id not in champions]
        dominated = [m for m in loose if any(_dominates(other.gains, m.gains) for other in ranked)]
        return (dominated or loose or ranked[1:] or ranked)[-1]


def _structure(individual: Individual) -> str:
    """The device code without its front matter, where the parameters stand."""
    return individual.candidate.source.partition("---*/")[2]


def _alike(first: Mapping[str, float], second: Mapping[str, float]) -> bool:
    return first.keys() == second.keys() and all(
        abs(first[label] - second[label]) < TWIN_LOG_RATIO for label in first
    )


def _dominates(first: Mapping[str, float], second: Mapping[str, float]) -> bool:
    """At least as fast on every shape, and faster on one."""
    return (
        first.keys() == second.keys()
        and all(first[label] >= second[label] for label in first)
        and any(first[label] > second[label] for label in first)
    )


def island_state(population: Population, index: int, cycles: int, evaluations: int) -> IslandState:
    """What a snapshot shows of the island with this population."""
    best = next(iter(population), None)
    return IslandState(
        index=index,
        cycles=cycles,
        evaluations=evaluations,
        population=len(population),
        diversity=population.diversity(),
        best_id=best.id if best else "",
        best_speedup=(best.evaluation.over_seed or 0.0) if best else 0.0,
        timed=best is None or best.evaluation.timed,
    )
