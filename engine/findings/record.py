"""A campaign's record: what it measured, and a claim that has evidence there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.findings.evidence import Pair
from evaluators.evaluation import Status
from evaluators.kernel.source import KernelSource
from evaluators.measuring.gain import gain, gains_over_seed
from evaluators.measuring.intervals import Spread
from evaluators.weights import over_shapes
from operators.catalog.families import Families
from operators.finding import About, Condition
from operators.individual import Individual
from operators.llm.prompts.points import parsed
from operators.llm.prompts.steps import base_of, gain_over_base


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a campaign measured. drafts: one for every way that led to a kernel, oldest first;
    known: kernels by id; families: of the catalogue, for this task; seed_id: the naive seed's."""

    condition: Condition
    drafts: Sequence[Individual]
    known: Mapping[str, Individual]
    families: Families
    spread: Spread
    seed_id: str
    evaluations: int

    def pair(self, after: Individual, before: Individual, label: str | None = None) -> Pair | None:
        """None: they can't be compared."""
        ratio = gain(after.evaluation, before.evaluation, self.spread, label=label)
        return Pair.of(after.id, before.id, ratio) if ratio else None

    def pair_over_base(self, one: Individual) -> Pair | None:
        ratio = gain_over_base(one, self.known, self.spread)
        base = base_of(one, self.known)
        return Pair.of(one.id, base.id, ratio) if ratio and base else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """win, trap: how the rule is worded where it gains, and where it does not. slower: kernels
    that were too slow to be timed to the end. least: pairs that a rule needs. of_failures: a
    rule that says how kernels fail: failed, and passed in spite of it."""

    about: About
    win: str
    trap: str
    pairs: tuple[Pair, ...] = ()
    slower: tuple[str, ...] = ()
    least: int = 1
    of_failures: bool = False
    failed: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()


def sources(record: Record) -> dict[str, KernelSource]:
    """Of all that can be read and were timed, or stopped; those with variants are no points."""
    timed = Status.PASSED, Status.STOPPED_EARLY
    read = {
        one.id: parsed(one.candidate.source)
        for one in record.known.values()
        if one.evaluation.status in timed
    }
    return {key: one for key, one in read.items() if one is not None and not one.variants}


def speed(one: Individual) -> float:
    """ln of its gain over the naive seed, the mean over shapes; 0 where it was not timed."""
    return over_shapes(gains_over_seed(one.evaluation), one.evaluation.weights)
