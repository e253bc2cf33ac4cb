"""What one compiler took and another did not, or took otherwise: made to work, or told plainly."""

import pytest

from evaluators.cpu.compiler import CpuCompiler
from evaluators.cpu.toolchain import toolchain
from evaluators.device import Compiler
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.source import parse_kernel
from tests.adversarial.text.planted import ABOUT, outcome
from tests.evaluators.launching import kernel, launch, plan

STEP = launch("k", [], block=(64, 1, 1))
NAMES = ("T", "Op", "value", "block_size_x", "type")


@pytest.mark.parametrize("name", NAMES)
def test_a_parameter_may_have_a_name_that_vendors_headers_use(
    any_compiler: Compiler, name: str
) -> None:
    code = (
        "#include <hip/hip_fp16.h>\n#include <hip/hip_bf16.h>\n#include <hip/hip_fp8.h>\n"
        f"__device__ int out[{name}];\n"
        f"__global__ void k() {{ out[threadIdx.x % {name}] = {name}; }}\n"
    )
    source = kernel(code, params=f"{{{name}: 16}}")
    made = any_compiler.compile(source, [plan(STEP, defines=((name, 16),))])
    assert made.binaries


TAKEN = ("threadIdx", "float4", "x", "int", "atomicAdd", "expf", "min", "ks_a", "hipThreadIdx_x")


@pytest.mark.parametrize("name", (*TAKEN, "__shfl", "_T", "é", "T-1", "WAVEFRONT", "uint32_t"))
def test_a_parameter_is_no_word_of_the_language(name: str) -> None:
    with pytest.raises(Rejected) as caught:
        kernel("", params=f"{{{name}: 16}}")
    assert caught.value.status is Status.INVALID
    assert "parameter" in caught.value.reason


VECTORS = {
    "typedef": "typedef float f4 __attribute__((ext_vector_type(4)));\n",
    "using": "using f4 = __attribute__((__ext_vector_type__(4))) float;\n",
}


@pytest.mark.parametrize("name", VECTORS)
def test_vector_types_of_clang_work_or_are_unsupported(any_compiler: Compiler, name: str) -> None:
    use = (
        "__device__ f4 v; __global__ void k() { v = v * 2.0f; v.x = sizeof(f4) == 16 ? 1 : -1; }\n"
    )
    found = outcome(any_compiler, ABOUT + VECTORS[name] + use)
    if found.compiled:
        assert isinstance(any_compiler, CpuCompiler) <= (toolchain().family != "g++")
        return
    assert found.rejected is not None
    assert found.rejected.status is Status.UNSUPPORTED
    assert "ext_vector_type" in found.rejected.reason
    assert "float4" in found.rejected.reason
    assert found.rejected.line == 4


MISTAKES = {
    "missing semicolon": "__global__ void k() { int a = 1 int b = 2; }\n",
    "missing brace": "__global__ void k() { if (threadIdx.x) { }\n",
    "stray words": "__global__ void k() { this is no statement; }\n",
    "missing parenthesis": "__global__ void k() { int a = (1 + 2; __syncthreads(); }\n",
    "a body that is cut off": "__global__ void k() { __syncthreads(); for (int i = 0; i <",
    "missing operand": "__global__ void k() { int a = 1 + ; __syncthreads(); a = 2; }\n",
    "else without if": "__global__ void k() { __syncthreads(); else { } }\n",
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_syntax_error_is_a_compile_error(any_compiler: Compiler, name: str) -> None:
    found = outcome(any_compiler, ABOUT + MISTAKES[name])
    assert found.rejected is not None
    assert found.rejected.status is Status.COMPILE_ERROR, found.said
    assert found.rejected.line is not None, found.said
    assert 4 <= found.rejected.line <= 5


def test_names_of_parameters_are_put_into_kernels_that_are_launched() -> None:
    text = (
        "/*---\nlaunches: [{kernel: 'k<tile_k>', grid: [1], block: [64], args: []}]\n"
        "params: {tile_k: 4}\nspace: {tile_k: [4, 8]}\nconstraints: [tile_k % 4 == 0]\n---*/\n"
        'template <int K> __global__ void k() { static_assert(K == tile_k, ""); }\n'
    )
    changed = parse_kernel(text).with_params({"tile_k": 8})
    assert changed.params == {"tile_k": 8}
    made = CpuCompiler().compile(changed, [plan(launch("k<8>", []), defines=(("tile_k", 8),))])
    assert made.binaries
