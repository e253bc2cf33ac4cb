"""What one island knows: its population, what operators may look up, and what it has met."""

from collections.abc import Iterable

from engine.population import Population
from operators.individual import Individual

REMEMBERED = 1000
"""Individuals that an island can show to its operators, besides its population."""


class Memory:
    """individuals: by kernel id, oldest first; known: ids of all kernels drafted or received
    here; profiles: a profiler's advice by kernel id."""

    def __init__(self, capacity: int) -> None:
        """capacity: of the population."""
        self.population = Population(capacity)
        self.individuals: dict[str, Individual] = {}
        self.known: set[str] = set()
        self.profiles: dict[str, tuple[str, ...]] = {}

    def take_in(self, individuals: Iterable[Individual]) -> str:
        """Returns what the population did with the last of them."""
        status = ""
        for individual in individuals:
            self.known.add(individual.id)
            self.individuals[individual.id] = individual
            status = self.population.add(individual).name
        while len(self.individuals) > REMEMBERED:
            del self.individuals[next(iter(self.individuals))]
        return status
