"""What every backend's compiler, device and session must do; run over each that is here."""

import os
import pickle

import numpy as np
import pytest

from evaluators.device import Backend, Compiler, Device, backend
from evaluators.evaluation import Rejected, Status
from evaluators.plan import MemsetStep, Scalar
from tests.evaluators.in_child import outcome
from tests.evaluators.launching import (
    DEADLINE_S,
    MEMORY_BYTES,
    compile_one,
    kernel,
    launch,
    plan,
    run,
)
from tests.hip_double.twins import with_twins

SCALE = """
__global__ void scale(float *x, float factor, int n) {
    for (int i = 0; i < n; ++i) x[i] *= factor;
}"""
INDEX = """
__global__ void index(int *out) {
    int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int threads = blockDim.x * blockDim.y * blockDim.z;
    out[block * threads + thread] = 1000 * hipBlockIdx_z + 100 * hipThreadIdx_y + thread;
}"""


@pytest.fixture(
    scope="module", params=os.environ.get("KERNEL_SCIENTIST_CONTRACT", "cpu cuda hip").split()
)
def module(request: pytest.FixtureRequest) -> Backend:
    found = backend(request.param)
    if found.device_count() == 0:
        pytest.skip(f"no {request.param} device here")
    return found


@pytest.fixture(scope="module")
def compiler(module: Backend) -> Compiler:
    return with_twins(module.compiler())


@pytest.fixture(scope="module")
def device(module: Backend) -> Device:
    return module.open_device(0)


def rejected(caught: pytest.ExceptionInfo[Rejected], status: Status, *words: str) -> None:
    assert caught.value.status is status, caught.value
    assert "\n" not in caught.value.reason
    for word in words:
        assert word in caught.value.reason, caught.value.reason


def test_device_describes_itself(device: Device) -> None:
    info = device.info
    assert info.device_class.count("/") >= 4
    assert info.lds_bytes == 65536 if info.backend != "cuda" else info.lds_bytes > 65536
    assert info.max_threads == 1024
    assert info.peak_flops["float32"] > 1e9
    dram = info.peak_bytes_per_s["dram"]
    assert info.peak_bytes_per_s.get("cache", 2 * dram) > dram > 1e8


def test_indices_cover_grid_and_block(device: Device, compiler: Compiler) -> None:
    grid, block = (2, 3, 2), (4, 2, 1)
    out = np.zeros((12, 8), np.int32)
    found = run(
        device,
        compiler,
        INDEX,
        launch("index", ["out"], grid=grid, block=block),
        arrays={"out": out},
    )["out"]
    threads = np.arange(8) + 100 * (np.arange(8) // 4)
    expected = 1000 * (np.arange(12) // 6)[:, None] + threads
    assert np.array_equal(found, expected)


def test_several_block_sizes_of_one_kernel(device: Device, compiler: Compiler) -> None:
    small = launch("index", ["a"], block=(2, 1, 1))
    large = launch("index", ["b"], block=(3, 2, 1))
    arrays = {"a": np.zeros(2, np.int32), "b": np.zeros(6, np.int32)}
    found = run(device, compiler, INDEX, small, large, arrays=arrays)
    assert found["a"].tolist() == [0, 1]
    assert found["b"].tolist() == [0, 1, 2, 103, 104, 105]


def test_templates_defines_and_scalars(device: Device, compiler: Compiler) -> None:
    code = """
template <int N, typename T> __global__ void fill(T *out, long long big, float f) {
    for (int i = 0; i < N; ++i) out[i] = T(big) + f + OFFSET;
}"""
    wide = launch("fill<3, double>", ["out", Scalar(value=2**40, type="int64"), 0.5])
    with_two = plan(wide, defines=(("OFFSET", 2),))
    with_seven = plan(wide, defines=(("OFFSET", 7),))
    compiled = compiler.compile(kernel(code), [with_two, with_seven, with_two])
    assert len(compiled.binaries) == 2
    compiled = pickle.loads(pickle.dumps(compiled))
    with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
        out = session.alloc(24)
        for chosen, offset in ((with_two, 2), (with_seven, 7)):
            session.run(chosen, {"out": out}, deadline_s=DEADLINE_S)
            values = session.read(out, np.dtype(np.float64), (3,))
            assert values.tolist() == [2.0**40 + 0.5 + offset] * 3


def test_dynamic_and_static_lds(device: Device, compiler: Compiler) -> None:
    code = """
extern __shared__ __align__(16) float outer[];
__global__ void k(float *out) {
    extern __shared__ float inner[];
    extern __shared__ float rows[][2];
    __shared__ float fixed[4];
    for (int i = 0; i < 4; ++i) { inner[i] = i; fixed[i] = 10 * i; }
    for (int i = 0; i < 4; ++i) out[i] = outer[i] + rows[i / 2][i % 2] + fixed[i];
}"""
    found = run(
        device,
        compiler,
        code,
        launch("k", ["out"], lds_bytes=16),
        arrays={"out": np.zeros(4, np.float32)},
    )
    assert found["out"].tolist() == [0, 12, 24, 36]


def test_memset_fills_a_buffer_in_order(device: Device, compiler: Compiler) -> None:
    steps = (
        MemsetStep(buffer="x", byte=0x3F),
        launch("scale", ["x", 2.0, 2]),
    )
    found = run(device, compiler, SCALE, *steps, arrays={"x": np.zeros(3, np.float32)})["x"]
    one = np.full(1, 0x3F3F3F3F, np.uint32).view(np.float32)[0]
    assert found.tolist() == [2 * one, 2 * one, one]


def test_prepare_runs_its_own_steps(device: Device, compiler: Compiler) -> None:
    both = plan(launch("scale", ["x", 2.0, 1]))
    both = type(both)(
        defines=(), steps=both.steps, prepare=(launch("scale", ["x", 5.0, 1]),), scratch={}
    )
    with device.open(compiler.compile(kernel(SCALE), [both]), memory_bytes=MEMORY_BYTES) as session:
        x = session.alloc(4)
        session.write(x, np.ones(1, np.float32))
        session.run(both, {"x": x}, deadline_s=DEADLINE_S, prepare=True)
        assert session.read(x, np.dtype(np.float32), (1,)).tolist() == [5]
        session.run(both, {"x": x}, deadline_s=DEADLINE_S)
        assert session.read(x, np.dtype(np.float32), (1,)).tolist() == [10]


def test_time_runs_every_binding_once(device: Device, compiler: Compiler) -> None:
    n = 50_000
    double = plan(launch("scale", ["x", 2.0, n]))
    with device.open(
        compile_one(compiler, SCALE, *double.steps), memory_bytes=MEMORY_BYTES
    ) as session:
        bindings = [{"x": session.alloc(4 * n)} for _ in range(3)]
        for binding in bindings:
            session.write(binding["x"], np.ones(n, np.float32))
        many_us = session.time(double, bindings * 8, deadline_s=DEADLINE_S)
        one_us = session.time(double, bindings[:1], deadline_s=DEADLINE_S)
        assert many_us > one_us > 0
        first, second = (session.read(b["x"], np.dtype(np.float32), (n,)) for b in bindings[:2])
        assert np.all(first == 512)
        assert np.all(second == 256)


def test_views_stay_in_their_buffer(device: Device, compiler: Compiler) -> None:
    with device.open(
        compile_one(compiler, SCALE, launch("scale", ["x", 1.0, 1])), memory_bytes=MEMORY_BYTES
    ) as session:
        whole = session.alloc(4096)
        assert whole.offset % 256 == 0
        session.fill(whole, 0xAB)
        middle = whole.view(256, 8)
        session.write(middle, np.array([1, 2], np.float32))
        found = session.read(whole, np.dtype(np.uint8), (4096,))
        assert np.all(np.delete(found, range(256, 264)) == 0xAB)
        assert session.read(middle, np.dtype(np.float32), (2,)).tolist() == [1, 2]
        with pytest.raises(ValueError, match="leaves a buffer"):
            whole.view(4090, 8)


def test_compile_error_has_line_reason_and_log(compiler: Compiler) -> None:
    broken = kernel("__global__ void k(float *x) {\n    x[0] = nonsense;\n}")
    with pytest.raises(Rejected) as caught:
        compiler.compile(broken, [plan(launch("k", ["x"]))])
    rejected(caught, Status.COMPILE_ERROR, "nonsense", f"line {broken.code_line + 2}:")
    assert "nonsense" in caught.value.log


def test_launch_of_a_kernel_that_is_not_there(compiler: Compiler) -> None:
    with pytest.raises(Rejected) as caught:
        compile_one(compiler, SCALE, launch("missing", ["x"]))
    rejected(caught, Status.COMPILE_ERROR, "missing")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["x", 2.0], ["takes 3 arguments", "gives 2"]),
        (["x", 2, 5], ["argument 2", "int32", "float32"]),
        (["x", "x", 5], ["argument 2", "pointer"]),
        (["x", 2.0, Scalar(value=1, type="int64")], ["argument 3", "int64"]),
    ],
)
def test_arguments_must_fit(
    device: Device, compiler: Compiler, args: list[str | int | float | Scalar], words: list[str]
) -> None:
    with pytest.raises(Rejected) as caught:
        run(
            device,
            compiler,
            SCALE,
            launch("scale", args),
            arrays={"x": np.zeros(1, np.float32)},
        )
    rejected(caught, Status.LAUNCH_ERROR, "scale", *words)


@pytest.mark.parametrize(("block", "words"), [((1024, 2, 1), ["2048", "1024"])])
def test_too_many_threads(
    device: Device, compiler: Compiler, block: tuple[int, int, int], words: list[str]
) -> None:
    with pytest.raises(Rejected) as caught:
        run(
            device,
            compiler,
            "__global__ void k() {}",
            launch("k", [], block=block),
            arrays={},
        )
    rejected(caught, Status.LAUNCH_ERROR, *words)


@pytest.mark.parametrize(("static_floats", "left"), [(16385, None), (8192, 32764), (1, 0)])
def test_too_much_lds(
    device: Device, compiler: Compiler, static_floats: int, left: int | None
) -> None:
    limit = device.info.lds_bytes
    dynamic = 0 if left is None else limit - left
    code = """
template <int N> __device__ float sum(const float *x, int n) {
    __shared__ float s[N];
    float total = 0;
    for (int i = 0; i < n; ++i) s[(i * 7) % N] = x[i];
    for (int i = 0; i < n; ++i) total += s[(i * 5) % N];
    return total;
}
template <int N> __global__ void k(float *x, int n) { x[0] = sum<N>(x, n); }"""
    entry = f"k<{static_floats}>"
    with pytest.raises(Rejected) as caught:
        run(
            device,
            compiler,
            code,
            launch(entry, ["x", 4], lds_bytes=dynamic),
            arrays={"x": np.zeros(4, np.float32)},
        )
    total = 4 * static_floats + dynamic
    if left is None and device.info.backend == "cuda":
        limit = 48 << 10  # of static LDS, told by the compiler itself
    rejected(caught, Status.LAUNCH_ERROR, str(total), str(limit), entry)


def test_out_of_memory(device: Device, compiler: Compiler) -> None:
    compiled = compile_one(compiler, SCALE, launch("scale", ["x", 1.0, 1]))
    with device.open(compiled, memory_bytes=1 << 20) as session:
        session.alloc(1 << 19)
        with pytest.raises(Rejected) as caught:
            session.alloc(1 << 20)
    rejected(caught, Status.LAUNCH_ERROR, "out of memory", "1,048,576")


def test_a_fault_is_told_apart(device: Device) -> None:
    name = device.info.backend
    step = launch("scale", ["x", 1.0, 1_000_000])
    status, reason = outcome(name, SCALE, step, nbytes=256, deadline_s=DEADLINE_S)
    assert status is Status.CRASHED, reason
    if name == "cpu":
        assert "SIGSEGV" in reason
        assert "past the end of x" in reason


def test_endless_loop_meets_the_deadline(device: Device) -> None:
    code = "__global__ void k(volatile int *go) { while (!*go) {} }"
    step = launch("k", ["go"])
    status, reason = outcome(device.info.backend, code, step, nbytes=4, deadline_s=0.3)
    assert status is Status.TIMEOUT, reason
    assert "0.3 s" in reason


def test_sessions_are_fresh(device: Device, compiler: Compiler) -> None:
    """State in __device__ globals lives as long as a session, no longer."""
    code = "__device__ int calls = 0; __global__ void k(int *out) { out[0] = ++calls; }"
    step = launch("k", ["out"])
    compiled = compile_one(compiler, code, step)
    for _ in range(2):
        with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
            out = session.alloc(4)
            for expected in (1, 2):
                session.run(plan(step), {"out": out}, deadline_s=DEADLINE_S)
                assert session.read(out, np.dtype(np.int32), (1,)).tolist() == [expected]
