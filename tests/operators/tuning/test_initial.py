"""Tests of the initial design: every family, far apart, no island where another one is."""

from dataclasses import replace

import numpy as np
import pytest

from evaluators.hip.emulator.device import emulated_info
from evaluators.kernel.seeds import on_backend
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task_file import load_task
from operators.catalog import mfma_roofline
from operators.catalog.families import families
from operators.operator import Declined
from operators.tuning.initial import InitialDesign, spread
from operators.tuning.space import space_of
from tests.operators.examples import FISSION, SGEMM

SOURCE = """/*---
params: {A: 1, B: 1}
space: {A: [1, 2, 4, 8, 16, 32, 64, 128], B: [1, 2, 4, 8, 16, 32, 64, 128]}
constraints: ["A * B <= 1024"]
launches: [{kernel: k, grid: [1], block: [64], args: [x]}]
---*/
__global__ void k(float* x) { x[0] = A + B; }
"""


def design(place: int = 0, islands: int = 1, per_family: int = 3, seed: int = 0) -> InitialDesign:
    return InitialDesign(SGEMM, seed, per_family=per_family, most=99, place=place, islands=islands)


def texts(one: InitialDesign) -> list[str]:
    return [one.draft(number).candidate.source for number in range(len(one))]


def test_every_family_has_so_many_feasible_points() -> None:
    known = families(SGEMM)
    found = [known.of(parse_kernel(text)) for text in texts(design())]
    assert {name: found.count(name) for name in known.sources} == dict.fromkeys(known.sources, 3)
    assert len(set(texts(design()))) == 3 * len(known.sources)


@pytest.mark.parametrize("islands", [2, 3, 7])
def test_islands_share_it_without_meeting(islands: int) -> None:
    parts = [texts(design(place, islands)) for place in range(islands)]
    together = [text for part in parts for text in part]
    assert sorted(together) == sorted(texts(design()))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_it_follows_from_the_seed() -> None:
    assert texts(design(seed=1)) == texts(design(seed=1)) != texts(design(seed=2))


def test_most_is_over_all_islands() -> None:
    parts = [
        InitialDesign(SGEMM, 0, per_family=9, most=5, place=place, islands=2) for place in (0, 1)
    ]
    assert [len(one) for one in parts] == [3, 2]


def test_at_its_end_it_declines() -> None:
    one = design()
    with pytest.raises(Declined, match="at its end"):
        one.draft(len(one))


def test_a_naive_seed_with_a_space_is_enough() -> None:
    task = replace(SGEMM, hash="of another problem", seeds={"naive": SOURCE})
    task = replace(task, arguments=task.arguments[:1])
    one = InitialDesign(task, 0, per_family=4, most=99, place=0, islands=1)
    assert len(set(texts(one))) == 4


def test_a_space_with_fewer_points_declines_the_rest() -> None:
    small = SOURCE.replace("[1, 2, 4, 8, 16, 32, 64, 128]", "[1, 2]", 1)
    small = small.replace("B: [1, 2, 4, 8, 16, 32, 64, 128]", "B: [1]")
    rows = spread(space_of(parse_kernel(small)), 10, np.random.default_rng(0))
    assert len(rows) == 2


@pytest.mark.parametrize("backend", ["hip", "cpu"])
def test_it_begins_where_a_roofline_of_the_device_says(backend: str) -> None:
    task = on_backend(load_task("fp8_gemm"), backend)
    device = emulated_info() if backend == "hip" else FISSION
    one = InitialDesign(task, 0, per_family=4, most=99, place=0, islands=1, device=device)
    points = [parse_kernel(text) for text in texts(one)]
    matrix = [dict(kernel.params) for kernel in points if families(task).of(kernel) == "fp8_mfma"]
    if backend == "cpu":
        assert not matrix  # the family is for hip alone
        return
    source, stated = families(task).sources["fp8_mfma"], task.workloads("benchmarks", "hip")
    shapes = [mfma_roofline.sizes_of(task, one) for one in stated]
    foreseen = mfma_roofline.starts(source, shapes, device, 4)
    assert matrix[: len(foreseen)] == foreseen and len(matrix) == 4
    assert foreseen[0] == mfma_roofline.ranked(source, shapes, device)[0][0]


def test_points_lie_further_apart_than_random_ones() -> None:
    space = space_of(parse_kernel(SOURCE))

    def nearest(rows: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]") -> float:
        features = space.features(rows)
        apart = np.abs(features[:, None] - features[None]).sum(axis=2)
        return float(apart[~np.eye(len(rows), dtype=bool)].min())

    seeds = [np.random.default_rng(seed) for seed in range(40)]
    ours = [nearest(spread(space, 6, rng)) for rng in seeds]
    random = [nearest(space.draw(rng, 6)) for rng in seeds]
    assert np.mean(ours) > 1.5 * np.mean(random)
