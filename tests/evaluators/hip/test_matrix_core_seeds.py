"""Shipped seeds for matrix cores, and points of the fp8_mfma family, as hiprtc compiles them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluators.device_info import target_of
from evaluators.gpu.compiler import GpuCompiler
from evaluators.hip import device as hip
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.kernel.source import KernelSource
from evaluators.tasks.task_file import load_task
from operators.catalog.families import Params, families, random_params
from tests.evaluators.shipped import SEEDS, SHIPPED, compiled, compiled_seed, name_of
from tests.soaked import one_in

MATRIX_SEEDS = [one for one in SEEDS if one.stem == "mfma" and one.is_relative_to(SHIPPED)]
MULTIPLY: Mapping[str, set[str]] = {
    "fp8_gemm": {"fp8_gemm"},
    "moe": {"hidden", "output"},
    "mla_decode": {"project", "attention"},
}
"""By task the kernels that multiply on matrix cores, without their template arguments."""
FP8 = load_task("fp8_gemm")
LEAST_WAVES = 2  # a SIMD


@pytest.fixture(scope="module")
def compiler(gfx942: HiprtcChild) -> Iterator[GpuCompiler]:
    yield hip.compiler(arch="gfx942", child=gfx942)


def family() -> KernelSource:
    return families(FP8).sources["fp8_mfma"]


def check_resources(told: Mapping[str, Any]) -> None:
    """Nothing lies in scratch, and a SIMD has another wavefront while one waits."""
    spilt = told["scratch_bytes"], told["vgpr_spills"], told["sgpr_spills"]
    assert spilt == (0, 0, 0), told["facts"]
    assert told["waves_per_simd"] >= LEAST_WAVES, told["facts"]


def instructions(params: Params) -> int:
    """What a wavefront multiplies in a stage: its tiles, times steps of k."""
    side = params["SIDE"]
    tiles = params["BM"] // params["WAVES_M"] * params["BN"] // params["WAVES_N"] // side**2
    return tiles * params["BK"] * side // 512


def test_every_task_of_matrix_cores_has_a_seed() -> None:
    assert {seed.parents[1].name for seed in MATRIX_SEEDS} == MULTIPLY.keys()


@pytest.mark.parametrize("seed", MATRIX_SEEDS, ids=name_of)
def test_a_seed_multiplies_on_matrix_cores_and_keeps_to_registers(
    compiler: GpuCompiler, seed: Path
) -> None:
    multiplied = set()
    for told in compiled_seed(compiler, seed).resources:
        check_resources(told)
        if told["mfma"]:
            multiplied.add(told["kernel"].partition("<")[0])
            assert told["wide_loads"] > 0
    assert multiplied == MULTIPLY[seed.parents[1].name]


@pytest.mark.parametrize("seed", one_in(10, range(60)))
def test_points_of_the_fp8_family_keep_to_registers(compiler: GpuCompiler, seed: int) -> None:
    kernel = family()
    kernel = kernel.with_params(random_params(kernel, np.random.default_rng(seed)))
    product, *others = compiled(compiler, FP8, kernel.text).resources
    for told in (product, *others):
        check_resources(told)
    assert bool(others) == (kernel.params["SPLIT"] > 1)
    assert product["mfma"] == instructions(kernel.params), kernel.params
    assert product["wide_loads"] > 0


@pytest.mark.parametrize(
    ("side", "expected"),
    [(32, "v_mfma_f32_32x32x16_fp8_fp8"), (16, "v_mfma_f32_16x16x32_fp8_fp8")],
)
def test_a_side_has_its_instruction(gfx942: HiprtcChild, side: int, expected: str) -> None:
    kernel = family().with_params({"SIDE": side, "BN": 64})
    plan = kernel.plan(FP8, FP8.workloads("tests", "hip")[0], target_of("hip"))
    made = gfx942.compile(
        kernel.text,
        arch="gfx942",
        names=tuple({launch.entry for launch in plan.launches}),
        options=tuple(f"-D{name}={value}" for name, value in plan.defines),
    )
    counts = made.mnemonics[made.symbols["fp8_gemm"]]
    found = {name: count for name, count in counts.items() if name.startswith("v_mfma")}
    assert found == {expected: instructions(kernel.params)}
