"""Every portable kernel shipped compiles for sm_90 with real NVRTC, and what it takes is known."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluators.cuda import device as cuda
from evaluators.cuda.nvrtc import NvrtcChild
from evaluators.device_info import BackendMissing
from evaluators.evaluation import Rejected, Status
from evaluators.gpu.compiler import GpuCompiler
from evaluators.gpu.resources import read_resources
from evaluators.kernel.reader import OPTIONS
from evaluators.tasks.task_file import load_task
from tests.evaluators.shipped import PORTABLE, SHIPPED, compiled, compiled_seed, name_of

TYPES = """
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>
__device__ float4 thrice(float4 v) { return v * 2.0f + v; }
__global__ void mixed(const __half *a, const __hip_bfloat16 *b, const __hip_fp8_e4m3_fnuz *c,
                      float4 *out, __hip_fp8_e4m3_fnuz *q, float *m) {
    int i = hipThreadIdx_x;
    float4 v = make_float4(__half2float(a[i]), __bfloat162float(b[i]), (float)c[i], INFINITY);
    v += thrice(v);
    out[i] = v;
    q[i] = __hip_fp8_e4m3_fnuz(v.x);
    atomicMax(m, __shfl_xor(v.y, 1));
    unsafeAtomicAdd(m, __shfl_down(v.z, 2, 16));
    if (__ballot(i & 1) >> 40 || __any(i) || __all(i)) __builtin_nontemporal_store(v.x, m + 1);
    m[2] = __hip_atomic_load(m, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    assert(i < WAVEFRONT);
}
"""


@pytest.fixture(scope="module")
def sm_90() -> Iterator[NvrtcChild]:
    with NvrtcChild() as child:
        yield child


@pytest.fixture(scope="module")
def compiler() -> Iterator[GpuCompiler]:
    made = cuda.compiler(arch="sm_90")
    yield made
    made.close()


@pytest.mark.parametrize("seed", PORTABLE, ids=name_of)
def test_every_portable_kernel_shipped_compiles_for_sm_90(
    compiler: GpuCompiler, seed: Path
) -> None:
    made = compiled_seed(compiler, seed)
    assert (made.backend, made.arch, made.engine) == ("cuda", "sm_90", "cuda")
    assert made.compiler.startswith("nvrtc ")
    assert made.binaries
    for told in made.resources:
        assert told["arch"] == "sm_90"
        assert told["registers"] > 0


def test_headers_cover_types_vectors_and_wavefront_operations(sm_90: NvrtcChild) -> None:
    made = sm_90.compile(
        TYPES, arch="sm_90", names=("mixed",), options=("-std=c++17", "-DWAVEFRONT=32")
    )
    (resources,) = read_resources(made.code, signatures=made.signatures)
    assert [argument.type for argument in resources.args] == ["pointer"] * 6
    assert made.log == ""


@pytest.mark.parametrize("option", sorted(OPTIONS))
def test_every_allowed_option_is_known_or_left_out(sm_90: NvrtcChild, option: str) -> None:
    assert sm_90.compile("__global__ void f() {}", arch="sm_90", options=(option,)).log == ""


def test_an_unknown_architecture_is_one_sentence(sm_90: NvrtcChild) -> None:
    with pytest.raises(BackendMissing, match="does not know the architecture 'sm_12'"):
        sm_90.compile("__global__ void f() {}", arch="sm_12")


def test_known_registers_scratch_and_lds(sm_90: NvrtcChild) -> None:
    code = """
__global__ void lds(float *x) {
    __shared__ float s[1000];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[999 - threadIdx.x];
}
__global__ void scratch(float *x, int n) {
    float a[260];
    for (int i = 0; i < 260; ++i) a[i] = x[i];
    for (int i = 0; i < n; ++i) a[(i * 7) % 260] += a[(i * 3) % 260];
    for (int i = 0; i < 260; ++i) x[i] = a[i];
}"""
    made = sm_90.compile(code, arch="sm_90", names=("lds", "scratch"))
    found = {r.symbol: r for r in read_resources(made.code)}
    assert found[made.symbols["lds"]].lds_bytes == 4000
    assert found[made.symbols["lds"]].scratch_bytes == 0
    assert math.isclose(found[made.symbols["scratch"]].scratch_bytes, 1040, abs_tol=16)


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ('asm("nop;");', Status.INVALID, "inline assembly is not allowed"),
        ('#define GLUE(a, b) a##b\nGLUE(as, m)("nop;");', Status.INVALID, "assembly"),
        ("#include </etc/hostname>", Status.INVALID, "'/etc/hostname' is not allowed"),
        ("#include <cuda_pipeline.h>", Status.INVALID, "'cuda_pipeline.h' is not allowed"),
        ("int x = missing;", Status.COMPILE_ERROR, "missing"),
    ],
)
def test_what_is_refused_carries_the_line(
    compiler: GpuCompiler, line: str, status: Status, said: str
) -> None:
    text = (SHIPPED / "sgemm" / "seeds" / "naive.hip").read_text()
    number = text.count("\n") + 1 + line.count("\n")
    with pytest.raises(Rejected) as caught:
        compiled(compiler, load_task("sgemm"), text + line + "\n")
    assert caught.value.status is status
    assert said in caught.value.reason
    assert str(number) in caught.value.reason


def test_no_driver_is_one_sentence() -> None:
    if cuda.device_count():
        pytest.skip("there is an NVIDIA GPU here")
    with pytest.raises(BackendMissing, match=r"no CUDA driver|finds no NVIDIA GPU"):
        cuda.open_device(0)
