"""A failed assert() is CRASHED, with a sentence, on every backend; one that holds costs nothing."""

import pytest

from evaluators.acceptance.launching import DEADLINE_S, compile_one, launch, plan
from evaluators.cpu import device as cpu
from evaluators.cpu import fibers
from evaluators.cuda import device as cuda
from evaluators.device import Compiler, Device
from evaluators.evaluation import Rejected, Status
from evaluators.hip import device as hip
from evaluators.hip.emulator.device import open_emulated
from evaluators.hip.hiprtc import HiprtcChild

CODE = """
template <int N> __device__ int checked(int i) {
    assert(i < N && "in range, commas, too");
    return i;
}
__global__ void k(int *x) {
    __shared__ int s[64];
    s[threadIdx.x] = checked<COUNT>(threadIdx.x);
    __syncthreads();
    x[threadIdx.x] = s[63 - threadIdx.x];
}
"""
STEP = launch("k", ["x"], block=(64, 1, 1))


def run(device: Device, compiler: Compiler, count: int) -> None:
    compiled = compile_one(compiler, CODE.replace("COUNT", str(count)), STEP)
    with device.open(compiled, memory_bytes=1 << 20) as session:
        buffer = session.alloc(256)
        session.run(plan(STEP), {"x": buffer}, deadline_s=DEADLINE_S)


@pytest.mark.parametrize("engine", ["cpu-fission", fibers.ENGINE])
def test_on_cpu_its_line_is_told(engine: str) -> None:
    run(cpu.open_device(0), cpu.compiler(engine=engine), 64)
    with pytest.raises(Rejected, match=r"an assertion failed \(line 8\)") as caught:
        run(cpu.open_device(0), cpu.compiler(engine=engine), 40)
    assert caught.value.status is Status.CRASHED


def test_on_an_emulated_mi300_it_is_told_as_a_trap(gfx942: HiprtcChild) -> None:
    compiler = hip.compiler(arch="gfx942", child=gfx942)
    run(open_emulated(0), compiler, 64)
    with pytest.raises(Rejected, match=r"the kernel trapped .* an assertion") as caught:
        run(open_emulated(0), compiler, 40)
    assert caught.value.status is Status.CRASHED


def test_for_sm_90_it_traps_and_prints_nothing() -> None:
    compiler = cuda.compiler(arch="sm_90")
    made = compile_one(compiler, CODE.replace("COUNT", "40"), STEP)
    compiler.close()
    (binary,) = made.binaries.values()
    assert b"assertfail" not in binary.data and b"vprintf" not in binary.data


@pytest.mark.parametrize("call", ['__assert_fail("a", "b", 1, "c")', '__assertfail("a")'])
def test_what_would_print_stays_refused(call: str) -> None:
    code = CODE.replace('assert(i < N && "in range, commas, too")', call)
    with pytest.raises(Rejected, match="a kernel may not print"):
        compile_one(cpu.compiler(), code.replace("COUNT", "64"), STEP)
