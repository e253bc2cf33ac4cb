"""Crossover: the first parent's code with parameters of both."""

from evaluators.kernel.source import KernelSource
from operators.catalog.generic.proposals import GenericEdits, known_ids, line_of_experiments
from operators.catalog.landscape import key_of, known_points, parsed
from operators.catalog.technique import changes
from operators.individual import Candidate, Individual
from operators.operator import Context, Declined, Draft

TRIES = 32


class CatalogCrossover:
    """Uniform crossover over the parameters that both parents declare.

    Parents of one family mix freely; otherwise the names they share carry over what was
    learned (a tile's size, a block's shape), where the first parent's space admits the value.
    Where they share none, the generic edits that led to the second are tried on the first.
    """

    def __init__(self, generic: GenericEdits | None = None) -> None:
        self._generic = generic

    async def cross(self, first: Individual, second: Individual, context: Context) -> Draft:
        """A mix that is neither parent nor known to the island. Raises Declined."""
        try:
            return self._mixed(first, second, context)
        except Declined:
            line = line_of_experiments(second, context.individuals)
            if self._generic is None or not line:
                raise
        return self._generic.transplanted(first.candidate.source, line, known_ids(context))

    def _mixed(self, first: Individual, second: Individual, context: Context) -> Draft:
        kernel = parsed(first.candidate.source)
        other = parsed(second.candidate.source)
        differing = _differing(kernel, other)
        if not differing:
            raise Declined(f"{first.id} and {second.id} share no parameter that differs")
        seen = known_points(context.individuals.values()) | {key_of(kernel), key_of(other)}
        for _ in range(TRIES):
            taken = context.rng.random(len(differing)) < 0.5
            changed = {
                name: other.params[name]
                for name, take in zip(differing, taken, strict=True)
                if take
            }
            if not changed or not kernel.feasible(changed):
                continue
            params = {**kernel.params, **changed}
            if key_of(kernel, params) in seen:
                continue
            return Draft(
                candidate=Candidate.from_source(kernel.with_params(changed).text),
                report=f"crossover: {changes(kernel.params, params)} from {second.id}",
            )
        raise Declined(f"no new feasible mix of {first.id} and {second.id} turned up")


def _differing(kernel: KernelSource, other: KernelSource) -> list[str]:
    return [
        name
        for name, value in kernel.params.items()
        if name in other.params
        and other.params[name] != value
        and other.params[name] in kernel.space.get(name, ())
    ]
