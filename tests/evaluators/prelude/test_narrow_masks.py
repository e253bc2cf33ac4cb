"""A mask of 32 bits: right where warps have 32 lanes, else one sentence on every backend."""

import pytest

from evaluators.acceptance.launching import compile_one, launch
from evaluators.cpu import device as cpu
from evaluators.cpu import fibers
from evaluators.cuda import device as cuda
from evaluators.device import Compiler
from evaluators.evaluation import Rejected, Status
from evaluators.hip import device as hip
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.kernel.porting.header_assertions import NARROW

OPERATIONS = {
    "a shuffle": "x[t] = __shfl_down_sync(0xffffffff, x[t], 4);",
    "one of a signed mask": "x[t] = __shfl_xor_sync(-1, x[t], 1, 32);",
    "a vote": "x[t] = __any_sync(0xffffffffu, t > 3);",
    "a ballot": "x[t] = __ballot_sync(0xffffffff, t > 3) & 1;",
    "waiting": "__syncwarp(0xffffffff); x[t] = 1;",
}
BEFORE = "__global__ void k(float *x) {\n    int t = threadIdx.x;\n    "
STEP = launch("k", ["x"], block=(64, 1, 1))
LINE = 8  # the third of the code, behind five of front matter


def refused(compiler: Compiler, operation: str) -> None:
    with pytest.raises(Rejected) as caught:
        compile_one(compiler, f"{BEFORE}{OPERATIONS[operation]}\n}}", STEP)
    assert caught.value.status is Status.COMPILE_ERROR
    assert caught.value.reason == f"line {LINE}: {NARROW}"
    assert "__shfl_down(x, d, 32)" in NARROW and "64 bits" in NARROW


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("engine", ["cpu-fission", fibers.ENGINE])
def test_on_cpu(engine: str, operation: str) -> None:
    refused(cpu.compiler(engine=engine), operation)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_for_gfx942(gfx942: HiprtcChild, operation: str) -> None:
    refused(hip.compiler(arch="gfx942", child=gfx942), operation)


def test_for_sm_90() -> None:
    compiler = cuda.compiler(arch="sm_90")
    for operation in OPERATIONS.values():
        compile_one(compiler, f"{BEFORE}{operation}\n}}", STEP)
    compiler.close()
