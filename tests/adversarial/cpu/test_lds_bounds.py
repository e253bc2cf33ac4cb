"""Accesses behind and before LDS, static and dynamic, and reads of LDS that nothing wrote."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from evaluators.cpu import fibers
from evaluators.cpu.compiler import CpuCompiler
from evaluators.cpu.device import CpuDevice, open_device
from evaluators.cpu.emit import ENGINE
from evaluators.cpu.session import CpuSession
from evaluators.device import Buffer, Compiled
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import Dim3, LaunchStep
from tests.evaluators.launching import DEADLINE_S, compile_one, launch, plan

KERNEL = """
struct Pair { float a, b; };
DECLARE_OUTSIDE
__device__ int far(int i) { return i; }
__global__ void k(float *x, int n) {
    DECLARE
    const int t = threadIdx.x;
    tile[t % 4] = x[t];
    __syncthreads();
    ACCESS
    x[t] += tile[(t + 1) % 4];
}
"""
ARRAY = "__shared__ float tile[4], other[64];"
WRITE = "if (t == 0) ((volatile float *)tile)[n] = 1.0f; __syncthreads();"
READ = "if (t == 0) (void)((volatile float *)tile)[n]; __syncthreads();"

# declarations outside and inside of the kernel, the access, dynamic bytes, n, and what is told
BEYOND = {
    "just behind": ("", ARRAY, WRITE, 0, 4, "wrote past the end of the LDS array tile (line 11)"),
    "KiB behind": ("", ARRAY, WRITE, 0, 1500, "wrote past the end of the LDS array tile (line 11)"),
    "just before": ("", ARRAY, WRITE, 0, -1, "wrote before the start of the LDS array tile"),
    "KiB before": ("", ARRAY, WRITE, 0, -1300, "wrote before the start of the LDS array tile"),
    "a far read": ("", ARRAY, READ, 0, 1500, "read past the end of the LDS array tile (line 11)"),
    "of a matrix of structs": (
        "",
        "__shared__ Pair pairs[8][9]; __shared__ float tile[4];",
        "if (t == 0) ((volatile float *)pairs)[n] = 1.0f; __syncthreads();",
        0,
        144,
        "wrote past the end of the LDS array pairs (line 11)",
    ),
    "outside of functions": (
        "__shared__ float tile[4];",
        "",
        WRITE,
        0,
        5,
        "wrote past the end of the LDS array tile (line 8)",
    ),
    "dynamic, just behind": (
        "",
        "extern __shared__ float tile[];",
        WRITE,
        20,
        5,
        "wrote past the end of the dynamic LDS",
    ),
    "dynamic, KiB behind": (
        "extern __shared__ float tile[];",
        "",
        WRITE,
        4096,
        1024,
        "wrote past the end of the dynamic LDS",
    ),
    "dynamic, a read behind": (
        "",
        "extern __shared__ float tile[];",
        READ,
        4096,
        1025,
        "read past the end of the dynamic LDS",
    ),
    "dynamic, before": (
        "",
        "extern __shared__ float tile[];",
        READ,
        4096,
        -1,
        "read before the start of the dynamic LDS",
    ),
}


@pytest.fixture(scope="module")
def device() -> CpuDevice:
    return open_device(0)


@pytest.fixture(params=[ENGINE, fibers.ENGINE])
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    yield request.param


@cache
def compiled(engine: str, code: str, block: Dim3) -> Compiled:
    """Once for all values of n and bytes of dynamic LDS: a build knows neither."""
    return compile_one(CpuCompiler(engine=engine), code, launch("k", [], block=block))


def open_checked(
    device: CpuDevice, engine: str, code: str, step: LaunchStep
) -> tuple[CpuSession, dict[str, Buffer]]:
    made = compiled(engine, code, step.block)
    session = device.open(made, memory_bytes=1 << 20, fenced=True)
    return session, {"x": session.alloc(1 << 16).view(1 << 13, 256)}


@pytest.mark.parametrize("name", BEYOND)
def test_an_access_beyond_lds_is_told(device: CpuDevice, engine: str, name: str) -> None:
    outside, inside, access, lds_bytes, n, words = BEYOND[name]
    code = (
        KERNEL.replace("DECLARE_OUTSIDE", outside)
        .replace("DECLARE", inside)
        .replace("ACCESS", access)
    )
    step = launch("k", ["x", n], block=(4, 1, 1), lds_bytes=lds_bytes)
    session, buffers = open_checked(device, engine, code, step)
    with session, pytest.raises(Rejected) as caught:
        session.run(plan(step), buffers, deadline_s=DEADLINE_S)
    assert caught.value.status is Status.WRONG
    assert words in caught.value.reason


UNWRITTEN = {
    "static": ("__shared__ float tile[4];", 0),
    "dynamic": ("extern __shared__ float tile[];", 16),
    "of a block before": ("__shared__ float tile[4];", 0),
}


@pytest.mark.parametrize("name", UNWRITTEN)
def test_unwritten_lds_is_no_zero(device: CpuDevice, engine: str, name: str) -> None:
    """Nor what another block left there."""
    declare, lds_bytes = UNWRITTEN[name]
    first = "blockIdx.x == 0" if "before" in name else "x[63] == 1.0f"
    code = f"""
__global__ void k(float *x) {{
    {declare}
    if ({first}) tile[threadIdx.x] = 0.0f;
    __syncthreads();
    x[blockIdx.x * 4 + threadIdx.x] = tile[(threadIdx.x + 1) % 4];
}}"""
    step = launch("k", ["x"], grid=(2, 1, 1), block=(4, 1, 1), lds_bytes=lds_bytes)
    session, buffers = open_checked(device, engine, code, step)
    with session:
        if engine == fibers.ENGINE:  # it watches what is read
            with pytest.raises(Rejected, match="line 11: a thread reads LDS that no thread of"):
                session.run(plan(step), buffers, deadline_s=DEADLINE_S)
            return
        session.run(plan(step), buffers, deadline_s=DEADLINE_S)
        found = session.read(buffers["x"], np.dtype(np.float32), (64,))
    assert np.isnan(found[4:8]).all()


def test_lds_of_every_form_works_to_its_last_element(device: CpuDevice, engine: str) -> None:
    code = """
struct Pair { float a, b; };
constexpr int ROWS = 5;
__shared__ float outside[4];
template <typename T, int N> __device__ T total(const T *from) {
    __shared__ T kept[N];
    for (int i = 0; i < N; ++i) kept[i] = from[i];
    T sum = 0;
    for (int i = 0; i < N; ++i) sum += kept[i];
    return sum;
}
__global__ void k(float *x) {
    extern __shared__ float dynamic[];
    __shared__ Pair pairs[ROWS][4];
    __shared__ float *pointers[4], one;
    __shared__ unsigned bits;
    const int t = threadIdx.x;
    for (int row = 0; row < ROWS; ++row) pairs[row][t] = {1.0f * row, 1.0f * t};
    if (t == 0) { one = 2.0f; bits = 7u; }
    pointers[t] = &dynamic[t];
    dynamic[t] = x[t];
    outside[t] = 1.0f;
    __syncthreads();
    *pointers[(t + 1) % 4] += 1.0f;
    __syncthreads();
    x[t] = dynamic[t] + pairs[ROWS - 1][3 - t].b + one + bits + outside[3 - t]
        + (t == 0 ? total<float, 4>(dynamic) : 0.0f) + sizeof(pairs);
}"""
    step = launch("k", ["x"], block=(4, 1, 1), lds_bytes=16)
    session, buffers = open_checked(device, engine, code, step)
    with session:
        session.write(buffers["x"], np.arange(64, dtype=np.float32))
        session.run(plan(step), buffers, deadline_s=DEADLINE_S)
        found = session.read(buffers["x"], np.dtype(np.float32), (64,))[:4]
    assert found.tolist() == [
        1 + 3 + 10 + 10 + 160,
        2 + 2 + 10 + 160,
        3 + 1 + 10 + 160,
        4 + 10 + 160,
    ]
