"""Resources read from compiled code, on kernels whose registers, LDS and scratch are known."""

import os
import re
from dataclasses import replace

import pytest

from evaluators.gpu.advice import advice, for_launch, numbers
from evaluators.gpu.occupancy import LIMITS, occupancy, registers_for, waves_by_registers
from evaluators.gpu.resources import (
    KernelArgument,
    NotACodeObject,
    Resources,
    read_resources,
)
from evaluators.hip.hiprtc import HiprtcChild

LDS = """
__global__ void shuffle(const float* x, float* y, int n, double scale, char tag) {
    __shared__ float tile[1000];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[(threadIdx.x * n) % 1000] * scale + tag;
}"""
SCRATCH = """
__global__ void indexed(const float* x, float* y, const int* where) {
    float held[260];
    for (int i = 0; i < 260; ++i) held[i] = x[i * threadIdx.x];
    for (int i = 0; i < 260; ++i) held[where[i]] += held[where[i + 1]];
    for (int i = 0; i < 260; ++i) y[i * threadIdx.x] = held[i];
}"""
WIDE = """
__global__ void copy(const float4* x, float4* y, const float* z) {
    float4 v = x[threadIdx.x];
    v.x += z[threadIdx.x];
    y[threadIdx.x] = v;
}"""


def compiled(child: HiprtcChild, source: str, name: str, *options: str) -> tuple[Resources, str]:
    """The one kernel's resources, and the compiler's log."""
    made = child.compile(source, arch="gfx942", names=(name,), options=options)
    (found,) = read_resources(made.code, made.mnemonics, made.signatures)
    return found, made.log


def touching(register: str) -> str:
    """A kernel whose highest register of that kind is the named one, by an assembler clobber."""
    return f'__global__ void touch() {{ asm volatile("s_nop 0" ::: "{register}"); }}'


def test_lds_and_argument_layout(gfx942: HiprtcChild) -> None:
    found, _ = compiled(gfx942, LDS, "shuffle")
    assert (found.arch, found.lds_bytes, found.scratch_bytes) == ("gfx942", 4000, 0)
    assert found.args == (
        KernelArgument(offset=0, size=8, type="pointer"),
        KernelArgument(offset=8, size=8, type="pointer"),
        KernelArgument(offset=16, size=4, type="int32"),
        KernelArgument(offset=24, size=8, type="float64"),
        KernelArgument(offset=32, size=1, type="int8"),
    )


def test_argument_types_of_a_template(gfx942: HiprtcChild) -> None:
    source = """
    template <typename T> struct Pair { T a, b; };
    template <typename T, int N> __global__ void f(
        const T* __restrict__ x, T* const* y, void (*z)(int, T), Pair<T> p, unsigned n, long long m,
        unsigned long k, float s, bool t) {}"""
    found, _ = compiled(gfx942, source, "f<float, 3>")
    assert [a.type for a in found.args] == [
        *("pointer", "pointer", "pointer", "value"),
        *("int32", "int64", "int64", "float32", "bool"),
    ]


def test_an_array_indexed_at_run_time_is_scratch(gfx942: HiprtcChild) -> None:
    found, _ = compiled(gfx942, SCRATCH, "indexed")
    assert found.scratch_bytes >= 260 * 4
    assert found.vgpr_spills == 0
    said = " ".join(advice(found, 256))
    assert f"{found.scratch_bytes} bytes of private memory a lane" in said


def test_spills_are_counted(gfx942: HiprtcChild) -> None:
    kept = "; ".join(f'asm volatile("v_mov_b32 %0, 0" : "=v"(r[{i}]))' for i in range(160))
    used = "; ".join(f'asm volatile("" :: "v"(r[{i}]))' for i in range(160))
    source = f"""__global__ __launch_bounds__(1024) void spill(float* x) {{
        float r[160]; {kept}; __syncthreads(); {used}; x[0] = 1;
    }}"""
    found, _ = compiled(gfx942, source, "spill")
    assert found.registers <= 128  # 1024 threads: 4 wavefronts a SIMD
    assert found.vgpr_spills > 0
    assert found.max_threads == 1024
    told = for_launch(found, 512, 0)
    assert told["advice"][0].startswith(f"{found.vgpr_spills} registers spilled to memory; try: ")
    assert "__launch_bounds__(512)" in told["advice"][0]
    (line,) = told["facts"]
    assert f"{found.vgpr_spills} registers spilled" in line
    assert f"{found.scratch_bytes} bytes of scratch a thread" in line


@pytest.mark.parametrize("number", [0, 31, 127, 159, 255])
def test_vgprs_of_a_known_register(gfx942: HiprtcChild, number: int) -> None:
    found, log = compiled(
        gfx942, touching(f"v{number}"), "touch", "-Rpass-analysis=kernel-resource-usage"
    )
    assert (found.registers, found.agprs) == (number + 1, 0)
    # LLVM's own count for the default block limit of 1024 threads agrees with ours.
    said = re.search(r"Occupancy \[waves/SIMD\]: (\d+)", log)
    assert said, log
    assert waves_by_registers(LIMITS["gfx942"], found.registers) == int(said[1])


def test_agprs_are_part_of_the_unified_count(gfx942: HiprtcChild) -> None:
    source = (
        '__global__ __launch_bounds__(256) void touch() { asm volatile("s_nop 0" ::: "v9", "a63");}'
    )
    found, _ = compiled(gfx942, source, "touch")
    assert found.agprs == 64
    assert found.registers == 12 + 64  # VGPRs are rounded up to 4 below the AGPRs


def test_sgprs(gfx942: HiprtcChild) -> None:
    low, _ = compiled(gfx942, touching("s20"), "touch")
    high, _ = compiled(gfx942, touching("s90"), "touch")
    assert high.sgprs - low.sgprs == 70


def test_mfma_and_wide_loads_are_counted(gfx942: HiprtcChild) -> None:
    found, _ = compiled(gfx942, WIDE, "copy")
    assert (found.loads, found.wide_loads, found.mfma) == (2, 1, 0)
    source = """
    typedef float f32x4 __attribute__((ext_vector_type(4)));
    __global__ void multiply(const long* a, const long* b, f32x4* d) {
        f32x4 sum = {};
        sum = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a[0], b[0], sum, 0, 0, 0);
        sum = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a[1], b[1], sum, 0, 0, 0);
        d[threadIdx.x] = sum;
    }"""
    found, _ = compiled(gfx942, source, "multiply")
    assert found.mfma == 2


def test_undisassembled_code_claims_no_counts(gfx942: HiprtcChild) -> None:
    made = gfx942.compile(WIDE, arch="gfx942", names=("copy",))
    (found,) = read_resources(made.code)
    assert (found.mfma, found.loads, found.wide_loads) == (None, None, None)


@pytest.mark.parametrize("code", [b"", b"no ELF at all", b"\x7fELF" + bytes(8)])
def test_other_bytes_are_refused(code: bytes) -> None:
    with pytest.raises(NotACodeObject):
        read_resources(code)


# VGPRs, LDS bytes, block -> wavefronts a SIMD, what limits; 512 VGPRs, 64 KiB, 8 wavefronts.
@pytest.mark.parametrize(
    ("registers", "lds_bytes", "block", "waves", "limited_by"),
    [
        (64, 0, 256, 8, "waves"),
        (65, 0, 256, 7, "registers"),
        (128, 0, 256, 4, "registers"),
        (129, 0, 256, 3, "registers"),
        (160, 0, 256, 3, "registers"),
        (256, 0, 256, 2, "registers"),
        (257, 0, 256, 1, "registers"),
        (128, 0, 1024, 4, "registers"),
        (136, 0, 1024, 0, "registers"),
        (32, 32 << 10, 256, 2, "LDS"),
        (32, (32 << 10) + 1, 256, 1, "LDS"),
        (32, 64 << 10, 64, 0.25, "LDS"),
        (32, (64 << 10) + 1, 64, 0, "LDS"),
        (32, 0, 128, 8, "waves"),
        (32, 0, 64, 8, "waves"),
    ],
)
def test_occupancy_of_cdna3(
    registers: int, lds_bytes: int, block: int, waves: float, limited_by: str
) -> None:
    found = occupancy(
        "gfx942", registers=registers, sgprs=32, lds_bytes=lds_bytes, block_threads=block
    )
    assert found is not None
    assert (found.waves_per_simd, found.limited_by) == (waves, limited_by)


def test_more_sgprs_than_eight_wavefronts_share() -> None:
    found = occupancy("gfx942", registers=8, sgprs=102, lds_bytes=0, block_threads=64)
    assert found is not None
    assert found.waves_per_simd == 7


def test_no_rules_no_number() -> None:
    assert occupancy("gfx1100", registers=8, sgprs=8, lds_bytes=0, block_threads=64) is None
    assert advice(Resources(symbol="k", arch="gfx1100", registers=8), 64) == ()


@pytest.mark.parametrize("arch", sorted(LIMITS))
def test_registers_for_is_the_largest_count_that_fits(arch: str) -> None:
    limits = LIMITS[arch]
    for waves in range(2, limits.waves_per_simd + 1):
        most = registers_for(limits, waves)
        assert waves_by_registers(limits, most) >= waves
        assert waves_by_registers(limits, most + 1) < waves


def test_advice_names_the_next_step() -> None:
    kernel = Resources(symbol="k", arch="gfx942", registers=160, sgprs=40)
    assert advice(kernel, 256) == ("160 VGPRs: 3 waves a SIMD; 128 would give 4.",)
    # A block of 1024 threads brings 4 wavefronts a SIMD: a fifth alone doesn't help.
    assert advice(Resources(symbol="k", arch="gfx942", registers=128, sgprs=40), 1024) == (
        "128 VGPRs: 4 waves a SIMD; 64 would give 8.",
    )
    lds = Resources(symbol="k", arch="gfx942", registers=32, lds_bytes=20000)
    assert advice(lds, 256, 20000) == (
        "40000 bytes of LDS: 1 block a compute unit, 1 wave a SIMD; "
        "32768 bytes would give 2 blocks.",
    )
    assert advice(Resources(symbol="k", arch="gfx942", registers=300), 1024) == (
        "a block of 1024 threads with 300 VGPRs and 0 bytes of LDS does not fit on a compute unit; "
        "try: fewer threads.",
    )
    narrow = Resources(symbol="k", arch="gfx942", registers=32, loads=6, wide_loads=0)
    assert advice(narrow, 256)[0].startswith("none of the 6 global loads is 16 bytes wide")


def test_for_launch_is_plain_values() -> None:
    kernel = Resources(symbol="k", arch="gfx942", registers=160, lds_bytes=4096)
    told = for_launch(kernel, 256, 4096)
    told_of_it = (told["waves_per_simd"], told["blocks_per_cu"], told["limited_by"])
    assert told_of_it == (3.0, 3, "registers")
    assert told["advice"] == ["160 VGPRs: 3 waves a SIMD; 128 would give 4."]


def test_every_kernel_gets_its_numbers() -> None:
    amd = Resources(
        symbol="k", arch="gfx942", registers=160, agprs=32, sgprs=40, lds_bytes=4096, mfma=8
    )
    assert numbers(amd, 256, 512) == (
        "blocks of 256 threads: 160 VGPRs (AGPRs: 32 of them), 40 SGPRs, 4608 bytes of LDS a block,"
        " 0 bytes of scratch a thread, no spills, 8 matrix instructions; 3 of 8 waves a SIMD can be"
        " resident, limited by registers."
    )
    nvidia = Resources(symbol="k", arch="sm_90", registers=32, scratch_bytes=80)
    assert numbers(nvidia, 256) == (
        "blocks of 256 threads: 32 registers, 0 bytes of shared memory a block, 80 bytes of local "
        "memory a thread; 16 of 16 warps a scheduler can be resident."
    )
    assert numbers(Resources(symbol="k", arch="gfx1100", registers=8), 64).startswith(
        "blocks of 64"
    )


def test_advice_on_the_shape_of_blocks() -> None:
    kernel = Resources(symbol="k", arch="sm_90", registers=16)
    (said,) = advice(kernel, 32)
    assert said.startswith("a SM takes 32 blocks") and "larger blocks" in said
    (said,) = advice(replace(kernel, arch="gfx942"), 80)
    assert "leave 48 of 128 lanes idle" in said and "a multiple of 64" in said


def cubin(source: str, name: str) -> bytes:
    """Compiled by NVRTC for sm_90; needs no GPU."""
    try:
        from cuda.bindings import nvrtc
    except ImportError as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no NVRTC here: {missing}")
    _, made = nvrtc.nvrtcCreateProgram(source.encode(), b"kernel.cu", 0, [], [])
    nvrtc.nvrtcAddNameExpression(made, name.encode())
    (status,) = nvrtc.nvrtcCompileProgram(made, 1, [b"--gpu-architecture=sm_90"])
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS
    _, nbytes = nvrtc.nvrtcGetCUBINSize(made)
    code = bytearray(nbytes)
    nvrtc.nvrtcGetCUBIN(made, code)
    return bytes(code)


def test_cubin_shared_memory_and_argument_layout() -> None:
    (found,) = read_resources(cubin(LDS, "shuffle"))
    assert (found.arch, found.lds_bytes, found.scratch_bytes) == ("sm_90", 4000, 0)
    assert [(a.offset, a.size) for a in found.args] == [(0, 8), (8, 8), (16, 4), (24, 8), (32, 1)]
    assert 8 <= found.registers <= 40


def test_cubin_local_memory_and_block_limit() -> None:
    source = SCRATCH.replace("void indexed", "void __launch_bounds__(128) indexed")
    (found,) = read_resources(cubin(source, "indexed"))
    assert found.scratch_bytes == 260 * 4
    assert found.max_threads == 128
    told = for_launch(found, 128, 0)
    assert "1040 bytes of local memory a thread" in told["facts"][0]
    assert told["advice"][0].startswith("1040 bytes of private memory a lane: an array indexed")
    assert found.lds_bytes == 0
