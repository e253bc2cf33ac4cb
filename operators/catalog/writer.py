"""Writer without a model: renders the point that an experiment names."""

from evaluators.evaluation import Rejected
from evaluators.tasks.task import Task
from operators.catalog.families import families
from operators.catalog.generic.proposals import GenericEdits
from operators.catalog.landscape import parsed
from operators.catalog.technique import changes
from operators.individual import Candidate, Experiment, Individual
from operators.operator import Context, Declined, Draft


class CatalogWriter:
    """Realises the catalogue's experiments, and no others."""

    def __init__(self, task: Task, generic: GenericEdits | None = None) -> None:
        self._families = families(task)
        self._generic = generic

    async def write(
        self, base: Individual, reference: Individual, experiment: Experiment, context: Context
    ) -> Draft:
        """Raises Declined: an experiment of another designer, or one that no longer fits."""
        if self._generic is not None and "place" in experiment.params:
            return self._generic.write(base.candidate.source, experiment)
        params = experiment.params.get("params")
        if params is None:
            raise Declined(
                f"experiment {experiment.technique!r} says nothing the catalogue can realise"
            )
        kernel = parsed(base.candidate.source)
        family = experiment.params.get("family")
        try:
            if family is None:
                written = kernel.with_params(params)
            elif family in self._families.sources:
                written = self._families.render(family, params)
            else:
                raise Declined(f"there is no family {family!r} for task {context.task.name} here")
        except Rejected as rejected:
            raise Declined(f"{experiment.technique}: {rejected.reason}") from None
        what = changes(kernel.params, written.params) or "parameters kept"
        where = f"{family}, " if family else ""
        return Draft(
            candidate=Candidate.from_source(written.text),
            report=f"{experiment.technique}: {where}{what}",
        )
