"""The emulated matrix core: every row of mfma.csv, and products of fp8 tiles against numpy."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluators.acceptance.mfma import INSTRUCTIONS, Instruction, probe
from evaluators.acceptance.trial import Setup
from evaluators.device import Compiler
from evaluators.device_info import emulating, target_of
from evaluators.hip import device as hip
from evaluators.hip.emulator.device import EmulatedDevice, open_emulated
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.kernel.source import parse_kernel
from evaluators.measuring.evaluator import Evaluator
from evaluators.measuring.policy import TimingPolicy
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task_file import load_task

GEMM = Path(__file__).parents[3] / "kernels" / "fp8_mfma_gemm"
DEADLINE_S = 120.0
"""Of a launch, on machines that others use too; 64 x 64 x 64 takes tenths of a second."""


@pytest.fixture(scope="module")
def compiler(gfx942: HiprtcChild) -> Compiler:
    return hip.compiler(arch="gfx942", child=gfx942)


@pytest.fixture(scope="module")
def setup(gfx942: HiprtcChild) -> Iterator[Setup]:
    """As an acceptance of emulated devices has it."""
    with emulating(True, "hip", asked_by="this test"):
        made = Setup("hip")
        assert isinstance(made.device, EmulatedDevice)
        yield made


@pytest.mark.parametrize("one", INSTRUCTIONS, ids=lambda one: one.name)
def test_every_row_of_its_table_agrees(setup: Setup, one: Instruction) -> None:
    held, sums = one.side * one.depth, one.side * one.side
    assert probe(setup, one) == f"all {2 * held + sums} rows of mfma.csv agree"


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("tile", [16, 32])
def test_an_fp8_product_of_64(compiler: Compiler, tile: int, order: int) -> None:
    task = load_task(GEMM)
    text = (GEMM / "seeds" / "fp8_mfma_gemm.hip").read_text()
    kernel = parse_kernel(text).with_params({"TILE": tile, "BM": 64, "BN": 64, "BK": 64})
    shape = Workload(dims={"M": 64, "N": 64, "K": 64}, suite="benchmarks")
    compiled = compiler.compile(kernel, [kernel.plan(task, shape, target_of("hip"))])
    device = open_emulated(0, order=order)
    policy = TimingPolicy(deadline_cap_s=DEADLINE_S)
    evaluator = Evaluator(task=task, device=device, secret=1, policy=policy)
    errors, _ = evaluator.correctness.check(kernel, compiled, [shape], {})
    assert list(errors) == ["M=64 N=64 K=64/c"]
    device.close()
