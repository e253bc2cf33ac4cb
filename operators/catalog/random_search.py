"""Random search: the baseline that evolution is compared with."""

import numpy as np

from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task import Task
from operators.catalog.families import families, random_params
from operators.individual import Candidate
from operators.operator import Declined, Draft


def random_candidate(task: Task, rng: np.random.Generator) -> Draft:
    """Uniform over the task's families, then over the family's feasible parameters.

    Without families: over the naive seed's own space. Raises Declined when it has none.
    """
    known = families(task)
    if known.sources:
        name = list(known.sources)[int(rng.integers(len(known.sources)))]
        source = known.sources[name]
    else:
        name, source = "the seed", parse_kernel(task.naive)
        if not source.space:
            raise Declined(f"task {task.name} has no family, and its seed declares no space")
    kernel = source.with_params(random_params(source, rng))
    values = ", ".join(f"{key} = {value}" for key, value in kernel.params.items())
    return Draft(candidate=Candidate.from_source(kernel.text), report=f"random: {name}, {values}")
