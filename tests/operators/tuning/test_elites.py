"""Tests of elites: every structure early, the fastest most, nothing twice, variants by shape."""

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from evaluators.device_info import target_of
from evaluators.kernel.source import kernel_id, parse_kernel
from operators.individual import Candidate, Individual
from operators.operator import Declined
from operators.tuning.elites import Elites
from tests.operators.examples import FISSION, SGEMM, context, individual

SOURCE = """/*---
params: {ROWS: 4, V: 4}
space: {ROWS: [1, 2, 4, 8, 16, 32], V: [1, 2, 4, 8], W: [0, 1]}
constraints: ["ROWS * V <= 64"]
launches: [{kernel: k, grid: [1], block: [64], args: [x]}]
---*/
__global__ void k(float* x) { x[0] = ROWS * V + W; }
""".replace("V: 4}\n", "V: 4, W: 0}\n", 1)

Params = Mapping[str, int]
Speed = Callable[[Params], float]
BENCHMARKS = [one.label for one in SGEMM.workloads("benchmarks", "cpu")]


def structure(number: int) -> str:
    return SOURCE.replace("x[0]", f"x[{number}]")


def measured(source: str, speeds: Mapping[str, float]) -> Individual:
    """An individual with its own speed on each of the task's benchmark shapes."""
    mean = math.exp(sum(map(math.log, speeds.values())) / len(speeds))
    one = individual(source, mean, parents=("seed",))
    evaluation = replace(
        one.evaluation,
        times_us={label: 1000 / speed for label, speed in speeds.items()},
        gains={label: math.log(speed) for label, speed in speeds.items()},
    )
    return replace(one, evaluation=evaluation)


def even(source: str, speed: float) -> Individual:
    return measured(source, dict.fromkeys(BENCHMARKS, speed))


def tried(start: Iterable[Individual], count: int, speed: Speed) -> list[Individual]:
    """So many points, each measured before the next is chosen."""
    known, made = list(start), []
    elites = Elites(SGEMM, FISSION)
    for number in range(count):
        found = elites.propose(
            known,
            known,
            [],
            {one.id for one in known},
            count=1,
            rng=np.random.default_rng(number),
        )
        if not found:
            break
        source = found[0].draft.candidate.source
        made.append(even(source, speed(parse_kernel(source).params)))
        known.append(made[-1])
    return made


def test_every_point_is_tried_once_and_none_beside_the_space() -> None:
    start = even(SOURCE, 2.0)
    made = tried([start], 99, lambda point: 1.0 + point["ROWS"])
    assert len(made) == len(parse_kernel(SOURCE).grid.rows) - 1
    assert len({one.id for one in (start, *made)}) == len(made) + 1


def test_every_structure_has_its_first_points_early_and_the_fastest_the_most() -> None:
    speeds = {1: 8.0, 2: 4.0, 3: 1.0}
    start = [even(structure(number), speed) for number, speed in speeds.items()]
    numbers = {parse_kernel(structure(number)).structure: number for number in speeds}
    made = tried(start, 14, lambda point: 0.5)
    counts = Counter(numbers[parse_kernel(one.candidate.source).structure] for one in made)
    assert counts[1] > counts[2] > 0 and counts[3] > 0


def test_what_is_known_pending_unreadable_or_without_a_space_is_left_alone() -> None:
    start = even(SOURCE, 2.0)
    rng = np.random.default_rng(0)
    kernel = parse_kernel(SOURCE)
    rows = range(len(kernel.grid.rows))
    every = [kernel.with_params(kernel.grid.params(row)) for row in rows]
    left = every[7]
    pending = [Candidate.from_source(one.text) for one in every if one is not left]
    (found,) = Elites(SGEMM, FISSION).propose([start], [start], pending, (), count=5, rng=rng)
    assert kernel_id(found.draft.candidate.source) == left.id
    bare = even(SOURCE.replace(SOURCE.splitlines()[2] + "\n", "").replace("constraints", "#"), 1.0)
    broken = replace(start, candidate=replace(start.candidate, files={"kernel.hip": "no"}))
    for one in (bare, broken):
        assert Elites(SGEMM, FISSION).propose([one], [one], [], (), count=1, rng=rng) == []


def test_an_island_asks_for_some_at_once_and_hears_when_there_are_none() -> None:
    start = even(SOURCE, 2.0)
    elites = Elites(SGEMM, FISSION)
    made = asyncio.run(elites.tune([start], 3, context(known=[start])))
    assert len({kernel_id(one.draft.candidate.source) for one in made}) == 3
    assert {one.parent.id for one in made} == {start.id}
    bare = even(SOURCE.replace(SOURCE.splitlines()[2] + "\n", ""), 1.0)
    with pytest.raises(Declined, match="space"):
        asyncio.run(elites.tune([bare], 3, context(known=[bare])))


def by_shape(point: Params, label: str) -> float:
    """One shape wants few rows, the others many."""
    wanted = 1 if label == BENCHMARKS[0] else 32
    return 8.0 / (1 + abs(math.log2(point["ROWS"] / wanted)))


def test_shapes_that_differ_get_variants_and_the_search_goes_on_below_them() -> None:
    start = measured(SOURCE, {label: by_shape({"ROWS": 4}, label) for label in BENCHMARKS})
    known = [start]
    elites = Elites(SGEMM, FISSION)
    shapes, cpu = SGEMM.workloads("benchmarks", "cpu"), target_of("cpu")
    composed: list[Individual] = []
    for number in range(40):
        found = elites.propose(
            known, known, [], {k.id for k in known}, count=1, rng=np.random.default_rng(number)
        )
        if not found:
            break
        source = found[0].draft.candidate.source
        kernel = parse_kernel(source)
        speeds = {one.label: by_shape(kernel.params_for(one, cpu), one.label) for one in shapes}
        known.append(measured(source, speeds))
        if kernel.variants:
            composed.append(known[-1])
            assert "variants by shape: " in found[0].draft.report
    assert composed, "no variants were made"
    best = composed[-1]
    assert all(math.isclose(gain, math.log(8.0)) for gain in best.evaluation.gains.values()), (
        "each shape has its own best"
    )
    assert max(known, key=lambda one: one.evaluation.speedup or 0.0).id == best.id
    assert len(composed) < 6, "they are no search of their own"
    assert len(known) > 30


def test_variants_of_a_parent_are_tried_as_points() -> None:
    text = parse_kernel(SOURCE).with_variants([("M > 300", {"ROWS": 16, "V": 2})]).text
    parent = measured(text, dict.fromkeys(BENCHMARKS, 3.0))
    (found, *_) = Elites(SGEMM, FISSION).propose(
        [parent], [parent], [], {parent.id}, count=2, rng=np.random.default_rng(0)
    )
    kernel = parse_kernel(found.draft.candidate.source)
    assert not kernel.variants and (kernel.params["ROWS"], kernel.params["V"]) == (16, 2)
