"""Mutation: one or two neighbouring steps in a kernel's own space."""

from itertools import combinations

from evaluators.kernel.source import KernelSource
from operators.catalog.generic.proposals import GenericEdits, known_ids
from operators.catalog.landscape import Landscape, key_of, known_points, parsed
from operators.catalog.technique import changes, step
from operators.individual import Candidate, Individual
from operators.operator import Context, Declined, Draft

SINGLE = 0.5  # how often one parameter is changed, rather than two


class CatalogMutator:
    """Works on any kernel with a space, whoever wrote it; on others by generic edits."""

    def __init__(self, generic: GenericEdits | None = None) -> None:
        self._generic = generic

    async def mutate(self, parent: Individual, context: Context) -> Draft:
        """A promising neighbour that the island has not seen.

        Raises Declined when there is none.
        """
        try:
            return self._neighbour(parent, context)
        except Declined:
            if self._generic is None:
                raise
        return self._generic.mutated(parent.candidate.source, known_ids(context), context.rng)

    def _neighbour(self, parent: Individual, context: Context) -> Draft:
        kernel = parsed(parent.candidate.source)
        if not kernel.space:
            raise Declined(f"{parent.id} declares no space")
        individuals = context.individuals.values()
        seen = known_points(individuals) | {key_of(kernel)}
        singles = steps(kernel)
        pairs = [{**a, **b} for a, b in combinations(singles, 2) if a.keys() != b.keys()]
        groups = (singles, pairs) if context.rng.random() < SINGLE else (pairs, singles)
        for group in groups:
            points = [{**kernel.params, **changed} for changed in group]
            points = [
                point
                for point in points
                if key_of(kernel, point) not in seen and kernel.feasible(point)
            ]
            if points:
                gains = Landscape(individuals).gains(
                    key_of(kernel), [key_of(kernel, point) for point in points]
                )
                chosen = points[gains.sample(context.rng, 0, len(points))]
                return Draft(
                    candidate=Candidate.from_source(kernel.with_params(chosen).text),
                    report=f"mutation: {changes(kernel.params, chosen)}",
                )
        raise Declined(f"every neighbour of {parent.id} was tried or breaks a constraint")


def steps(kernel: KernelSource) -> list[dict[str, int]]:
    """Every single parameter moved one place in its space, feasible alone or not."""
    found = []
    for name, values in kernel.space.items():
        for places in (-1, 1):
            value = step(values, kernel.params[name], places)
            if value is not None and value != kernel.params[name]:
                found.append({name: value})
    return found
