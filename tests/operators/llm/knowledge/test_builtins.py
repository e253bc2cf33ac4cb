"""Every builtin that a section names is known to the device's compiler, called as it says."""

import re

from evaluators.cuda.nvrtc import NvrtcChild
from evaluators.gpu.resources import read_resources
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.kernel.source import parse_kernel
from operators.llm.knowledge.sections import FOLDER

FRONT = "/*---\nlaunches: [{kernel: k, grid: [1], block: [64], args: []}]\n---*/\n"
CDNA3 = """
#include <hip/hip_runtime.h>
typedef float f2 __attribute__((ext_vector_type(2)));
typedef float f4 __attribute__((ext_vector_type(4)));
extern "C" __global__ void k(float* x, unsigned* words, float4* out, int bytes) {
    __shared__ float tile[64];
    auto resource = __builtin_amdgcn_make_buffer_rsrc(x, 0, bytes, 0x00027000);
    auto wide = __builtin_amdgcn_raw_buffer_load_b128(resource, threadIdx.x * 16, 0, 0);
    out[threadIdx.x] = *(float4*)&wide;
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void*)(x + threadIdx.x),
                                     (__attribute__((address_space(3))) void*)tile, 4, 0, 0);
    __syncthreads();
    auto pair = __builtin_amdgcn_cvt_pk_f32_fp8(words[threadIdx.x], false);
    float low = __builtin_amdgcn_fmed3f(pair[0], 240.0f, -240.0f);
    words[threadIdx.x] = __builtin_amdgcn_cvt_pk_fp8_f32(low, pair[1], 0, false);
    float v = __builtin_amdgcn_exp2f(tile[63 - threadIdx.x]) * __builtin_amdgcn_rcpf(low);
    v += __int_as_float(__builtin_amdgcn_mov_dpp(__float_as_int(v), 0xB1, 0xf, 0xf, true));
    v += __int_as_float(__builtin_amdgcn_mov_dpp(__float_as_int(v), 0x4E, 0xf, 0xf, true));
    v += __int_as_float(__builtin_amdgcn_mov_dpp(__float_as_int(v), 0x141, 0xf, 0xf, true));
    v += __int_as_float(__builtin_amdgcn_mov_dpp(__float_as_int(v), 0x140, 0xf, 0xf, true));
    __builtin_amdgcn_s_setprio(1);
    __builtin_amdgcn_sched_group_barrier(0x8, 1, 0);
    words[64] = __builtin_amdgcn_perm(__float_as_uint(v), __float_as_uint(low), 0x07060302);
    words[65] = __builtin_amdgcn_readfirstlane(words[threadIdx.x]);
    f4 once = __builtin_nontemporal_load((const f4*)x + threadIdx.x);
    __builtin_nontemporal_store(once, (f4*)out + 64 + threadIdx.x);
    f2 both = *(const f2*)(x + 2 * threadIdx.x);
    *(f2*)(x + 2 * threadIdx.x) = both * both + both;
}
"""
PREFETCH = """
#include <hip/hip_runtime.h>
typedef float f4 __attribute__((ext_vector_type(4)));
extern "C" __global__ void __launch_bounds__(256) k(const f4* x, f4* y) {
    __shared__ float tile[256];
    f4 next = x[threadIdx.x];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    float mine = tile[threadIdx.x * 7 % 256];
    __syncthreads();
    next.x += mine;
    y[threadIdx.x] = next;
}
"""
HOPPER = """
#include <hip/hip_runtime.h>
extern "C" __global__ void __launch_bounds__(32)
k(const short *tile_a, const short *tile_b, float *out, int pitch_a, int pitch_b, int pitch_out) {
    {
%s
    }
    int a[4], b[4];
    float c[8] = {};
    __mma_bf16_m16n16k16_ld_a(a, (const int *)tile_a, pitch_a, 0);
    __mma_bf16_m16n16k16_ld_b(b, (const int *)tile_b, pitch_b, 1);
    __mma_bf16_m16n16k16_mma_f32(c, a, b, c, 1, 0);
    __mma_tf32_m16n16k8_ld_a(a, (const int *)tile_a, pitch_a, 0);
    __mma_tf32_m16n16k8_ld_b(b, (const int *)tile_b, pitch_b, 0);
    __mma_tf32_m16n16k8_mma_f32(c, a, b, c, 0, 0);
    __mma_m16n16k8_st_c_f32(out + 256, c, pitch_out, 0);
    ((float4 *)out)[128] = __builtin_nontemporal_load((const float4 *)tile_a);
    __builtin_nontemporal_store(__fdividef(__expf(c[0]), c[1]), out);
}
"""


def named(kind: str, pattern: str) -> set[str]:
    texts = (path.read_text(encoding="utf-8") for path in (FOLDER / kind).glob("*.md"))
    return set(re.findall(pattern, "\n".join(texts)))


def test_cdna3s_builtins_compile_for_gfx942(gfx942: HiprtcChild) -> None:
    """Those of matrix cores are compiled, and probed on a device, by evaluators/acceptance."""
    wanted = named("cdna3", r"__builtin_(?!amdgcn_mfma)\w+")
    assert wanted == set(re.findall(r"__builtin_\w+", CDNA3))
    parse_kernel(FRONT + CDNA3)  # the harness admits it
    made = gfx942.compile(CDNA3, arch="gfx942", names=("k",))
    for instruction in ("v_pk_fma_f32", "buffer_load_dwordx4", "global_load_lds_dword"):
        assert any(name.startswith(instruction) for name in made.mnemonics["k"]), instruction


def test_a_prefetched_native_vector_stays_in_registers(gfx942: HiprtcChild) -> None:
    assert "ext_vector_type(4)" in (FOLDER / "cdna3" / "occupancy.md").read_text(encoding="utf-8")
    made = gfx942.compile(PREFETCH, arch="gfx942", names=("k",))
    (found,) = read_resources(made.code, made.mnemonics)
    assert (found.lds_bytes, found.scratch_bytes) == (4 * 256, 0)


def test_hoppers_tensor_cores_are_reached_as_its_section_shows() -> None:
    text = (FOLDER / "hopper" / "matrix_cores.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```\n(.*?)```", text, re.DOTALL)
    code = HOPPER % example
    wanted = named("hopper", r"__(?:hmma|mma|builtin_nontemporal)_\w+")
    assert wanted == set(re.findall(r"__(?:hmma|mma|builtin_nontemporal)_\w+", code))
    parse_kernel(FRONT + code)  # the harness admits it
    with NvrtcChild() as child:
        made = child.compile(code, arch="sm_90", names=("k",))
    (found,) = read_resources(made.code)
    assert found.scratch_bytes == 0
