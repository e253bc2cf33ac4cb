"""Selector without a model: the classic tournament, and a Reference worth comparing with."""

import math
from collections.abc import Mapping, Sequence

from operators.individual import Individual
from operators.operator import Context, Selection


class TournamentSelector:
    """Base by rank, Reference by what it is better or different at."""

    async def select(self, tournament: Sequence[Individual], context: Context) -> Selection:
        """tournament: passed individuals, best first, at least one."""
        weights = [(1 + rank) ** -2.0 for rank in range(len(tournament))]
        total = sum(weights)
        rank = int(context.rng.choice(len(tournament), p=[w / total for w in weights]))
        base = tournament[rank]
        others = [one for one in tournament if one.id != base.id]
        place = f"Base {base.id} is number {rank + 1} of {len(tournament)} ({_speed(base)})"
        if not others:
            reference, why = base, "it is alone, so it is its own Reference"
        else:
            reference, why = _reference(base, others, context.individuals)
        return Selection(
            base_id=base.id,
            reference_id=reference.id,
            rationale=f"{place}; {why}.",
            decided_by="tournament",
        )


def _speed(individual: Individual) -> str:
    speedup = individual.evaluation.speedup
    return "the baseline" if speedup is None else f"{speedup:.2f}x over the seed"


def _reference(
    base: Individual, others: Sequence[Individual], known: Mapping[str, Individual]
) -> tuple[Individual, str]:
    """The one furthest ahead of the Base on any shape; else the most distant relative."""
    ahead, label, one = max(
        ((*_lead(base, one), one) for one in others), key=lambda entry: entry[0]
    )
    if ahead > 1.0:
        times = one.evaluation.times_us[label], base.evaluation.times_us[label]
        return one, (
            f"Reference {one.id} is {ahead:.2f}x faster on {label} "
            f"({times[0]:.4g} against {times[1]:.4g} us)"
        )
    ancestors = _ancestors(base, known)
    shared = {one.id: len(ancestors & _ancestors(one, known)) for one in others}
    distant = min(others, key=lambda one: shared[one.id])
    return distant, (
        f"no other is faster on any shape, and Reference {distant.id} ({_speed(distant)}) is the "
        f"most distant relative, with {shared[distant.id]} common ancestors"
    )


def _lead(base: Individual, other: Individual) -> tuple[float, str]:
    """How many times faster the other is on its best shape, and which that is."""
    mine, theirs = base.evaluation.times_us, other.evaluation.times_us
    leads = [(mine[label] / theirs[label], label) for label in mine if theirs.get(label)]
    return max(leads, default=(-math.inf, ""))


def _ancestors(individual: Individual, known: Mapping[str, Individual]) -> set[str]:
    """Ids of the individual and all its ancestors that the island knows."""
    found: set[str] = set()
    left = [individual.id]
    parents = {individual.id: individual.parents}
    while left:
        one = left.pop()
        if one in found:
            continue
        found.add(one)
        left.extend(parents.get(one) or (known[one].parents if one in known else ()))
    return found
