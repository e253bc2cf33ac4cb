"""Individuals and evaluations made by hand; campaigns in one process."""

import math
from collections.abc import Callable, Iterator, Mapping

import pytest

from evaluators.evaluation import Evaluation, Status
from operators.individual import Candidate, Individual, Origin
from tests.engine.local_ray import local_ray

MakeIndividual = Callable[..., Individual]


def evaluation_of(
    kernel_id: str, times_us: Mapping[str, float], *, seed_us: float = 100.0
) -> Evaluation:
    """PASSED with these times, against a seed of seed_us on every shape; FAILED without times."""
    if not times_us:
        return Evaluation(
            kernel_id=kernel_id,
            task_hash="task",
            device_class="class",
            status=Status.WRONG,
            reason="c[0] is 1.0, expected 2.0",
        )
    speedup = 1.0
    for time_us in times_us.values():
        speedup *= (seed_us / time_us) ** (1 / len(times_us))
    return Evaluation(
        kernel_id=kernel_id,
        task_hash="task",
        device_class="class",
        status=Status.PASSED,
        times_us=dict(times_us),
        gains={label: math.log(seed_us / time_us) for label, time_us in times_us.items()},
        speedup=speedup,
        ci95=(speedup * 0.99, speedup * 1.01),
    )


@pytest.fixture
def in_this_process() -> Iterator[None]:
    """Campaigns of this test start no Ray."""
    with local_ray():
        yield


@pytest.fixture
def individual() -> MakeIndividual:
    """individual(id, {label: microseconds}, code=..., slot=...)."""

    def make(
        kernel_id: str,
        times_us: Mapping[str, float],
        *,
        code: str = "",
        slot: int = 0,
        parents: tuple[str, ...] = (),
        origin: Origin = "experiment",
    ) -> Individual:
        source = f"/*---\nparams: {{A: {slot}}}\n---*/\n{code or kernel_id}\n"
        return Individual(
            id=kernel_id,
            candidate=Candidate.from_source(source),
            origin=origin,
            parents=parents,
            slot=slot,
            evaluation=evaluation_of(kernel_id, times_us),
        )

    return make
