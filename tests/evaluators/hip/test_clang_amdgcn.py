"""The last rung: clang 19 and our own headers compile for gfx942 what hiprtc would, and say so."""

import os
from pathlib import Path

import pytest

from engine.cli import doctor
from evaluators.device_info import BackendMissing
from evaluators.evaluation import Rejected, Status
from evaluators.gpu.resources import KernelArgument, Resources, amdgpu_metadata, read_resources
from evaluators.hip import device as hip
from evaluators.hip.clang import ClangChild
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.hip.rocm import ClangToolchain, find_toolchain
from evaluators.kernel.reader import OPTIONS
from evaluators.tasks.task_file import load_task
from tests.evaluators.shipped import KERNELS, SEEDS, SHIPPED, compiled, compiled_seed, name_of

MFMA = KERNELS / "fp8_mfma_gemm" / "seeds" / "fp8_mfma_gemm.hip"
# Each brings something else: templates, LDS, shuffles, votes, atomics, halves, vectors, memsets.
SAMPLED = {
    *("column_fold_functor", "compact_ballot", "dot_atomic", "fp8_mfma_gemm"),
    *("nbody_tiles", "rmsnorm_half", "run_labels_flag", "softmax_rows"),
}
COPY = "__global__ void copy(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }"


def seeds() -> list[object]:
    return [
        pytest.param(s, id=name_of(s), marks=() if s.stem in SAMPLED else pytest.mark.soak)
        for s in SEEDS
    ]


def one(
    child: ClangChild, source: str, name: str, *options: str
) -> tuple[Resources, dict[str, int]]:
    """The one kernel's resources, and its instructions."""
    made = child.compile(source, arch="gfx942", names=(name,), options=options)
    (found,) = read_resources(made.code, made.mnemonics, made.signatures)
    assert made.symbols[name] == found.symbol
    assert made.log == ""
    return found, dict(made.mnemonics[found.symbol])


def refused(child: ClangChild, source: str, *names: str, deadline_s: float = 60.0) -> Rejected:
    options = ("-fconstexpr-steps=4000000000",)
    with pytest.raises(Rejected) as caught:
        child.compile(source, arch="gfx942", names=names, options=options, deadline_s=deadline_s)
    return caught.value


def test_the_sample_is_shipped() -> None:
    assert {s.stem for s in SEEDS} >= SAMPLED


@pytest.mark.parametrize("seed", seeds())
def test_kernels_shipped_compile_with_clang(clang_amdgcn: ClangChild, seed: Path) -> None:
    made = compiled_seed(hip.compiler(arch="gfx942", child=clang_amdgcn), seed)
    assert (made.backend, made.arch) == ("hip", "gfx942")
    assert made.compiler.startswith("clang 19.")
    assert made.log == ""
    for told in made.resources:
        assert told["registers"] > 0
        assert told["waves_per_simd"] > 0
        if seed.stem == "nbody_tiles":  # a small array indexed at run time, and its own LDS only
            assert (told["scratch_bytes"], told["lds_bytes"]) == (32, 1024)
        else:
            assert told["scratch_bytes"] == 0
        if seed.stem != "mfma":  # a file of several kernels, some of which multiply
            assert told["mfma"] == (16 if seed == MFMA else 0)
        assert told["loads"] > 0


def test_lds_and_argument_layout(clang_amdgcn: ClangChild) -> None:
    source = """
    __global__ void shuffle(const float* x, float* y, int n, double scale, char tag) {
        __shared__ float tile[1000];
        tile[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        y[threadIdx.x] = tile[(threadIdx.x * n) % 1000] * scale + tag;
    }"""
    found, instructions = one(clang_amdgcn, source, "shuffle")
    assert (found.arch, found.lds_bytes, found.scratch_bytes) == ("gfx942", 4000, 0)
    assert found.args == (
        KernelArgument(offset=0, size=8, type="pointer"),
        KernelArgument(offset=8, size=8, type="pointer"),
        KernelArgument(offset=16, size=4, type="int32"),
        KernelArgument(offset=24, size=8, type="float64"),
        KernelArgument(offset=32, size=1, type="int8"),
    )
    assert instructions["s_barrier"] == 1


def test_an_array_indexed_at_run_time_is_scratch(clang_amdgcn: ClangChild) -> None:
    source = """
    __global__ void indexed(const float* x, float* y, const int* where) {
        float held[260];
        for (int i = 0; i < 260; ++i) held[i] = x[i * threadIdx.x];
        for (int i = 0; i < 260; ++i) held[where[i]] += held[where[i + 1]];
        for (int i = 0; i < 260; ++i) y[i * threadIdx.x] = held[i];
    }"""
    found, _ = one(clang_amdgcn, source, "indexed")
    assert found.scratch_bytes >= 260 * 4


@pytest.mark.parametrize("number", [31, 127])
def test_vgprs_of_a_known_register(clang_amdgcn: ClangChild, number: int) -> None:
    source = f'__global__ void touch() {{ asm volatile("s_nop 0" ::: "v{number}"); }}'
    assert one(clang_amdgcn, source, "touch")[0].registers == number + 1


def test_launch_bounds_bind(clang_amdgcn: ClangChild) -> None:
    body = 'touch() { asm volatile("s_nop 0" ::: "v9", "a63"); }'
    found, _ = one(clang_amdgcn, f"__global__ __launch_bounds__(256) void {body}", "touch")
    assert (found.max_threads, found.agprs, found.registers) == (256, 64, 12 + 64)
    found, _ = one(clang_amdgcn, f"__global__ __launch_bounds__(64, 1) void {body}", "touch")
    assert found.max_threads == 64


def test_indices_come_from_registers_and_implicit_arguments(clang_amdgcn: ClangChild) -> None:
    source = """
    __global__ void where(unsigned* out) {
        dim3 grid = gridDim;
        out[threadIdx.x + blockDim.x * (blockIdx.y + grid.y * blockIdx.z)] = grid.z * blockDim.y;
    }"""
    made = clang_amdgcn.compile(source, arch="gfx942", names=("where",))
    (kernel,) = amdgpu_metadata(made.code)["amdhsa.kernels"]
    places = {a[".value_kind"]: a[".offset"] - 8 for a in kernel[".args"]}  # after the pointer
    # What the header and the compiler read, by offset: a change of layout must be seen here.
    assert [places[f"hidden_block_count_{axis}"] for axis in "xyz"] == [0, 4, 8]
    assert [places[f"hidden_group_size_{axis}"] for axis in "xyz"] == [12, 14, 16]
    assert made.mnemonics[made.symbols["where"]]["s_load_dwordx2"] >= 1


def test_every_number_format_is_the_processors_own(clang_amdgcn: ClangChild) -> None:
    source = """
    #include <hip/hip_fp16.h>
    #include <hip/hip_bf16.h>
    #include <hip/hip_fp8.h>
    __global__ void mix(__half2* h, __hip_bfloat16* b, __hip_fp8_e4m3_fnuz* f, float4* v) {
        h[threadIdx.x] = __hfma2(h[0], h[1], h[2]) + h[threadIdx.x];
        h[5] = {__hfma(h[threadIdx.x].x, h[threadIdx.x].y, h[1].x), __hadd(h[9].x, h[8].y)};
        f[threadIdx.x] = __hip_fp8_e4m3_fnuz(float(f[1]) + float(b[threadIdx.x]));
        v[threadIdx.x] = v[threadIdx.x + 64] * 2.0f;
        b[threadIdx.x] = b[threadIdx.x + 64] + b[7];
    }"""
    found, instructions = one(clang_amdgcn, source, "mix")
    spoken = {name.removesuffix("_e32").removesuffix("_sdwa") for name in instructions}
    assert {"v_pk_fma_f16", "v_pk_add_f16", "v_fma_f16", "v_add_f16"} <= spoken
    assert {"v_cvt_pk_fp8_f32", "v_cvt_f32_fp8", "v_med3_f32"} <= spoken
    assert found.wide_loads == 1


def test_wavefront_operations_and_atomics(clang_amdgcn: ClangChild) -> None:
    source = """
    __global__ void all(float* x, double* d, unsigned* u, unsigned long long* votes) {
        float own = x[threadIdx.x];
        for (int step = 32; step; step >>= 1) own += __shfl_xor(own, step);
        d[threadIdx.x] = __shfl_down(d[threadIdx.x], 1, 16);
        votes[blockIdx.x] = __ballot(own > 1) + __any(own > 2) + __all(own > 3) + __lane_id();
        atomicAdd(u, 1u + threadIdx.x * u[9]); atomicMax((int*)u + 1, (int)own);
        atomicInc(u + 2, 7); atomicCAS(u + 3, 1u, 2u); atomicAdd(x, own);
        unsafeAtomicAdd(x + 1, own);
        __threadfence();
        if (__syncthreads_count(own > 0) > 3) x[2] = expf(own) + __expf(own) + rsqrtf(own);
    }"""
    found, instructions = one(clang_amdgcn, source, "all")
    assert found.lds_bytes == 4  # the count
    assert instructions["ds_bpermute_b32"] == 6 + 2
    for name in ("atomic_add", "atomic_smax", "atomic_inc", "atomic_cmpswap", "atomic_add_f32"):
        assert {f"global_{name}", f"flat_{name}"} & set(instructions), name
    assert {"v_exp_f32_e32", "v_rsq_f32_e32"} <= set(instructions)


def test_name_expressions(clang_amdgcn: ClangChild) -> None:
    source = """
    template <typename T, int N> __global__ void scale(T* x) { x[threadIdx.x] *= N; }
    namespace inner { __global__ void plain(int* x) { *x = 1; } }
    static __global__ void hidden(int* x) { *x = 2; }
    """
    names = ("hidden", "scale<int, 1 + 1>", "inner::plain", "scale<float, 2>")
    made = clang_amdgcn.compile(source, arch="gfx942", names=names)
    assert made.signatures[made.symbols["scale<int, 1 + 1>"]] == "void scale<int, 2>(int*)"
    assert made.signatures[made.symbols["inner::plain"]] == "inner::plain(int*)"
    assert made.symbols["hidden"] == "_ZL6hiddenPi"
    assert {r.symbol for r in read_resources(made.code)} == set(made.symbols.values())
    again = clang_amdgcn.compile(source, arch="gfx942", names=names)
    assert again.code == made.code


@pytest.mark.parametrize(
    ("source", "names", "status", "said"),
    [
        (
            "\n__global__ void f() { missing; }",
            ("f",),
            Status.COMPILE_ERROR,
            "line 2: use of undeclared identifier 'missing'",
        ),
        (COPY, ("paste<3>",), Status.COMPILE_ERROR, "no kernel that 'paste<3>' names: use of und"),
        ("#include <stdio.h>", (), Status.COMPILE_ERROR, "'stdio.h' file not found"),
        (
            "__device__ int other(int); __global__ void f(int* x) { *x = other(3); }",
            ("f",),
            Status.COMPILE_ERROR,
            "undefined hidden symbol: other(int)",
        ),
        (
            "__global__ void f(float* x) { __shared__ float s[20000]; s[threadIdx.x] = x[0];"
            " __syncthreads(); x[1] = s[7]; }",
            ("f",),
            Status.LAUNCH_ERROR,
            "f(float*): 80000 bytes of static LDS, at most 65536 are allowed",
        ),
        (
            "__global__ void f(double* x) { x[0] = exp(x[1]); }",
            ("f",),
            Status.UNSUPPORTED,
            "this needs AMD's device libraries, which clang 19 has not: fetch hiprtc",
        ),
        ("#pragma clang __debug crash\n", (), Status.COMPILE_ERROR, "clang"),
    ],
)
def test_what_it_says_when_it_cannot(
    clang_amdgcn: ClangChild, source: str, names: tuple[str, ...], status: Status, said: str
) -> None:
    rejected = refused(clang_amdgcn, source, *names)
    assert rejected.status is status
    assert said in rejected.reason
    assert os.sep + "tmp" not in rejected.log
    assert clang_amdgcn.compile(COPY, arch="gfx942", names=("copy",)).code


def test_a_compilation_that_does_not_end_is_stopped(clang_amdgcn: ClangChild) -> None:
    endless = """
    constexpr long f(long n) { long s = 0; for (long i = 0; i < n; ++i) s += i; return s; }
    __global__ void g(long* p) { constexpr long z = f(1L << 60); *p = z; }"""
    assert refused(clang_amdgcn, endless, deadline_s=1.5).status is Status.TIMEOUT
    assert clang_amdgcn.compile(COPY, arch="gfx942", names=("copy",)).code


@pytest.mark.parametrize("arch", ["gfx9999", "sm_90"])
def test_an_unknown_architecture_is_named(clang_amdgcn: ClangChild, arch: str) -> None:
    with pytest.raises(BackendMissing, match=f"does not know the architecture '{arch}': MI300A"):
        clang_amdgcn.compile(COPY, arch=arch)


def test_every_allowed_option_is_known_to_clang(clang_amdgcn: ClangChild) -> None:
    made = clang_amdgcn.compile(COPY, arch="gfx942", options=tuple(sorted(OPTIONS)))
    assert made.log == ""  # neither unknown nor unused


def test_assembly_is_refused(clang_amdgcn: ClangChild) -> None:
    text = (SHIPPED / "sgemm" / "seeds" / "naive.hip").read_text()
    text += '#define GLUE(a, b) a##b\nGLUE(as, m)("s_nop 0");\n'
    with pytest.raises(Rejected, match="assembly is not allowed"):
        compiled(hip.compiler(arch="gfx942", child=clang_amdgcn), load_task("sgemm"), text)


def test_it_is_taken_where_there_is_no_hiprtc_and_says_what_it_is(
    clang_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNEL_SCIENTIST_ROCM", str(clang_folder))
    compiler = hip.compiler(arch="gfx942")
    seed = SHIPPED / "sgemm" / "seeds" / "naive.hip"
    assert compiled_seed(compiler, seed).compiler.startswith("clang 19.")
    compiler.close()
    with pytest.raises(BackendMissing, match="no hiprtc on this machine, only clang 19"):
        HiprtcChild()
    (finding,) = (f for f in doctor.examine(clang_folder) if f.what == "ROCm's compiler")
    assert finding.state == "absent"
    assert "compiles for inspection, not what hiprtc would generate" in finding.found


def test_a_clang_that_does_not_start_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    stamp = '{"rung": "clang", "bin": "bin", "versions": {"clang": "19.1.7-3"}}'
    (tmp_path / "toolchain.json").write_text(stamp)
    found = find_toolchain({"KERNEL_SCIENTIST_ROCM": str(tmp_path)})
    assert isinstance(found, ClangToolchain)
    with (
        ClangChild(found) as child,
        pytest.raises(
            BackendMissing, match=r"clang cannot be used \(.*\): run scripts/rocm_toolch"
        ),
    ):
        child.compile(COPY, arch="gfx942")
