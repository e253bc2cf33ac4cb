"""Held-out shapes for a task that states none: ragged ones near its benchmarks."""

import math
from collections.abc import Iterator, Mapping, Sequence

from evaluators.tasks.workload import Suite, Workload

DERIVED = "the task states no held-out shapes: ragged ones near its benchmarks take their place"

MOST = 3

SHRUNK = ((5, 6), (3, 4), (7, 8))
"""What a dim is of a benchmark's, in turn, so that no two dims shrink alike."""

Suites = Mapping[Suite, Mapping[str, tuple[Workload, ...]]]


def ragged_shapes(suites: Suites) -> dict[str, tuple[Workload, ...]]:
    """By backend, as a task would state them; smaller than the benchmarks they come from.

    A dim stays a multiple of what divides each of its stated values: others may be no shapes of
    the task at all.
    """
    keys = sorted({*suites["benchmarks"], *suites["tests"]})
    return {key: tuple(_of(suites, key)) for key in keys if any(_of(suites, key))}


def _of(suites: Suites, key: str) -> Iterator[Workload]:
    benchmarks, tests = (_stated(suites[suite], key) for suite in ("benchmarks", "tests"))
    known = [*benchmarks, *tests]
    met = {workload.label for workload in known}
    for workload in _chosen(benchmarks):
        dims = {
            name: _shrunk(value, place, _common(known, name))
            for place, (name, value) in enumerate(workload.dims.items())
        }
        made = Workload(dims=dims, suite="held_out", setting=workload.setting)
        if made.label not in met:
            met.add(made.label)
            yield made


def _chosen(benchmarks: Sequence[Workload]) -> list[Workload]:
    """The first ones, and the first of each setting that these don't have."""
    chosen = list(benchmarks[:MOST])
    for workload in benchmarks[MOST:]:
        if all(workload.setting != one.setting for one in chosen):
            chosen.append(workload)
    return chosen


def _stated(by_backend: Mapping[str, tuple[Workload, ...]], key: str) -> tuple[Workload, ...]:
    return by_backend.get(key, by_backend.get("default", ()))


def _common(known: Sequence[Workload], name: str) -> int:
    return math.gcd(*(workload.dims[name] for workload in known))


def _shrunk(value: int, place: int, step: int) -> int:
    """Where nothing divides all stated values, odd: no tile fits it."""
    over, under = SHRUNK[place % len(SHRUNK)]
    smaller = max(1, value * over // under // step) * step
    return smaller | 1 if step == 1 else smaller
