"""Dynamic LDS under two names in one kernel: refused where it is sure, and only there."""

import pytest

from evaluators.cpu.device import compiler
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.source_check import check_source
from tests.evaluators.launching import kernel, launch, plan

ALIASED = [
    """__global__ void k(float* x) {
    extern __shared__ float a[];
    extern __shared__ int b[];
    a[0] = x[0]; x[1] = b[0];
}""",
    """extern __shared__ __align__(16) float4 a[];
extern "C" __global__ void __launch_bounds__(64) k(float* x) {
    __shared__ extern __attribute__((aligned(16))) float b[][2];
    b[0][1] = x[0]; x[1] = a[0].y;
}""",
    """#define TILE 4
HIP_DYNAMIC_SHARED(float, a)
namespace deep { HIP_DYNAMIC_SHARED(int, b) }
using namespace deep;
template <typename T, int N = (3 > 2)> __global__ void k(T* x) {
    for (int i = 0; i < TILE; ++i) { a[i] = x[i]; if (i) { x[i] = b[i]; } }
}""",
    """extern __shared__ float a[], b[];
__global__ void k(float* x) { a[threadIdx.x] = *x; *x = b[1]; }""",
    """extern __shared__ float a[];
__device__ float second() { extern alignas(16) __shared__ float b[]; return b[1]; }
__device__ float between() { return second(); }
__global__ void k(float* x) { a[1] = *x; *x = between(); }""",
]

APART = {
    "one array": "__global__ void k(float* x) { extern __shared__ float a[]; a[0] = *x; }",
    "one array and static ones": """extern __shared__ float a[];
__global__ void k(float* x) { __shared__ float b[4], c[2][2]; a[0] = b[0] = c[0][0] = *x; }""",
    "casts of one array": """extern __shared__ char raw[];
__global__ void k(float* x) { float* a = (float*)raw; int* b = (int*)(a + 64); a[0] = b[0]; }""",
    "an array declared twice": """extern __shared__ float a[];
__global__ void k(float* x) { extern __shared__ float a[]; a[0] = *x; }
__global__ void l(float* x) { extern __shared__ float a[]; a[0] = *x; }""",
    "an array of each kernel": """
__global__ void k(float* x) { extern __shared__ float a[]; a[0] = *x; }
__global__ void l(int* x) { extern __shared__ int b[]; b[0] = *x; }""",
    "one of two for each side": """template <bool WIDE> __global__ void k(float* x) {
    if constexpr (WIDE) { extern __shared__ double a[]; a[0] = *x; }
    else { extern __shared__ float b[]; b[0] = *x; }
}""",
    "either by the preprocessor": """#ifdef WIDE
extern __shared__ double a[];
#else
extern __shared__ float b[];
#endif
__global__ void k(float* x) {
#ifdef WIDE
    a[0] = *x;
#else
    b[0] = *x;
#endif
}""",
    "a helper for each type": """template <typename T> struct Shared;
template <> struct Shared<float> {
    __device__ operator float*() { extern __shared__ float a[]; return a; } };
template <> struct Shared<double> {
    __device__ operator double*() { extern __shared__ double b[]; return b; } };
template <typename T> __global__ void k(T* x) { T* s = Shared<T>(); s[0] = *x; }""",
    "a helper specialised": """template <typename T> __device__ T* shared();
template <> __device__ float* shared<float>() { extern __shared__ float a[]; return a; }
template <> __device__ double* shared<double>() { extern __shared__ double b[]; return b; }
template <typename T> __global__ void k(T* x) { T* s = shared<T>(); s[0] = *x; }""",
    "a variable and a member of that name": """extern __shared__ float a[];
extern __shared__ float b[];
struct Pair { float b; };
__global__ void k(Pair* x) { a[0] = x->b + (*x).b; }
__global__ void l(float* a) { float c = a[0]; b[0] = c; }
__global__ void m(float* x) { float b[2]; b[0] = a[0]; *x = b[0]; }""",
    "a table beside it": """constexpr int table[] = {1, 2, 3};
struct alignas(16) Wide { float v[4]; };
extern __shared__ Wide a[];
__global__ void k(int* x) { a[0].v[0] = table[*x]; }""",
    "declared, never used": """extern __shared__ float a[];
__global__ void k(float* x) { extern __shared__ float b[]; a[0] = *x; }""",
}


@pytest.mark.parametrize("code", ALIASED)
def test_two_names_of_dynamic_lds_in_one_kernel_are_invalid(code: str) -> None:
    with pytest.raises(Rejected) as caught:
        check_source(code, first_line=1)
    assert caught.value.status is Status.INVALID
    for said in ("kernel k", "'a'", "'b'", "declare one", "cast"):
        assert said in caught.value.reason


@pytest.mark.parametrize("case", APART)
def test_kernels_with_one_name_at_a_time_are_let_through(case: str) -> None:
    check_source(APART[case], first_line=1)


def test_a_macro_can_not_hide_the_second_name() -> None:
    code = """#define MORE(type, name) extern __shared__ type name[]
extern __shared__ float a[];
__global__ void k(float* x) { MORE(int, b); a[0] = *x; *x = b[0]; }"""
    check_source(code, first_line=1)
    with pytest.raises(Rejected) as caught:
        compiler().compile(kernel(code), [plan(launch("k", ["x"], lds_bytes=16))])
    assert caught.value.status is Status.INVALID
    assert "'a'" in caught.value.reason
