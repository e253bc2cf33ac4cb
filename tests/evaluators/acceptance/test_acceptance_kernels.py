"""The acceptance's own kernels, compiled for MI300 and for H200 without either."""

import pytest

from evaluators.acceptance.faults import BAD, ILLEGAL, SPIN, TRAP
from evaluators.acceptance.launching import kernel, launch, plan
from evaluators.acceptance.rates import CHAINS, COPY, MULTIPLY
from evaluators.cuda.device import compiler as cuda_compiler
from evaluators.device_info import target_of
from evaluators.gpu.compiler import GpuCompiler
from evaluators.hip.device import LDS_BYTES
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.kernel.plan import LaunchStep, Scalar
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task_file import load_task

N = Scalar(value=1 << 26, type="int64")
STEPS = {
    "copy": (COPY, launch("copy", ["from", "to", N], block=(256, 1, 1))),
    "multiply": (MULTIPLY, launch("multiply_add", ["data", 4096], block=(256, 1, 1))),
}


@pytest.fixture(params=["hip", "cuda"])
def compiler(request: pytest.FixtureRequest) -> GpuCompiler:
    if request.param == "cuda":
        return cuda_compiler(arch="sm_90")
    child: HiprtcChild = request.getfixturevalue("gfx942")
    return GpuCompiler(backend="hip", arch="gfx942", child=child, wavefront=64, lds_bytes=LDS_BYTES)


@pytest.mark.parametrize("name", STEPS)
def test_rates_compile_without_spills(compiler: GpuCompiler, name: str) -> None:
    code, step = STEPS[name]
    assert isinstance(step, LaunchStep)
    (found,) = compiler.compile(kernel(code), [plan(step)]).resources
    assert found["scratch_bytes"] == 0
    if name == "copy" and compiler.backend == "hip":
        assert found["wide_loads"] == found["loads"]


@pytest.mark.parametrize("body", [ILLEGAL, TRAP, SPIN], ids=["illegal", "trap", "spin"])
def test_faults_compile(compiler: GpuCompiler, body: str) -> None:
    task = load_task("transpose")
    bad = parse_kernel(BAD.format(body=body))
    workload = task.workloads("tests", compiler.backend)[0]
    assert compiler.compile(bad, [bad.plan(task, workload, target_of("hip"))]).binaries


def test_float32_rate_uses_packed_multiply_adds_on_mi300(gfx942: HiprtcChild) -> None:
    """Plain ones would reach half of the peak that the rate is compared with."""
    made = gfx942.compile(
        "#include <hip/hip_runtime.h>\n" + MULTIPLY, arch="gfx942", names=("multiply_add",)
    )
    counts = made.mnemonics[made.symbols["multiply_add"]]
    assert counts.get("v_pk_fma_f32", 0) >= CHAINS // 2, counts
