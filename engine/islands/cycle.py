"""One cycle of an island: which operator works on which parents, and what it is asked for."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np

from engine.config import OperatorMix
from engine.credit.credit import NOTHING_DRAWN, Drawn
from engine.credit.meter import Bill
from engine.islands.setbacks import Way
from engine.store.events import CycleStarted, Designed, Drafted, Selected
from engine.store.kinds.steering import Injected
from evaluators.kernel.source import kernel_id
from operators.calibration import UNTRIED, Calibration
from operators.catalog.search_space import Sweep
from operators.individual import Candidate, Experiment, Idea, Individual, Origin
from operators.operator import (
    Context,
    Design,
    Draft,
    Knowledge,
    Mutation,
    ProbesLeft,
    Selection,
)

# Places in the random key (seed, island, cycle, place); a cycle's slots follow SLOT.
CYCLE, SELECT, DESIGN, SLOT = range(4)

REPAIR_SLOTS = 1000
"""A slot's n-th repair has the slot's number plus n times this."""

RandomCandidate = Callable[[Context], Awaitable[Draft]]

MakeContext = Callable[[int, str], Context]
"""(place in the random key, name of the call) -> what the operator is told."""

Hear = Callable[[Selection], None]


class IdeaBook(Protocol):
    """All that went to a writer; see engine.llm.idea_book."""

    async def tell(self, island: int, cycle: int) -> tuple[Idea, ...]: ...

    async def claim(
        self,
        island: int,
        cycle: int,
        number: int,
        experiment: Experiment,
        *,
        again: bool,
    ) -> Idea | None: ...


class ProbeAsks(Protocol):
    """An island's probes; see engine.islands.probes."""

    async def left(self, cycle: int) -> ProbesLeft | None: ...

    def begin(self, cycle: "Cycle", design: Design, base: Individual) -> None: ...


class Note(Protocol):
    def __call__(self, cycle: int, decision: Selection | Design, *, again: bool = False) -> None:
        """Log a decision. again: a second design, as the first held nothing new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """Everything that decides what a cycle does, besides the random key.

    individuals: what operators may look up, as it was when the cycle started; all of the
    tournament is in it. profiles: what profilers said by then, by kernel id. knowledge, tuned: see
    Context.
    pending: what the island waited for. way: how it asks. idea: a person's, which it tries. drawn,
    lines: by credit. best: the island's fastest as the cycle started. calibration: of its designer.
    """

    number: int
    operator: str
    tournament: tuple[Individual, ...]
    individuals: Mapping[str, Individual]
    profiles: Mapping[str, tuple[str, ...]]
    knowledge: Knowledge
    tuned: Mapping[str, Individual] | None
    pending: tuple[Candidate, ...]
    way: Way
    idea: Injected | None = None
    drawn: Drawn = NOTHING_DRAWN
    lines: Mapping[str, float] = field(default_factory=dict)
    best: Individual | None = None
    calibration: Calibration = UNTRIED

    def models(self, rng: np.random.Generator) -> Mapping[str, str]:
        """Role -> the name of the model that is asked in place of its own. rng: for credit's."""
        return {**self.drawn.models(rng), **self.way.models}

    def started(
        self, island: int, heard: tuple[str, ...], *, restarted: bool = False
    ) -> CycleStarted:
        """heard, restarted: see the event."""
        return CycleStarted(
            island=island,
            cycle=self.number,
            operator=self.operator,
            tournament=tuple(one.id for one in self.tournament),
            heard=heard,
            restarted=restarted,
            idea=self.idea.number if self.idea else 0,
            drawn=self.drawn.arms,
            shares=self.drawn.shares,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One candidate to be drawn. draw raises Declined."""

    slot: int
    draw: Callable[[Context], Awaitable[Draft]]
    origin: Origin
    parents: tuple[str, ...] = ()
    repairs: str = ""  # id of the kernel that failed, where this is to take its place
    experiment: Experiment | None = None

    def drafted(self, island: int, cycle: int, draft: Draft, bill: Bill) -> Drafted:
        """The event that tells of what was drawn. bill: of its model."""
        return Drafted(
            island=island,
            cycle=cycle,
            slot=self.slot,
            kernel_id=kernel_id(draft.candidate.source),
            candidate=draft.candidate,
            origin=self.origin,
            parents=self.parents,
            repairs=self.repairs,
            experiment=self.experiment,
            report=draft.report,
            writer=bill.writer,
            asked_s=bill.seconds,
            dollars=bill.dollars,
        )

    @classmethod
    def mutation(cls, slot: int, made: Mutation) -> Self:
        async def draw(context: Context) -> Draft:
            return made.draft

        return cls(slot=slot, draw=draw, origin="mutation", parents=(made.parent.id,))

    @classmethod
    def untried(cls, sweep: Sweep, known: Collection[str]) -> Self:
        """In the first slot, which a cycle that found nothing new has left empty.

        known: ids of kernels that the island has met.
        """

        async def draw(context: Context) -> Draft:
            return sweep.draw(known)

        return cls(slot=0, draw=draw, origin="random")


def draw_operator(
    mix: OperatorMix, rng: np.random.Generator, shares: Mapping[str, float] | None = None
) -> str:
    """One of OperatorMix.weights, or by these shares; "random" on an island of that kind."""
    if mix.kind == "random":
        return "random"
    names = list(mix.weights)
    chances = mix.weights if shares is None else shares
    weights = np.array([chances.get(name, 0.0) for name in names])
    return names[int(rng.choice(len(names), p=weights / weights.sum()))]


async def finish_all(slots: Iterable[Awaitable[None]], *, milder: type[Exception]) -> None:
    """Let every slot come to its end, then raise what one raised: a fault sooner than milder."""
    outcomes = await asyncio.gather(*slots, return_exceptions=True)
    raised = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    for error in sorted(raised, key=lambda error: isinstance(error, milder)):
        raise error


def decided(
    island: int, cycle: int, decision: Selection | Design, *, again: bool
) -> Selected | Designed:
    """The event that tells of a cycle's selection or design."""
    if isinstance(decision, Selection):
        return Selected(island=island, cycle=cycle, selection=decision)
    return Designed(island=island, cycle=cycle, design=decision, again=again)
