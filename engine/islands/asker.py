"""Asker: turns a cycle into asks, by the operators of its island."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.config import OperatorMix
from engine.islands.cycle import (
    DESIGN,
    REPAIR_SLOTS,
    SELECT,
    Ask,
    Cycle,
    Hear,
    IdeaBook,
    MakeContext,
    Note,
    ProbeAsks,
    RandomCandidate,
)
from engine.islands.tuning_batch import TuningBatch
from operators.calibration import choose_calibrated
from operators.catalog.selector import draw_rank
from operators.individual import Experiment, Individual
from operators.llm.repair import NOT_BROKEN, moved
from operators.operator import (
    Context,
    Declined,
    Draft,
    Initial,
    Operators,
    Repeat,
    Selection,
    Unusable,
    choose_experiments,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Turns a cycle into asks; note is told of each selection and design on the way."""

    operators: Operators
    random_candidate: RandomCandidate
    mix: OperatorMix
    note: Note
    probes: ProbeAsks
    tuning: TuningBatch | None = None  # None: nobody tunes
    ideas: IdeaBook | None = None  # None: experiments are not compared with those of before

    @property
    def initial_cycles(self) -> int:
        """How many of an island's first cycles measure the initial design."""
        initial = self.operators.initial
        return math.ceil(len(initial) / self.mix.experiments_per_cycle) if initial else 0

    async def asks(self, cycle: Cycle, context: MakeContext, hear: Hear) -> list[Ask]:
        """hear: told how the Base was selected. Raises Declined when nothing can be asked for."""
        match cycle.operator:
            case "experiment":
                return await self._experiments(cycle, context, hear)
            case "crossover":
                return [self._crossover(cycle, context(SELECT, "select").rng)]
            case "mutation":
                return [self._mutation(cycle, context(SELECT, "select").rng)]
            case "tuning":
                return await self._tuning(cycle, context(SELECT, "tune"))
            case "initial":
                return self._initial(cycle)
            case "random":
                slots = range(self.mix.experiments_per_cycle)
                draw = self.random_candidate
                return [Ask(slot=slot, draw=draw, origin="random") for slot in slots]
            case other:
                raise ValueError(f"no operator is called {other!r}")

    async def _experiments(self, cycle: Cycle, context: MakeContext, hear: Hear) -> list[Ask]:
        """Select, design, choose, write each (arXiv 2506.20807)."""
        operators = self.operators
        selection = await operators.selector.select(cycle.tournament, context(SELECT, "select"))
        self.note(cycle.number, selection)
        hear(selection)
        base, reference = (
            cycle.individuals[selection.base_id],
            cycle.individuals[selection.reference_id],
        )
        told = replace(context(DESIGN, "design"), rationale=_why(selection))
        if self.ideas is not None:
            told = replace(told, claimed=await self.ideas.tell(told.island, cycle.number))
        asking = replace(told, probes=await self.probes.left(cycle.number))
        design = await operators.designer.design(base, reference, asking)
        self.note(cycle.number, design)
        self.probes.begin(cycle, design, base)
        chosen, repeated = await self._untried(cycle, told, design.experiments)
        if repeated and not chosen:
            told = replace(told, key=context(DESIGN, "redesign").key, repeated=tuple(repeated))
            again = await operators.designer.design(base, reference, told)
            self.note(cycle.number, again, again=True)
            first = len(design.experiments)
            chosen, repeated = await self._untried(cycle, told, again.experiments, first=first)
        if not chosen:
            tried = "; ".join(f"{one.experiment.technique} is {one.technique}" for one in repeated)
            raise Unusable("designer", f"every experiment was tried before ({tried})", replies=2)

        def ask(slot: int, experiment: Experiment) -> Ask:
            return Ask(
                slot=slot,
                draw=lambda told: operators.writer.write(base, reference, experiment, told),
                origin="experiment",
                parents=(base.id,) if base.id == reference.id else (base.id, reference.id),
                experiment=experiment,
            )

        return [ask(slot, experiment) for slot, experiment in enumerate(chosen)]

    def _in_order(self, cycle: Cycle, experiments: Sequence[Experiment]) -> list[Experiment]:
        """All of them, what is to be written first by the configured rule."""
        if self.mix.calibrates:
            return choose_calibrated(experiments, cycle.calibration, len(experiments))
        return choose_experiments(experiments, len(experiments))

    async def _untried(
        self, cycle: Cycle, told: Context, experiments: Sequence[Experiment], *, first: int = 0
    ) -> tuple[list[Experiment], list[Repeat]]:
        """The choice among what nobody has tried, and what of it somebody had.

        told: what the designer was; first: the number of the first of them in the cycle.
        """
        count = self.mix.experiments_per_cycle
        if self.ideas is None:
            return self._in_order(cycle, experiments)[:count], []
        chosen: list[Experiment] = []
        repeated: list[Repeat] = []
        for experiment in self._in_order(cycle, experiments):
            if len(chosen) == count:
                break
            number = first + experiments.index(experiment)
            earlier = await self.ideas.claim(
                told.island, told.cycle, number, experiment, again=bool(told.repeated)
            )
            if earlier is None:
                chosen.append(experiment)
            else:
                repeated.append(
                    Repeat(
                        experiment=experiment,
                        technique=earlier.technique,
                        description=earlier.description,
                    )
                )
        return chosen, repeated

    def repair(self, ask: Ask, made: Sequence[Individual]) -> Ask | None:
        """The last candidate's way back to its writer; None where nobody repairs it (again).

        made: the ask's candidate, and what its repairs made of it so far. One repair more than
        configured where the last of them moved the error.
        """
        repairer, failed, attempt = self.operators.repairer, made[-1], len(made)
        if repairer is None or failed.evaluation.status in NOT_BROKEN:
            return None
        more = attempt > 1 and moved(made[-2].evaluation, failed.evaluation)
        if attempt > self.mix.repairs + more:
            return None
        return Ask(
            slot=ask.slot % REPAIR_SLOTS + attempt * REPAIR_SLOTS,
            draw=lambda told: repairer.repair(failed, told),
            origin="repair",
            parents=failed.parents,
            repairs=failed.id,
            experiment=failed.experiment,
        )

    def _initial(self, cycle: Cycle) -> list[Ask]:
        """By the cycle's number, so that none is measured twice after a kill."""
        count = self.mix.experiments_per_cycle
        first = (cycle.number - 1) * count

        def ask(slot: int, initial: Initial) -> Ask:
            async def draw(context: Context) -> Draft:
                return initial.draft(first + slot)

            experiment = initial.experiment(first + slot)
            return Ask(
                slot=slot,
                draw=draw,
                origin="initial",
                parents=() if experiment is None else seed,
                experiment=experiment,
            )

        seed = tuple(one.id for one in cycle.individuals.values() if one.origin == "seed")[:1]
        initial = self.operators.initial
        return [ask(slot, initial) for slot in range(count)] if initial else []

    def _crossover(self, cycle: Cycle, rng: np.random.Generator) -> Ask:
        if len(cycle.tournament) < 2:
            raise Declined("crossover needs two parents, and the tournament has one member")
        others = list(cycle.tournament)
        first = others.pop(draw_rank(len(others), rng))
        second = others[draw_rank(len(others), rng)]
        return Ask(
            slot=0,
            draw=lambda told: self.operators.crossover.cross(first, second, told),
            origin="crossover",
            parents=(first.id, second.id),
        )

    def _mutation(self, cycle: Cycle, rng: np.random.Generator) -> Ask:
        parent = cycle.tournament[draw_rank(len(cycle.tournament), rng)]
        return Ask(
            slot=0,
            draw=lambda told: self.operators.mutator.mutate(parent, told),
            origin="mutation",
            parents=(parent.id,),
        )

    async def _tuning(self, cycle: Cycle, told: Context) -> list[Ask]:
        if self.tuning is None:
            raise Declined("nobody tunes here")
        # One for a cycle: the next knows what became of it, or that it is under way.
        return [Ask.mutation(0, await self.tuning.one(cycle.tournament, told))]


def _why(selection: Selection) -> str:
    """A model's reasons; those of a draw by lot help nobody."""
    return selection.rationale if selection.decided_by == "model" else ""
