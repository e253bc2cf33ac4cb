"""One cycle of an island: which operator works on which parents, and what it is asked for."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from engine.config import OperatorMix
from engine.store.events import Designed, Selected
from operators.catalog.search_space import Sweep
from operators.individual import Experiment, Individual, Origin
from operators.llm.repair import NOT_BROKEN
from operators.operator import (
    Context,
    Declined,
    Design,
    Draft,
    Operators,
    Selection,
    choose_experiments,
)

# Places in the random key (seed, island, cycle, place); a cycle's slots follow SLOT.
CYCLE, SELECT, DESIGN, SLOT = range(4)

REPAIR_SLOTS = 1000
"""A slot's n-th repair has the slot's number plus n times this."""

RandomCandidate = Callable[[Context], Awaitable[Draft]]
MakeContext = Callable[[int, str], Context]
"""(place in the random key, name of the call) -> what the operator is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """Everything that decides what a cycle does, besides the random key.

    individuals: what operators may look up, as it was when the cycle started; all of the
    tournament is in it. profiles: what profilers said by then, by kernel id.
    """

    number: int
    operator: str
    tournament: tuple[Individual, ...]
    individuals: Mapping[str, Individual]
    profiles: Mapping[str, tuple[str, ...]]


@dataclass(slots=True)
class Tally:
    """What became of a cycle's asks; declined: a sentence each."""

    new: int = 0
    duplicates: int = 0
    declined: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One candidate to be drawn. draw raises Declined."""

    slot: int
    draw: Callable[[Context], Awaitable[Draft]]
    origin: Origin
    parents: tuple[str, ...] = ()
    experiment: Experiment | None = None

    @classmethod
    def untried(cls, sweep: Sweep, known: Collection[str]) -> Self:
        """In the first slot, which a cycle that found nothing new has left empty.

        known: ids of kernels that the island has met.
        """

        async def draw(context: Context) -> Draft:
            return sweep.draw(known)

        return cls(slot=0, draw=draw, origin="random")


def draw_operator(mix: OperatorMix, rng: np.random.Generator) -> str:
    """ "experiment", "crossover" or "mutation" by weight; "random" on an island of that kind."""
    if mix.kind == "random":
        return "random"
    weights = np.array([mix.experiment, mix.crossover, mix.mutation])
    place = int(rng.choice(3, p=weights / weights.sum()))
    return ("experiment", "crossover", "mutation")[place]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Turns a cycle into asks; note is told of each selection and design on the way."""

    operators: Operators
    random_candidate: RandomCandidate
    mix: OperatorMix
    note: Callable[[int, Selection | Design], None]

    async def asks(self, cycle: Cycle, context: MakeContext) -> list[Ask]:
        """Raises Declined when nothing can be asked for."""
        match cycle.operator:
            case "experiment":
                return await self._experiments(cycle, context)
            case "crossover":
                return [self._crossover(cycle)]
            case "mutation":
                return [self._mutation(cycle)]
            case "random":
                slots = range(self.mix.experiments_per_cycle)
                draw = self.random_candidate
                return [Ask(slot=slot, draw=draw, origin="random") for slot in slots]
            case other:
                raise ValueError(f"no operator is called {other!r}")

    async def _experiments(self, cycle: Cycle, context: MakeContext) -> list[Ask]:
        """Select, design, choose by the paper's rule, write each (arXiv 2506.20807)."""
        operators = self.operators
        selection = await operators.selector.select(cycle.tournament, context(SELECT, "select"))
        self.note(cycle.number, selection)
        base, reference = (
            cycle.individuals[selection.base_id],
            cycle.individuals[selection.reference_id],
        )
        told = replace(context(DESIGN, "design"), rationale=_why(selection))
        design = await operators.designer.design(base, reference, told)
        self.note(cycle.number, design)
        chosen = choose_experiments(design.experiments, self.mix.experiments_per_cycle)

        def ask(slot: int, experiment: Experiment) -> Ask:
            return Ask(
                slot=slot,
                draw=lambda told: operators.writer.write(base, reference, experiment, told),
                origin="experiment",
                parents=(base.id,) if base.id == reference.id else (base.id, reference.id),
                experiment=experiment,
            )

        return [ask(slot, experiment) for slot, experiment in enumerate(chosen)]

    def repair(self, ask: Ask, failed: Individual, attempt: int) -> Ask | None:
        """The failed candidate's way back to its writer; None where nobody repairs."""
        repairer = self.operators.repairer
        if repairer is None or failed.evaluation.status in NOT_BROKEN:
            return None
        return Ask(
            slot=ask.slot % REPAIR_SLOTS + attempt * REPAIR_SLOTS,
            draw=lambda told: repairer.repair(failed, told),
            origin="repair",
            parents=(failed.id,),
            experiment=failed.experiment,
        )

    def _crossover(self, cycle: Cycle) -> Ask:
        if len(cycle.tournament) < 2:
            raise Declined("crossover needs two parents, and the tournament has one member")
        first, second = cycle.tournament[:2]
        return Ask(
            slot=0,
            draw=lambda told: self.operators.crossover.cross(first, second, told),
            origin="crossover",
            parents=(first.id, second.id),
        )

    def _mutation(self, cycle: Cycle) -> Ask:
        parent = cycle.tournament[0]
        return Ask(
            slot=0,
            draw=lambda told: self.operators.mutator.mutate(parent, told),
            origin="mutation",
            parents=(parent.id,),
        )


def _why(selection: Selection) -> str:
    """A model's reasons; those of a draw by lot help nobody."""
    return selection.rationale if selection.decided_by == "model" else ""


async def finish_all(slots: Iterable[Awaitable[None]], *, milder: type[Exception]) -> None:
    """Let every slot come to its end, then raise what one raised: a fault sooner than milder."""
    outcomes = await asyncio.gather(*slots, return_exceptions=True)
    raised = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    for error in sorted(raised, key=lambda error: isinstance(error, milder)):
        raise error


def decided(island: int, cycle: int, decision: Selection | Design) -> Selected | Designed:
    """The event that tells of a cycle's selection or design."""
    if isinstance(decision, Selection):
        return Selected(island=island, cycle=cycle, selection=decision)
    return Designed(island=island, cycle=cycle, design=decision)
