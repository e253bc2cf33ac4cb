"""Right kernels of the honest suite compile for MI300 and H100: a sample, and all in the soak."""

from collections.abc import Iterator

import pytest

from evaluators.cuda import device as cuda
from evaluators.device import Compiled, Compiler
from evaluators.evaluate import compile_kernel
from evaluators.evaluation import Rejected
from evaluators.gpu.compiler import GpuCompiler
from evaluators.hip import device as hip
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.tasks.task_file import load_task
from tests.adversarial.honest.suite import KERNELS, kernels, task_of

EVERY = 12
PORTABLE_LDS_BYTES = 48 << 10


@pytest.fixture(scope="module")
def sm_90() -> Iterator[GpuCompiler]:
    compiler = cuda.compiler(arch="sm_90")
    yield compiler
    compiler.close()


def compiled(name: str, compiler: Compiler, backend: str) -> Compiled:
    task = load_task(task_of(name))
    try:
        return compile_kernel(KERNELS[name].read_text(), task, compiler, backend)[1]
    except Rejected as rejected:
        raise AssertionError(f"{name} on {backend}: {rejected}") from rejected


def check(made: Compiled) -> None:
    assert made.binaries
    for told in made.resources:
        assert told["registers"] > 0
        assert told["lds_bytes"] <= PORTABLE_LDS_BYTES


@pytest.mark.parametrize("name", kernels("hip", every=EVERY))
def test_a_right_kernel_compiles_for_gfx942(gfx942: HiprtcChild, name: str) -> None:
    check(compiled(name, hip.compiler(arch="gfx942", child=gfx942), "hip"))


@pytest.mark.parametrize("name", kernels("cuda", every=EVERY))
def test_a_right_kernel_compiles_for_sm_90(sm_90: GpuCompiler, name: str) -> None:
    check(compiled(name, sm_90, "cuda"))
