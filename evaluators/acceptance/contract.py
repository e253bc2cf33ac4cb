"""What every backend's compiler, device and session must do, as checks that raise Broken."""

import pickle
from collections.abc import Callable

import numpy as np

from evaluators.acceptance.launching import (
    DEADLINE_S,
    MEMORY_BYTES,
    Array,
    compile_one,
    kernel,
    launch,
    plan,
    run,
)
from evaluators.acceptance.refusals import REFUSALS, SCALE
from evaluators.acceptance.trial import Broken, expect, expect_that
from evaluators.device import Compiler, Device, Session
from evaluators.kernel.plan import MemsetStep, Plan, Scalar

Check = Callable[[Device, Compiler], None]

INDEX = """
__global__ void index(int *out) {
    int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int threads = blockDim.x * blockDim.y * blockDim.z;
    out[block * threads + thread] = 1000 * hipBlockIdx_z + 100 * hipThreadIdx_y + thread;
}"""


LDS = """
extern __shared__ __align__(16) float rows[][2];
__device__ float *part(int number) { return &rows[0][0] + 4 * number; }
__global__ void k(float *out) {
    extern __shared__ __align__(16) float rows[][2]; // the same array, declared again
    __shared__ float fixed[4];
    float *flat = (float *)rows;
    const int mine = threadIdx.x, other = 3 - mine;
    flat[mine] = part(1)[mine] = mine;
    fixed[mine] = 10 * mine;
    __syncthreads();
    out[mine] = rows[other / 2][other % 2] + flat[4 + other] + fixed[other];
}"""
"""One array under its own name, cast and with an offset: two arrays would be two objects to LLVM,
which reorders accesses to them though they share their bytes (see kernel/dynamic_lds.py)."""


def device_describes_itself(device: Device, compiler: Compiler) -> None:
    info = device.info
    expect_that(info.device_class.count("/") >= 3, f"device class {info.device_class!r}")
    if info.arch.startswith("sm_"):
        expect_that(info.lds_bytes > 48 << 10, f"{info.lds_bytes} bytes of LDS a block")
    else:
        expect(info.lds_bytes, 64 << 10, "bytes of LDS a block")
    expect(info.max_threads, 1024, "threads a block")
    wavefronts = {"gfx": (64,), "sm_": (32,)}.get(info.arch[:3], (32, 64))
    expect_that(info.wavefront in wavefronts, f"wavefronts of {info.wavefront}")
    expect_that(info.cache_bytes > 1 << 18, f"a cache of {info.cache_bytes} bytes")


def indices_cover_grid_and_block(device: Device, compiler: Compiler) -> None:
    step = launch("index", ["out"], grid=(2, 3, 2), block=(4, 2, 1))
    arrays = {"out": np.zeros((12, 8), np.int32)}
    found = run(device, compiler, INDEX, step, arrays=arrays)["out"]
    threads = np.arange(8) + 100 * (np.arange(8) // 4)
    expect(found, 1000 * (np.arange(12) // 6)[:, None] + threads, "block and thread indices")


def several_block_sizes_of_one_kernel(device: Device, compiler: Compiler) -> None:
    small = launch("index", ["a"], block=(2, 1, 1))
    large = launch("index", ["b"], block=(3, 2, 1))
    arrays: dict[str, Array] = {"a": np.zeros(2, np.int32), "b": np.zeros(6, np.int32)}
    found = run(device, compiler, INDEX, small, large, arrays=arrays)
    expect(found["a"], [0, 1], "thread indices of a block of 2")
    expect(found["b"], [0, 1, 2, 103, 104, 105], "thread indices of a block of 3 x 2")


def templates_defines_and_scalars(device: Device, compiler: Compiler) -> None:
    code = """
template <int N, typename T> __global__ void fill(T *out, long long big, float f) {
    for (int i = 0; i < N; ++i) out[i] = T(big) + f + OFFSET;
}"""
    wide = launch("fill<3, double>", ["out", Scalar(value=2**40, type="int64"), 0.5])
    with_two = plan(wide, defines=(("OFFSET", 2),))
    with_seven = plan(wide, defines=(("OFFSET", 7),))
    compiled = compiler.compile(kernel(code), [with_two, with_seven, with_two])
    expect(len(compiled.binaries), 2, "binaries for two sets of defines")
    compiled = pickle.loads(pickle.dumps(compiled))
    with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
        out = session.alloc(24)
        for chosen, offset in ((with_two, 2), (with_seven, 7)):
            session.run(chosen, {"out": out}, deadline_s=DEADLINE_S)
            values = session.read(out, np.dtype(np.float64), (3,))
            expect(values, [2.0**40 + 0.5 + offset] * 3, f"doubles with OFFSET={offset}")


def dynamic_and_static_lds(device: Device, compiler: Compiler) -> None:
    step = launch("k", ["out"], block=(4, 1, 1), lds_bytes=32)
    found = run(device, compiler, LDS, step, arrays={"out": np.zeros(4, np.float32)})
    expect(found["out"], [36, 24, 12, 0], "sums over dynamic and static LDS")


def most_dynamic_lds(device: Device, compiler: Compiler) -> None:
    """All that a block may have, first and last byte used."""
    code = """
__global__ void k(int *out, int last) {
    extern __shared__ int whole[];
    for (int i = 0; i <= last; i += last) whole[i] = i + 3;
    out[0] = whole[0] + whole[last];
}"""
    limit = device.info.lds_bytes
    step = launch("k", ["out", limit // 4 - 1], lds_bytes=limit)
    found = run(device, compiler, code, step, arrays={"out": np.zeros(1, np.int32)})
    expect(found["out"], [limit // 4 + 5], f"a sum through {limit} bytes of dynamic LDS")


def constant_tables(device: Device, compiler: Compiler) -> None:
    code = """
__constant__ int primes[4] = {2, 3, 5, 7};
__device__ const float halves[2] = {0.5f, 1.5f};
__global__ void k(float *out) { out[threadIdx.x] = primes[threadIdx.x] + halves[threadIdx.x % 2]; }
"""
    step = launch("k", ["out"], block=(4, 1, 1))
    found = run(device, compiler, code, step, arrays={"out": np.zeros(4, np.float32)})
    expect(found["out"], [2.5, 4.5, 5.5, 8.5], "sums over constant tables")


def memset_fills_a_buffer_in_order(device: Device, compiler: Compiler) -> None:
    steps = (MemsetStep(buffer="x", byte=0x3F), launch("scale", ["x", 2.0, 2]))
    found = run(device, compiler, SCALE, *steps, arrays={"x": np.zeros(3, np.float32)})["x"]
    one = np.full(1, 0x3F3F3F3F, np.uint32).view(np.float32)[0]
    expect(found, [2 * one, 2 * one, one], "a memset, then a kernel")


def prepare_runs_its_own_steps(device: Device, compiler: Compiler) -> None:
    both = Plan(
        defines=(),
        steps=(launch("scale", ["x", 2.0, 1]),),
        prepare=(launch("scale", ["x", 5.0, 1]),),
        scratch={},
    )
    compiled = compiler.compile(kernel(SCALE), [both])
    with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
        x = session.alloc(4)
        session.write(x, np.ones(1, np.float32))
        session.run(both, {"x": x}, deadline_s=DEADLINE_S, prepare=True)
        expect(session.read(x, np.dtype(np.float32), (1,)), [5], "after the prepare step")
        session.run(both, {"x": x}, deadline_s=DEADLINE_S)
        expect(session.read(x, np.dtype(np.float32), (1,)), [10], "after the step")


def time_runs_every_binding_once(device: Device, compiler: Compiler) -> None:
    """Through a graph where the backend has them; twice through the same one."""
    n = 50_000
    double = plan(launch("scale", ["x", 2.0, n]))
    compiled = compile_one(compiler, SCALE, *double.steps)
    with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
        bindings = [{"x": session.alloc(4 * n)} for _ in range(3)]
        for binding in bindings:
            session.write(binding["x"], np.ones(n, np.float32))
        many_us = session.time(double, bindings * 8, deadline_s=DEADLINE_S)
        one_us = session.time(double, bindings[:1], deadline_s=DEADLINE_S)
        again_us = session.time(double, bindings[:1], deadline_s=DEADLINE_S)
        expect_that(
            many_us > one_us > 0 < again_us,
            f"24 launches took {many_us:g} us, one took {one_us:g} us and {again_us:g} us",
        )
        for number, wanted in ((0, 1024.0), (1, 256.0)):
            found = session.read(bindings[number]["x"], np.dtype(np.float32), (n,))
            expect(found, np.full(n, wanted), f"buffer {number} after the timed launches")


def views_stay_in_their_buffer(device: Device, compiler: Compiler) -> None:
    compiled = compile_one(compiler, SCALE, launch("scale", ["x", 1.0, 1]))
    with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
        _check_views(session)


def _check_views(session: Session) -> None:
    whole = session.alloc(4096)
    expect(whole.offset % 256, 0, "a buffer's address modulo 256")
    session.fill(whole, 0xAB)
    middle = whole.view(256, 8)
    session.write(middle, np.array([1, 2], np.float32))
    found = session.read(whole, np.dtype(np.uint8), (4096,))
    outside = np.delete(found, range(256, 264))
    expect(outside, np.full(4088, 0xAB), "bytes round a view that was written")
    expect(session.read(middle, np.dtype(np.float32), (2,)), [1, 2], "a view that was written")
    try:
        whole.view(4090, 8)
    except ValueError:
        return
    raise Broken("a view that leaves its buffer was allowed")


def sessions_are_fresh(device: Device, compiler: Compiler) -> None:
    """State in __device__ globals lives as long as a session, no longer."""
    code = "__device__ int calls = 0; __global__ void k(int *out) { out[0] = ++calls; }"
    step = launch("k", ["out"])
    compiled = compile_one(compiler, code, step)
    for number in (1, 2):
        with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
            out = session.alloc(4)
            for wanted in (1, 2):
                session.run(plan(step), {"out": out}, deadline_s=DEADLINE_S)
                found = session.read(out, np.dtype(np.int32), (1,))
                expect(found, [wanted], f"calls counted in session {number}")


CONTRACT: tuple[Check, ...] = (
    device_describes_itself,
    indices_cover_grid_and_block,
    several_block_sizes_of_one_kernel,
    templates_defines_and_scalars,
    dynamic_and_static_lds,
    most_dynamic_lds,
    constant_tables,
    memset_fills_a_buffer_in_order,
    prepare_runs_its_own_steps,
    time_runs_every_binding_once,
    views_stay_in_their_buffer,
    sessions_are_fresh,
    *REFUSALS,
)
