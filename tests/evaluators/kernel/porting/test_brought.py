"""Kernels as people bring them pass on cpu and in emulation, and compile for both GPUs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluators.cuda import device as cuda
from evaluators.device import Device, backend
from evaluators.device_info import emulating, target_of
from evaluators.evaluate import compile_kernel, evaluate_file
from evaluators.evaluation import Status
from evaluators.gpu.compiler import GpuCompiler
from evaluators.hip import device as hip
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.measuring.evaluator import Evaluator
from evaluators.measuring.policy import TimingPolicy
from tests.evaluators.kernel.porting.brought import (
    BROUGHT,
    EXAMPLES,
    SEED,
    brought,
    maskless,
)

QUICK = TimingPolicy(max_blocks=3, budget_s=0.2, link_budget_s=0.2, interval_us=200.0, max_copies=4)
"""It is right or not; how fast it is nobody asks here."""
EMULATED = "spmv_csr_vector"
"""In every run of the tests; the rest in the soak."""

by_name = pytest.mark.parametrize("folder", BROUGHT, ids=lambda folder: folder.name)
every = pytest.mark.parametrize(
    "folder", [*BROUGHT, *EXAMPLES], ids=lambda folder: f"{folder.parent.name}/{folder.name}"
)


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    device = backend("cpu").open_device(0)
    yield device
    device.close()


@pytest.fixture(scope="module")
def sm_90() -> Iterator[GpuCompiler]:
    made = cuda.compiler(arch="sm_90")
    yield made
    made.close()


@pytest.fixture(scope="module")
def for_gfx942(gfx942: HiprtcChild) -> GpuCompiler:
    return hip.compiler(arch="gfx942", child=gfx942)


def compiles(folder: Path, compiler: GpuCompiler) -> None:
    """For every shape of its task."""
    task, kernel = brought(folder)
    _, compiled = compile_kernel(kernel.text, task, compiler, compiler.backend)
    assert compiled.binaries and compiled.held_out


def test_all_are_there() -> None:
    assert (len(BROUGHT), len(EXAMPLES)) == (40, 41)


@pytest.mark.long
@by_name
def test_it_is_right_on_cpu(folder: Path, device: Device, tmp_path: Path) -> None:
    task, kernel = brought(maskless(folder, tmp_path))
    shapes = task.workloads("tests", "cpu")
    plans = [kernel.plan(task, shape, target_of("cpu")) for shape in shapes]
    compiled = backend("cpu").compiler().compile(kernel, plans)
    naive = (kernel, compiled)
    evaluator = Evaluator(task=task, device=device, secret=1, policy=QUICK, naive=naive)
    errors, _ = evaluator.correctness.check(kernel, compiled, shapes, {})
    assert len(errors) == sum(len(task.on(shape).outputs) for shape in shapes)


@by_name
def test_it_compiles_for_sm_90(folder: Path, sm_90: GpuCompiler) -> None:
    compiles(folder, sm_90)


@by_name
def test_it_compiles_for_gfx942(folder: Path, for_gfx942: GpuCompiler, tmp_path: Path) -> None:
    compiles(maskless(folder, tmp_path), for_gfx942)


def passes(folder: Path, backend_name: str) -> None:
    """Evaluated as by the command, on all of its shapes."""
    task, _ = brought(folder)
    found = evaluate_file(folder / SEED, task, backend_name, policy=QUICK, seconds=0)
    assert (found.status, found.reason) == (Status.PASSED, "")


def passes_in_emulation(folder: Path) -> None:
    with emulating(True, "hip", asked_by="a test"):
        if not backend("hip").device_count():
            pytest.skip("the emulator needs a C++ compiler and the disassembler of ROCm")
        passes(folder, "hip")


def test_one_is_right_in_emulation(tmp_path: Path) -> None:
    (folder,) = (one for one in BROUGHT if one.name == EMULATED)
    passes_in_emulation(maskless(folder, tmp_path))


@pytest.mark.soak
@every
def test_it_passes_on_cpu(folder: Path, tmp_path: Path) -> None:
    passes(maskless(folder, tmp_path), "cpu")


@pytest.mark.soak
@every
def test_it_passes_in_emulation(folder: Path, tmp_path: Path) -> None:
    passes_in_emulation(maskless(folder, tmp_path))


@pytest.mark.soak
@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_an_example_compiles(
    folder: Path, sm_90: GpuCompiler, for_gfx942: GpuCompiler, tmp_path: Path
) -> None:
    compiles(folder, sm_90)
    compiles(maskless(folder, tmp_path), for_gfx942)
