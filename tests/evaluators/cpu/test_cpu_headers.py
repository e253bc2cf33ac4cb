"""The portable HIP headers on cpu: number formats bit for bit, functions to their stated errors."""

from collections.abc import Callable
from math import erf
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from evaluators.cpu.device import CpuDevice, compiler, open_device
from evaluators.evaluation import Rejected, Status
from tests.evaluators.launching import compile_one, launch, run

Array = np.ndarray[Any, Any]
COMPILER = compiler()

FORMATS = {
    "__half": ("hip/hip_fp16.h", np.dtype(np.float16)),
    "__hip_bfloat16": ("hip/hip_bf16.h", np.dtype(ml_dtypes.bfloat16)),
    "__hip_fp8_e4m3_fnuz": ("hip/hip_fp8.h", np.dtype(ml_dtypes.float8_e4m3fnuz)),
}


@pytest.fixture(scope="module")
def device() -> CpuDevice:
    return open_device(0)


def same(actual: Array, expected: Array) -> None:
    """Equal bits, where any NaN is as good as another."""
    both_nan = np.isnan(actual.astype(np.float32)) & np.isnan(expected.astype(np.float32))
    bits = np.dtype(f"u{actual.dtype.itemsize}")
    differ = (actual.view(bits) != expected.view(bits)) & ~both_nan
    assert not differ.any(), (actual[differ][:8], expected[differ][:8])


@pytest.mark.parametrize("name", FORMATS)
def test_every_value_widens_exactly(device: CpuDevice, name: str) -> None:
    header, dtype = FORMATS[name]
    values = np.arange(256**dtype.itemsize).astype(f"u{dtype.itemsize}").view(dtype)
    code = f"""
#include <{header}>
__global__ void widen(const {name} *in, float *out, int n) {{
    for (int i = 0; i < n; ++i) out[i] = (float)in[i];
}}"""
    found = run(
        device,
        COMPILER,
        code,
        launch("widen", ["in", "out", values.size]),
        arrays={"in": values, "out": np.zeros(values.size, np.float32)},
    )
    same(found["out"], values.astype(np.float32))


@pytest.mark.parametrize("name", FORMATS)
def test_rounding_is_to_nearest_even(device: CpuDevice, name: str) -> None:
    header, dtype = FORMATS[name]
    grid = np.arange(256**dtype.itemsize).astype(f"u{dtype.itemsize}").view(dtype)
    exact = grid.astype(np.float32)
    exact = np.unique(exact[np.isfinite(exact)])
    middles = ((exact[1:].astype(np.float64) + exact[:-1]) / 2).astype(np.float32)
    rng = np.random.default_rng(1)
    anything = rng.integers(0, 2**32, 200_000, dtype=np.uint32).view(np.float32)
    near = [exact, middles, np.nextafter(middles, np.inf), np.nextafter(middles, -np.inf)]
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], np.float32)
    values = np.concatenate([*near, anything, special])
    code = f"""
#include <{header}>
__global__ void narrow(const float *in, {name} *out, int n) {{
    for (int i = 0; i < n; ++i) out[i] = {name}(in[i]);
}}"""
    found = run(
        device,
        COMPILER,
        code,
        launch("narrow", ["in", "out", values.size]),
        arrays={"in": values, "out": np.zeros(values.size, dtype)},
    )
    with np.errstate(over="ignore", invalid="ignore"):
        expected = values.astype(dtype)
    if dtype == FORMATS["__hip_fp8_e4m3_fnuz"][1]:  # AMD's constructor saturates
        huge = np.isfinite(values) & (np.abs(values) >= 248)
        expected[huge] = np.copysign(240.0, values[huge]).astype(dtype)
    same(found["out"], expected)


@pytest.mark.parametrize(("name", "add"), [("__half", "__hadd"), ("__hip_bfloat16", "operator+")])
def test_sums_and_products_round_once(device: CpuDevice, name: str, add: str) -> None:
    header, dtype = FORMATS[name]
    rng = np.random.default_rng(2)
    a, b = (rng.integers(0, 2**16, 50_000, dtype=np.uint16).view(dtype) for _ in range(2))
    code = f"""
#include <{header}>
__global__ void both(const {name} *a, const {name} *b, {name} *sum, {name} *product, int n) {{
    for (int i = 0; i < n; ++i) {{ sum[i] = {add}(a[i], b[i]); product[i] = a[i] * b[i]; }}
}}"""
    found = run(
        device,
        COMPILER,
        code,
        launch("both", ["a", "b", "sum", "product", a.size]),
        arrays={"a": a, "b": b, "sum": np.zeros_like(a), "product": np.zeros_like(a)},
    )
    with np.errstate(all="ignore"):
        wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
        same(found["sum"], (wide_a + wide_b).astype(dtype))
        same(found["product"], (wide_a * wide_b).astype(dtype))


def ulps(found: Array, exact: Array) -> float:
    """Largest error in units of the last place of the exact float32 results."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        assert np.array_equal(np.isnan(found), np.isnan(rounded))
        finite = np.isfinite(rounded) & (np.abs(exact) <= np.finfo(np.float32).max)
        odd = ~finite & ~np.isnan(rounded)
        assert np.array_equal(found[odd], rounded[odd])
        return float(np.max(np.abs(found - exact)[finite] / np.spacing(np.abs(rounded[finite]))))


FUNCTIONS: list[tuple[str, Callable[[Array], Array], float]] = [
    ("expf", np.exp, 2),
    ("exp2f", np.exp2, 2),
    ("exp10f", lambda x: np.power(10.0, x), 3),
    ("logf", np.log, 2),
    ("log2f", np.log2, 3),
    ("log10f", np.log10, 3),
    ("tanhf", np.tanh, 3),
]


@pytest.fixture(scope="module")
def elementary(device: CpuDevice) -> tuple[Array, dict[str, Array]]:
    """Arguments over all of float32, and each function's results on them."""
    bits = np.linspace(0, 2**32 - 1, 300_007).astype(np.uint32)
    ordinary = np.linspace(-120, 120, 100_003).astype(np.float32)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 88.72, -103.9], np.float32)
    values = np.concatenate([bits.view(np.float32), ordinary, special])
    names = [name for name, _, _ in FUNCTIONS]
    code = "".join(
        f"__global__ void do_{f}(const float *x, float *y, int n) {{"
        f"for (int i = 0; i < n; ++i) y[i] = {f}(x[i]); }}\n"
        for f in names
    )
    steps = [launch(f"do_{f}", ["x", f, values.size]) for f in names]
    arrays = {"x": values, **{f: np.zeros_like(values) for f in names}}
    return values, run(device, COMPILER, code, *steps, arrays=arrays)


@pytest.mark.parametrize(("name", "exact", "bound"), FUNCTIONS)
def test_elementary_functions(
    elementary: tuple[Array, dict[str, Array]],
    name: str,
    exact: Callable[[Array], Array],
    bound: float,
) -> None:
    values, found = elementary
    with np.errstate(all="ignore"):
        assert ulps(found[name], exact(values.astype(np.float64))) <= bound


def test_bits_minima_vectors_and_conversions(device: CpuDevice) -> None:
    code = """
__device__ int at = 0;
__device__ void put(float *out, float value) { out[at++] = value; }
__global__ void k(float *out) {
    put(out, __popc(0xF0u)); put(out, __popcll(~0ull)); put(out, __clz(1)); put(out, __clz(0));
    put(out, __clzll(1)); put(out, __ffs(8)); put(out, __ffs(0)); put(out, __brev(1u) == 1u << 31);
    put(out, __byte_perm(0x33221100u, 0x77665544u, 0x7410u) == 0x77441100u);
    put(out, __umulhi(1u << 31, 4u)); put(out, __funnelshift_l(1u << 31, 1u, 1) == 3u);
    put(out, min(3, 4u)); put(out, max(2.5f, 1)); put(out, max(-1ll, 7)); put(out, abs(-3));
    put(out, fmaxf(NAN, 2.0f)); put(out, fminf(2.0f, NAN)); put(out, __float_as_int(1.0f) >> 23);
    float4 v = make_float4(1, 2, 3, 4) * 2.0f + make_float4(1, 1, 1, 1);
    put(out, v.x); put(out, v.w); put(out, sizeof(float4)); put(out, alignof(float4));
    put(out, sizeof(float3)); put(out, rsqrtf(4.0f)); put(out, __fdividef(1.0f, 4.0f));
    put(out, __float2int_rn(2.5f)); put(out, dim3(5).y); put(out, warpSize);
    put(out, isnan(NAN) && isinf(INFINITY) && !isinf(1.0f));
}"""
    expected = [4, 64, 31, 32, 63, 4, 0, 1, 1, 2, 1, 3, 2.5, 7, 3, 2, 2, 127]
    expected += [3, 9, 16, 16, 12, 0.5, 0.25, 2, 1, 64, 1]
    out = np.zeros(len(expected), np.float32)
    found = run(device, COMPILER, code, launch("k", ["out"]), arrays={"out": out})
    assert found["out"].tolist() == expected


@pytest.mark.parametrize(
    "vector, dtype",
    [("float", np.float32), ("double", np.float64), ("int", np.int32), ("uchar", np.uint8)],
)
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_vectors_compute_element_by_element(
    device: CpuDevice, vector: str, dtype: type[np.generic], count: int
) -> None:
    """Also with an element on one side, converted as C++ does; assigned or not."""
    name = f"{vector}{count}"
    code = f"""__global__ void k(const {name} *a, {name} *out) {{
    const {name} x = a[0], y = a[1];
    out[0] = x + y; out[1] = x - y; out[2] = x * y; out[3] = x / y;
    out[4] = x + 2; out[5] = 100 - y; out[6] = x * y.x; out[7] = 100 / y;
    {name} z = x; z += y; z *= 2; z -= x; z /= y; out[8] = z;
}}"""
    a = np.array([[90, 81, 73, 60][:count], [2, 3, 4, 7][:count]], dtype)
    x, y = a
    divide = np.divide if np.issubdtype(dtype, np.floating) else np.floor_divide
    two, hundred = np.array([2, 100], dtype)
    wanted = [x + y, x - y, x * y, divide(x, y), x + two, hundred - y, x * y[0], divide(hundred, y)]
    wanted.append(divide((x + y) * two - x, y))
    arrays: dict[str, Array] = {"a": a, "out": np.zeros((9, count), dtype)}
    found = run(device, COMPILER, code, launch("k", ["a", "out"]), arrays=arrays)
    np.testing.assert_array_equal(found["out"], wanted)


def test_a_kernel_may_bring_an_operator_of_its_own(device: CpuDevice) -> None:
    code = """
__device__ float2 operator*(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__global__ void k(float2 *x) { x[0] = x[0] * x[1]; }"""
    arrays: dict[str, Array] = {"x": np.array([[1, 2], [3, 4]], np.float32)}
    found = run(device, COMPILER, code, launch("k", ["x"]), arrays=arrays)
    assert found["x"][0].tolist() == [-5, 10]


def test_atomics_return_what_was_there(device: CpuDevice) -> None:
    code = """
__global__ void k(int *i, unsigned *u, float *f, double *d, unsigned long long *l, int *old) {
    old[0] = atomicAdd(i, 5); old[1] = atomicSub(i, 2); old[2] = atomicMax(i, 100);
    old[3] = atomicMin(i, -1); old[4] = atomicCAS(i, -1, 9); old[5] = atomicCAS(i, -1, 10);
    old[6] = atomicExch(u, 12); old[7] = atomicAnd(u, 6); old[8] = atomicOr(u, 3);
    old[9] = atomicXor(u, 1); old[10] = atomicInc(u, 6); old[11] = atomicDec(u, 6);
    atomicAdd(f, 1.5); atomicAdd(d, 2.5); atomicAdd(l, 1);
}"""
    arrays: dict[str, Array] = {
        "i": np.array([1], np.int32),
        "u": np.array([7], np.uint32),
        "f": np.array([1], np.float32),
        "d": np.array([1], np.float64),
        "l": np.array([2**40], np.uint64),
        "old": np.zeros(12, np.int32),
    }
    found = run(device, COMPILER, code, launch("k", list(arrays)), arrays=arrays)
    assert found["old"].tolist() == [1, 6, 4, 100, -1, 9, 7, 12, 4, 7, 6, 0]
    assert (found["i"][0], found["u"][0], found["f"][0]) == (9, 6, 2.5)
    assert (found["d"][0], found["l"][0]) == (3.5, 2**40 + 1)


def test_half_vectors(device: CpuDevice) -> None:
    code = """
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>
__global__ void k(const half2 *a, float *out) {
    half2 b = __hfma2(a[0], __float2half2_rn(2.0f), a[1]);
    float2 f = __half22float2(b);
    out[0] = f.x; out[1] = f.y; out[2] = __half2float(__hmax(a[0].x, a[0].y)) * 2;
    __hip_bfloat162 c = __floats2bfloat162_rn(1.0f, 3.0f) * __float2bfloat162_rn(0.5f);
    out[3] = __low2float(c); out[4] = __high2float(c);
    float4 g = __hip_fp8x4_e4m3_fnuz(make_float4(1, -2, 300, 0.3f));
    out[5] = g.x; out[6] = g.y; out[7] = g.z; out[8] = g.w;
    out[9] = a[0].x + 1.0f; out[10] = a[0].y > a[0].x;
}"""
    found = run(
        device,
        COMPILER,
        code,
        launch("k", ["a", "out"]),
        arrays={"a": np.array([1, 2, 3, 4], np.float16), "out": np.zeros(11, np.float32)},
    )
    assert found["out"].tolist() == [5, 8, 4, 0.5, 1.5, 1, -2, 240, 0.3125, 2, 1]


def test_libm_serves_what_is_not_inline(device: CpuDevice) -> None:
    x = np.linspace(0.1, 3, 50, dtype=np.float32)
    code = """__global__ void k(const float *x, float *y, int n) {
    for (int i = 0; i < n; ++i) y[i] = sinf(x[i]) + powf(x[i], 1.5f) + erff(x[i]) + exp(x[i]);
}"""
    found = run(
        device,
        COMPILER,
        code,
        launch("k", ["x", "y", x.size]),
        arrays={"x": x, "y": np.zeros_like(x)},
    )
    wide = x.astype(np.float64)
    exact = np.sin(wide) + wide**1.5 + np.vectorize(erf)(wide) + np.exp(wide)
    np.testing.assert_allclose(found["y"], exact, rtol=1e-5)


def test_what_is_not_there_says_so() -> None:
    with pytest.raises(Rejected) as caught:
        compile_one(COMPILER, '__global__ void k() { printf("x"); }', launch("k", []))
    assert caught.value.status is Status.INVALID
    assert "printf" in caught.value.reason
