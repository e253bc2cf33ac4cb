"""What one island knows: its population, what operators may look up, and what it has met."""

from collections.abc import Iterable
from dataclasses import replace

from engine.islands.population import Population
from evaluators.evaluation import Evaluation
from operators.individual import Individual

REMEMBERED = 1000
"""Individuals that an island can show to its operators, besides its population."""


class Memory:
    """individuals: by kernel id, oldest first, those that other islands told of too; known: ids
    of all kernels drafted or received here; profiles: a profiler's advice by kernel id; revised:
    verdicts that followed a first one, and their numbers, by kernel id."""

    def __init__(self, capacity: int) -> None:
        """capacity: of the population."""
        self.population = Population(capacity)
        self.individuals: dict[str, Individual] = {}
        self.known: set[str] = set()
        self.profiles: dict[str, tuple[str, ...]] = {}
        self.revised: dict[str, tuple[int, Evaluation]] = {}
        self._heard: list[Individual] = []  # since a cycle last began

    def take_in(self, individuals: Iterable[Individual]) -> str:
        """Returns what the population did with the last of them."""
        status = ""
        for individual in map(self._as_revised, individuals):
            self.known.add(individual.id)
            self.individuals[individual.id] = individual
            status = self.population.add(individual).name
        self._forget_oldest()
        return status

    def hear(self, individual: Individual) -> None:
        """Another island tells what became of one of its own; cycles know it from the next on."""
        self._heard.append(individual)

    def take_heard(self) -> tuple[str, ...]:
        """Show operators what was heard of; no population changes. Returns its drafts' keys."""
        heard, self._heard = self._heard, []
        new = [one for one in heard if one.id not in self.individuals]
        for individual in map(self._as_revised, new):
            self.individuals[individual.id] = individual
        self._forget_oldest()
        return tuple(f"i{one.island}/c{one.cycle}/s{one.slot}" for one in new)

    def _forget_oldest(self) -> None:
        while len(self.individuals) > REMEMBERED:
            del self.individuals[next(iter(self.individuals))]

    def _as_revised(self, individual: Individual) -> Individual:
        _, evaluation = self.revised.get(individual.id, (0, individual.evaluation))
        return replace(individual, evaluation=evaluation)

    def revise(self, number: int, evaluation: Evaluation) -> bool:
        """A kernel's new verdict, here and wherever it comes from later; False: it is known."""
        kernel_id = evaluation.kernel_id
        if kernel_id in self.revised and self.revised[kernel_id][0] >= number:
            return False
        self.revised[kernel_id] = number, evaluation
        if kernel_id in self.individuals:
            self.individuals[kernel_id] = replace(
                self.individuals[kernel_id], evaluation=evaluation
            )
        self.population.revise(kernel_id, evaluation)
        return True
