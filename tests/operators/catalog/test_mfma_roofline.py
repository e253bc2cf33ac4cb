"""The roofline of fp8_mfma: never faster than light, and what it says follows from structure."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluators.hip.emulator.device import emulated_info
from evaluators.kernel.seeds import on_backend
from evaluators.measuring.speed_of_light import roof
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task_file import load_task
from operators.catalog.families import families, random_params
from operators.catalog.mfma_roofline import WHY, Sizes, applies, predict, ranked, sizes_of, starts
from tests.operators.catalog.fp8 import changed
from tests.operators.examples import FISSION, GPU

DEVICE = emulated_info()
TASK = on_backend(load_task("fp8_gemm"), "hip")
SOURCE = families(TASK).sources["fp8_mfma"]
STATED = TASK.workloads("benchmarks", "hip")
SHAPES = [sizes_of(TASK, one) for one in STATED]
DEFAULTS = dict(SOURCE.params)
LARGE = {"M": 6144, "N": 4608, "K": 7168}
FEW = {"M": 1024, "N": 512, "K": 7168}


def time_us(shape: Sizes, **params: int) -> float:
    (found,) = predict([{**DEFAULTS, **params}], shape, DEVICE)
    return found.time_us


def test_sizes_are_found_under_the_tasks_own_names(tmp_path: Path) -> None:
    task = changed(tmp_path / "t", ("dims: [M, N, K]", "dims: [K, N, M]"))
    (shape, *_) = task.workloads("benchmarks", "hip")
    assert sizes_of(task, shape) == {"M": 1024, "N": 1536, "K": 7168}
    with pytest.raises(ValueError, match="sgemm is no block_scaled_gemm"):
        sizes_of(load_task("sgemm"), shape)


def test_it_is_of_one_device() -> None:
    assert applies(DEVICE) and applies(GPU)
    assert not applies(replace(GPU, arch="gfx90a")) and not applies(FISSION)


@pytest.mark.parametrize("shape", STATED, ids=lambda one: one.label)
def test_nothing_is_faster_than_light(shape: Workload) -> None:
    rng = np.random.default_rng(3)
    points = [DEFAULTS, *(random_params(SOURCE, rng) for _ in range(200))]
    light = roof(TASK, shape, DEVICE)
    assert light is not None
    for one in predict(points, sizes_of(TASK, shape), DEVICE):
        assert one.time_us > one.light_us and one.why == WHY[one.bound]
        # the task's own roof takes the cache's bandwidth where inputs fit it
        assert one.light_us >= 0.99 * light.time_us
        assert one.time_us >= max(one.parts.values())


def test_few_blocks_leave_units_idle_until_k_is_split() -> None:
    (found,) = predict([DEFAULTS], FEW, DEVICE)
    assert found.bound == "idle units"
    assert time_us(FEW, SPLIT=8) < 0.6 * time_us(FEW)
    assert time_us(LARGE, SPLIT=8) > 1.2 * time_us(LARGE)


def test_waiting_costs_what_fetching_ahead_saves() -> None:
    assert time_us(FEW, STAGES=2) < time_us(FEW, STAGES=1)
    assert time_us(LARGE, BM=32, BN=32, WAVES_M=1, WAVES_N=1) > 1.3 * time_us(LARGE)


def test_larger_problems_take_longer() -> None:
    times = [time_us(LARGE, SPLIT=split) for split in (1, 2, 4, 8)]
    assert times == sorted(times)
    assert time_us(FEW) < time_us(LARGE)


def test_points_are_ranked_and_starts_serve_every_shape() -> None:
    order = ranked(SOURCE, SHAPES, DEVICE)
    assert len(order) == len(SOURCE.grid.rows)
    means = [mean for _, mean in order]
    assert means == sorted(means)
    assert all(SOURCE.feasible(params) for params, _ in order[:5])
    found = starts(SOURCE, SHAPES, DEVICE, 4)
    assert found[0] == order[0][0] and 2 <= len(found) <= 4

    def left(points: list[dict[str, int]]) -> float:
        """ln of how much slower the best of them is than the best of all, on the worst shape."""
        everything = [params for params, _ in order]
        return max(
            math.log(
                min(one.time_us for one in predict(points, shape, DEVICE))
                / min(one.time_us for one in predict(everything, shape, DEVICE))
            )
            for shape in SHAPES
        )

    some = [dict(one) for one in found]
    assert left(some) < left(some[:1])


def test_published_times_are_two_to_five_times_the_best_foreseen() -> None:
    """Of the winners' tuning logs; see docs/paper.md. A roofline leaves out what it can't know."""
    published = {(1024, 1536, 7168): 97.6, (6144, 4608, 7168): 723.1, (6144, 7168, 256): 77.0}
    points = [params for params, _ in ranked(SOURCE, SHAPES, DEVICE)]
    for (m, n, k), us in published.items():
        shape = {"M": m, "N": n, "K": k}
        best = min(one.time_us for one in predict(points, shape, DEVICE))
        assert 2 < us / best < 5
