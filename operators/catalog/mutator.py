"""Mutation: one or two neighbouring steps in a kernel's own space."""

from itertools import combinations

from evaluators.kernel import KernelSource, parse_kernel
from operators.catalog.technique import changes, step
from operators.individual import Candidate, Individual
from operators.operator import Context, Declined, Draft

SINGLE = 0.6  # how often one parameter is changed, rather than two


class CatalogMutator:
    """Works on any kernel with a space, whoever wrote it."""

    async def mutate(self, parent: Individual, context: Context) -> Draft:
        """A neighbour that the island has not seen. Raises Declined when there is none."""
        kernel = parse_kernel(parent.candidate.source)
        if not kernel.space:
            raise Declined(f"{parent.id} declares no space")
        steps = _steps(kernel)
        pairs = [{**a, **b} for a, b in combinations(steps, 2) if a.keys() != b.keys()]
        groups = (steps, pairs) if context.rng.random() < SINGLE else (pairs, steps)
        seen = set(context.individuals) | {parent.id}
        for group in groups:
            for i in context.rng.permutation(len(group)):
                changed = group[int(i)]
                if not kernel.feasible(changed):
                    continue
                mutant = kernel.with_params(changed)
                if mutant.id not in seen:
                    return Draft(
                        candidate=Candidate.from_source(mutant.text),
                        report=f"mutation: {changes(kernel.params, mutant.params)}",
                    )
        raise Declined(f"every neighbour of {parent.id} was tried or breaks a constraint")


def _steps(kernel: KernelSource) -> list[dict[str, int]]:
    """Every single parameter moved one place in its space, feasible alone or not."""
    found = []
    for name, values in kernel.space.items():
        for places in (-1, 1):
            value = step(values, kernel.params[name], places)
            if value is not None and value != kernel.params[name]:
                found.append({name: value})
    return found
