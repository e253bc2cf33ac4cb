"""What one island knows: its population, what operators may look up, and what it has met."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from engine.config import OperatorMix
from engine.islands.population import AddStatus, Population
from engine.islands.restart import diverse
from engine.store.kinds.findings import Distilled
from engine.store.kinds.probes import Probed
from evaluators.evaluation import Evaluation
from operators.finding import lines
from operators.individual import Individual
from operators.operator import NOTHING_LEARNED

REMEMBERED = 1000
"""Individuals that an island can show to its operators, besides its population; and as many
mutations made in idle device time."""


RESTARTED_WITH = 12
"""Kernels that a population begins again with."""


class Memory:
    """individuals: by kernel id, oldest first, those that other islands told of too; known: ids
    of all kernels drafted or received here; tuned: mutations in idle device time that did not
    become members, by kernel id; profiles: a profiler's advice by kernel id; revised: verdicts
    that followed a first one, and their numbers, by kernel id."""

    def __init__(self, capacity: int, mix: OperatorMix) -> None:
        """capacity: of the population; mix: whether cycles see more than the naive seed."""
        self.population = Population(capacity)
        self._evolves = mix.evolves
        self._seed: tuple[Individual, ...] = ()  # one, once it was taken in
        self.individuals: dict[str, Individual] = {}
        self.tuned: dict[str, Individual] = {}
        self.known: set[str] = set()
        self.profiles: dict[str, tuple[str, ...]] = {}
        self.knowledge = NOTHING_LEARNED
        self._answers: dict[str, Probed] = {}  # of probes, by id
        self._distilled = -1  # the number of the last findings that it was told of
        self.revised: dict[str, tuple[int, Evaluation]] = {}
        self._heard: list[Individual] = []  # since a cycle last began
        self._best = 0.0  # of the population, since it last began
        self.stale = 0
        """Kernels of cycles taken in since the population's best was last beaten."""

    def take_in(self, individuals: Iterable[Individual]) -> str:
        """Returns what the population did with the last of them."""
        status = ""
        for individual in map(self._as_revised, individuals):
            self.known.add(individual.id)
            if individual.origin == "seed":
                self._seed = (individual,)
            added = self.population.add(individual)
            # There are many of them: experiments are not forgotten for their sake.
            apart = individual.in_idle_time and added is AddStatus.NOT_ADDED
            (self.tuned if apart else self.individuals)[individual.id] = individual
            status = added.name
            speed = individual.evaluation.over_seed or 0.0
            self.stale = 0 if speed > self._best else self.stale + (not individual.in_idle_time)
            self._best = max(self._best, speed)
        self._forget_oldest()
        return status

    def take_answer(self, probed: Probed) -> bool:
        """A probe's answer, for cycles from the next on; False: it is known."""
        if probed.key in self._answers:
            return False
        self._answers[probed.key] = probed
        shipped_first = sorted(self._answers.values(), key=lambda one: not one.shipped)
        measured = tuple(one.told for one in shipped_first)
        self.knowledge = replace(self.knowledge, measured=measured)
        return True

    def restart(self) -> bool:
        """Begin again with the most diverse that is known; False where that is one kernel."""
        kernels = diverse((*self._seed, *self.individuals.values()), RESTARTED_WITH)
        self.stale = 0
        if len(kernels) < 2:
            return False
        self.population.begin_again(kernels)
        self._best = max(one.evaluation.over_seed or 0.0 for one in kernels)
        return True

    def tournament(self, rng: np.random.Generator, size: int) -> tuple[Individual, ...]:
        """Whom a cycle chooses its parents from, best first; without evolution the seed alone."""
        return tuple(self.population.tournament(rng, size)) if self._evolves else self._seed

    def members(self, ids: Sequence[str]) -> tuple[Individual, ...]:
        """A tournament of before. Raises KeyError."""
        members = {one.id: one for one in (*self._seed, *self.population)}
        known = {**self.individuals, **members}  # others once stayed in it
        return tuple(known[one] for one in ids)

    def shown(self, tournament: Sequence[Individual]) -> Mapping[str, Individual]:
        """What a cycle's operators may look up, by id; without evolution its tournament alone."""
        earlier = self.individuals if self._evolves else {}
        return {**earlier, **{one.id: one for one in tournament}}

    def hear(self, individuals: Iterable[Individual]) -> None:
        """Other islands tell what became of their own; cycles know it from the next on."""
        self._heard += individuals

    def take_heard(self) -> tuple[Individual, ...]:
        """Show operators what was heard of; no population changes. Returns what was new of it."""
        heard, self._heard = self._heard, []
        new = [one for one in heard if one.id not in self.individuals]
        for individual in map(self._as_revised, new):
            self.individuals[individual.id] = individual
        self._forget_oldest()
        return tuple(new)

    def know(self, distilled: Distilled, task_hash: str) -> bool:
        """Later cycles are told these findings; False: it knows these or newer ones."""
        if distilled.number <= self._distilled:
            return False
        self._distilled = distilled.number
        self.knowledge = replace(
            self.knowledge,
            findings=lines(distilled.findings, task_hash),
            brought=tuple(one for one in distilled.findings if one.origin and not one.fallen),
        )
        return True

    def _forget_oldest(self) -> None:
        for remembered in (self.individuals, self.tuned):
            while len(remembered) > REMEMBERED:
                del remembered[next(iter(remembered))]

    def _as_revised(self, individual: Individual) -> Individual:
        _, evaluation = self.revised.get(individual.id, (0, individual.evaluation))
        return replace(individual, evaluation=evaluation)

    def revise(self, number: int, evaluation: Evaluation) -> bool:
        """A kernel's new verdict, here and wherever it comes from later; False: it is known."""
        kernel_id = evaluation.kernel_id
        if kernel_id in self.revised and self.revised[kernel_id][0] >= number:
            return False
        self.revised[kernel_id] = number, evaluation
        for remembered in (self.individuals, self.tuned):
            if kernel_id in remembered:
                remembered[kernel_id] = replace(remembered[kernel_id], evaluation=evaluation)
        self._seed = tuple(map(self._as_revised, self._seed))
        self.population.revise(kernel_id, evaluation)
        return True
