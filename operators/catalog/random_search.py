"""Random search: the baseline that evolution is compared with."""

import numpy as np

from evaluators.device_info import DeviceInfo
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task import Task
from operators.catalog.families import families, random_params
from operators.catalog.generic.proposals import GenericEdits
from operators.catalog.structure import Techniques
from operators.individual import Candidate
from operators.operator import Declined, Draft


def random_candidate(
    task: Task,
    rng: np.random.Generator,
    device: DeviceInfo | None = None,
    techniques: Techniques = "all",
) -> Draft:
    """Uniform over the task's families, then over the family's feasible parameters.

    Without families: a random walk of generic edits from the naive seed, then a random point of
    the space that the kernel then has. device: of the walk; None: without one. Raises Declined
    where neither changes anything.
    """
    known = families(task, techniques)
    if known.sources:
        name = list(known.sources)[int(rng.integers(len(known.sources)))]
        source = known.sources[name]
    else:
        text, edits = task.naive, [""]
        if device is not None and techniques != "families":
            text, edits = GenericEdits(task, device).walk(text, rng)
        name, source = "; ".join(["the seed", *filter(None, edits)]), parse_kernel(text)
        if not source.space and text == task.naive:
            raise Declined(f"task {task.name} has no family, and its seed declares no space")
    kernel = source.with_params(random_params(source, rng))
    values = ", ".join(f"{key} = {value}" for key, value in kernel.params.items())
    return Draft(candidate=Candidate.from_source(kernel.text), report=f"random: {name}, {values}")
