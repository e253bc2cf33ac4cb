"""What can't be translated is timed with threads that switch where they wait, and that is said."""

from pathlib import Path

import numpy as np
import pytest

from evaluators.cpu import device as cpu
from evaluators.cpu import fibers
from evaluators.cpu.device import CpuDevice
from evaluators.cpu.emit import ENGINE
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import LaunchStep
from tests.evaluators.launching import Array, compile_one, launch, plan, run
from tests.soaked import one_in

FOLDER = Path(__file__).parents[2] / "kernels" / "switching"
KERNELS = sorted(FOLDER.glob("*.hip"))


@pytest.fixture(scope="module")
def device() -> CpuDevice:
    return cpu.open_device(0)


def step() -> LaunchStep:
    return launch("k", ["x", "y", 1000], grid=(2, 1, 1), block=(96, 1, 1), lds_bytes=2048)


def compute(device: CpuDevice, engine: str, wavefront: int, code: str) -> Array:
    x = (np.arange(1024, dtype=np.int64) * 7919 % 1009).astype(np.int32)
    y = np.full(1024, -1, np.int32)
    compiler = cpu.compiler(wavefront=wavefront, engine=engine)
    return run(device, compiler, code, step(), arrays={"x": x, "y": y})["y"]


@pytest.mark.parametrize("wavefront", one_in(2, [32, 64]))
@pytest.mark.parametrize("file", KERNELS, ids=lambda file: file.stem)
def test_gives_what_the_oracle_gives(device: CpuDevice, file: Path, wavefront: int) -> None:
    code = file.read_text()
    wanted = compute(device, fibers.ENGINE, wavefront, code)
    assert (wanted[:192] != -1).sum() >= 180
    np.testing.assert_array_equal(compute(device, ENGINE, wavefront, code), wanted)


@pytest.mark.parametrize("file", KERNELS, ids=lambda file: file.stem)
def test_says_which_engine_and_why(file: Path) -> None:
    made = compile_one(cpu.compiler(), file.read_text(), step())
    assert made.engine == fibers.SWITCHING
    advice = made.resources[0]["advice"][0]
    assert advice.startswith("cpu-switching runs its threads one by one")
    assert ("switches between them at barriers" in advice) == (file.stem != "indices_in_a_class")
    assert "cpu-fission can't run" in advice
    assert advice.endswith("do not compare with those of kernels that cpu-fission runs.")


def test_what_is_translated_is_not_switched() -> None:
    code = "__global__ void k(const int* x, int* y, int n) { __syncthreads(); y[0] = x[n]; }"
    assert compile_one(cpu.compiler(), code, step()).engine == ENGINE


@pytest.mark.parametrize(
    "code, reason",
    [
        ("__global__ void k(int* x) { int\nks_t = 3; auto f = [&] { __syncthreads(); }; f(); }", 7),
        ("struct S { int v;\nint ks_self() { __syncthreads(); return threadIdx.x; } };", 7),
    ],
)
def test_no_kernel_may_use_the_words_of_generated_code(code: str, reason: int) -> None:
    code += "\n__global__ void other(int* x) {}"
    with pytest.raises(Rejected) as caught:
        compile_one(cpu.compiler(), code, launch("other", ["x"], block=(64, 1, 1)))
    assert caught.value.status is Status.UNSUPPORTED
    assert caught.value.reason.startswith(f"line {reason}: ")
    assert "begin with ks_" in caught.value.reason


def test_threads_that_disagree_on_a_barrier_are_told(device: CpuDevice) -> None:
    code = """__global__ void k(int* x) {
    auto wait = [&] { __syncthreads(); };
    if (threadIdx.x < 20) wait();
    else __syncthreads();
}"""
    compiler, x = cpu.compiler(), np.zeros(64, np.int32)
    assert compile_one(compiler, code, launch("k", ["x"], block=(64, 1, 1))).engine != ENGINE
    with pytest.raises(Rejected) as caught:
        run(device, compiler, code, launch("k", ["x"], block=(64, 1, 1)), arrays={"x": x})
    assert caught.value.status is Status.CRASHED
    assert "divergent barrier" in caught.value.reason


def test_a_store_beyond_lds_is_seen(device: CpuDevice) -> None:
    code = """__global__ void k(const int* x, int* y, int n) {
    __shared__ int s[96];
    auto wait = [&] { __syncthreads(); };
    s[threadIdx.x + (threadIdx.x == 95)] = n;
    wait();
    y[threadIdx.x] = s[threadIdx.x];
}"""
    compiler, array = cpu.compiler(), np.zeros(1024, np.int32)
    compiled = compile_one(compiler, code, step())
    assert compiled.resources[0]["lds_bytes"] == 384
    with device.open(compiled, memory_bytes=1 << 20, fenced=True) as session:
        buffers = {name: session.alloc(array.nbytes) for name in ("x", "y")}
        with pytest.raises(Rejected) as caught:
            session.run(plan(step()), buffers, deadline_s=20)
    assert caught.value.status is Status.WRONG
    assert "past the end of the LDS array s" in caught.value.reason
