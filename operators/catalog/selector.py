"""Selector without a model: the classic tournament, and a Reference worth comparing with."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from evaluators.measuring.gain import gains_over_seed
from operators.individual import Individual
from operators.operator import Context, Selection


class TournamentSelector:
    """Base by rank, Reference by what it is better or different at."""

    async def select(self, tournament: Sequence[Individual], context: Context) -> Selection:
        """tournament: passed individuals, best first, at least one."""
        factors = [context.lines.get(one.id, 1.0) for one in tournament]
        rank = draw_rank(len(tournament), context.rng, factors)
        base = tournament[rank]
        place = f"Base {base.id} is number {rank + 1} of {len(tournament)} ({_speed(base)})"
        reference, why = _reference(base, tournament, context.individuals)
        return Selection(
            base_id=base.id,
            reference_id=reference.id,
            rationale=f"{place}; {why}.",
            decided_by="tournament",
        )


def draw_rank(count: int, rng: np.random.Generator, factors: Sequence[float] | None = None) -> int:
    """A place in a tournament, the best far more often than the others. factors: by place, how
    much more often than by its rank."""
    weights = (1.0 + np.arange(count)) ** -2.0 * np.array(factors or 1.0)
    return int(rng.choice(count, p=weights / weights.sum()))


def _speed(individual: Individual) -> str:
    speedup = individual.evaluation.speedup
    if not individual.evaluation.timed:
        share = 1 / (individual.evaluation.over_seed or 1.0)
        return f"{share:.3g} of the seed's cost, nothing was timed"
    return "the baseline" if speedup is None else f"{speedup:.2f}x over the seed"


def _reference(
    base: Individual, tournament: Sequence[Individual], known: Mapping[str, Individual]
) -> tuple[Individual, str]:
    """The one furthest ahead of the Base on any shape; else the most distant relative; and why."""
    others = [one for one in tournament if one.id != base.id]
    if not others:
        return base, "it is alone, so it is its own Reference"
    ahead, label, one = max(
        ((*_lead(base, one), one) for one in others), key=lambda entry: entry[0]
    )
    if ahead > 0:
        if not base.evaluation.timed:
            share = math.exp(-ahead)
            return one, f"Reference {one.id} has {share:.3g} of the Base's cost on {label}"
        return one, f"Reference {one.id} is {math.exp(ahead):.2f}x as fast on {label}"
    ancestors = _ancestors(base, known)
    shared = {one.id: len(ancestors & _ancestors(one, known)) for one in others}
    distant = min(others, key=lambda one: shared[one.id])
    return distant, (
        f"no other is faster on any shape, and Reference {distant.id} ({_speed(distant)}) is the "
        f"most distant relative, with {shared[distant.id]} common ancestors"
    )


def _lead(base: Individual, other: Individual) -> tuple[float, str]:
    """ln of how many times as fast the other is on its best shape, and which that is."""
    mine, theirs = gains_over_seed(base.evaluation), gains_over_seed(other.evaluation)
    leads = [(theirs[label] - mine[label], label) for label in mine if label in theirs]
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
