"""Why a kernel can't be launched: one sentence on every backend, with the front matter's line."""

from collections.abc import Iterator

import pytest

from evaluators.cpu import device as cpu
from evaluators.cuda import device as cuda
from evaluators.device import Compiler
from evaluators.evaluation import Rejected, Status
from evaluators.hip import device as hip
from evaluators.kernel.source import parse_kernel
from tests.evaluators.launching import launch, plan

FILE = """/*---
launches:
  - {{kernel: "{kernel}", grid: [1], block: [64], args: [x, y, N]}}
---*/
"""
BODY = "(const float *x, float *y, int n) { y[threadIdx.x] = x[n]; }"

UNNAMED = [
    (
        "sums",
        f"template <typename T, int ROWS> __global__ void sums{BODY}",
        "the kernel sums is a template <typename T, int ROWS>: write sums<T, ROWS> in 'kernel:', "
        "with a value, a parameter or a type for each",
    ),
    (
        "sums<3>",
        f"template <int A, int B> __global__ void sums{BODY}",
        "the kernel sums is a template <int A, int B>, to which 'kernel:' gives 1",
    ),
    (
        "sums<Pair<int, 2>>",
        "template <typename T, int N> struct Pair {};\n"
        f"template <typename T, typename U> __global__ void sums{BODY}",
        "the kernel sums is a template <typename T, typename U>, to which 'kernel:' gives 1",
    ),
    (
        "sums<3>",
        f"__global__ void sums{BODY}",
        "the kernel sums is no template: write sums without <...> in 'kernel:'",
    ),
    (
        "sum_rows",
        f"__global__ void sums_rows{BODY}\n__global__ void other{BODY}",
        "the file has no kernel sum_rows (did you mean sums_rows?): it has sums_rows, other",
    ),
    (
        "sums",
        "__device__ float twice(float x) { return 2 * x; }",
        "the file has no kernel sums: none of its functions is __global__",
    ),
    (
        "sums",
        f"__device__ void sums{BODY}\n__global__ void other{BODY}",
        "sums (line 5) is a __device__ function: launch a function that is __global__",
    ),
    (
        "sums",
        f"void sums{BODY}",
        "sums (line 5) is not __global__: launch a function that is __global__",
    ),
    (
        "sums",
        "__global__ void sums(const float *x, float *y, int n);",
        "the kernel sums is only declared: write its body too",
    ),
    (
        "sums<2>",
        f"namespace ours {{ template <int A> __global__ void sums{BODY} }}",
        "the kernel sums stands in a namespace: write ours::sums<2> in 'kernel:'",
    ),
]


@pytest.fixture(scope="module", params=["cpu", "cuda", "hip"])
def compiler(request: pytest.FixtureRequest) -> Iterator[Compiler]:
    if request.param == "cpu":
        yield cpu.compiler()
    elif request.param == "hip":
        yield hip.compiler(arch="gfx942", child=request.getfixturevalue("gfx942"))
    else:
        made = cuda.compiler(arch="sm_90")
        yield made
        made.close()


def refused(compiler: Compiler, entry: str, code: str) -> Rejected:
    source = parse_kernel(FILE.format(kernel=entry) + code)
    with pytest.raises(Rejected) as caught:
        compiler.compile(source, [plan(launch(entry, ["x", "y", 7], block=(64, 1, 1)))])
    return caught.value


@pytest.mark.parametrize("entry, code, why", UNNAMED)
def test_a_name_that_names_no_kernel(compiler: Compiler, entry: str, code: str, why: str) -> None:
    rejected = refused(compiler, entry, code)
    assert rejected.status is Status.COMPILE_ERROR
    assert rejected.reason == f"line 3: {why}"


HOST = f"""__global__ void sums{BODY}
void run(float *d_x, float *d_y, int n) {{
    hipMemset(d_y, 0, n);
    sums<<<(n + 63) / 64, 64>>>(d_x, d_y, n);
}}
"""


def test_host_code_is_told_as_such(compiler: Compiler) -> None:
    rejected = refused(compiler, "sums", HOST)
    assert rejected.status is Status.INVALID
    assert rejected.reason == (
        "line 7: hipMemset, sums<<<...>>> (line 8): that is host code, take it out; a kernel file "
        "holds device code only, and launches go in the front matter, as far as this can be read: "
        'launches: [{kernel: sums, grid: ["ceil_div(n, 64)"], block: [64], args: [d_x, d_y, n]}]'
    )


@pytest.mark.parametrize(
    "entry, code",
    [
        ("sums", f"#define MAKE(name) __global__ void name##s{BODY}\nMAKE(sum)"),
        ("sums<float>", f"#define MAKE(name) __global__ void name##s{BODY}\nMAKE(sum)"),
        ("sums", f"#define KERNEL __global__ void\nKERNEL sums{BODY}"),
        ("sums<1 < 2, 3>", f"template <bool A, int B> __global__ void sums{BODY}"),
    ],
)
def test_what_is_not_seen_for_certain_is_the_compilers_to_tell(
    compiler: Compiler, entry: str, code: str
) -> None:
    rejected = refused(compiler, entry, f"{code}\nint x = missing;")
    assert rejected.status is Status.COMPILE_ERROR
    assert "missing" in rejected.reason


def test_code_that_compiles_is_right_whatever_it_looks_like(compiler: Compiler) -> None:
    device = f"#define CHECK(x) cudaFree(x)\n__global__ void sums{BODY}\n"
    code = f"#ifdef HOST\n{HOST}#else\n{device}#endif"
    source = parse_kernel(FILE.format(kernel="sums") + code)
    step = launch("sums", ["x", "y", 7], block=(64, 1, 1))
    assert compiler.compile(source, [plan(step)]).binaries


@pytest.mark.parametrize(
    "header, use",
    [
        ("cmath", "y[0] = sqrtf(x[0]);"),
        ("cuda_fp16.h", "y[0] = __half2float(__float2half(x[0]));"),
        ("cuda_bf16.h", "__nv_bfloat16 v = __float2bfloat16(x[0]); y[0] = float(v);"),
        ("hip/hip_bfloat16.h", "y[0] = float(hip_bfloat16(x[0]));"),
    ],
)
def test_harmless_headers_work_everywhere(compiler: Compiler, header: str, use: str) -> None:
    code = f"#include <{header}>\n__global__ void sums(const float *x, float *y, int n) {{ {use} }}"
    source = parse_kernel(FILE.format(kernel="sums") + code)
    step = launch("sums", ["x", "y", 7], block=(64, 1, 1))
    assert compiler.compile(source, [plan(step)]).binaries


@pytest.mark.parametrize(
    "code, name",
    [
        (f"template <int TILE, int ROWS> struct Tile {{}};\n__global__ void sums{BODY}", "TILE"),
        (f"constexpr int TILE = 16;\n__global__ void sums{BODY}", "TILE"),
        (f"template <typename T> using Pair = T;\n__global__ void sums{BODY}", "T"),
        ("__global__ void sums(const float *x, float *TILE, int n) {}", "TILE"),
    ],
)
def test_a_parameters_name_is_declared_by_nobody_else(
    compiler: Compiler, code: str, name: str
) -> None:
    source = parse_kernel(FILE.format(kernel="sums") + code)
    step = launch("sums", ["x", "y", 7], block=(64, 1, 1))
    with pytest.raises(Rejected) as caught:
        compiler.compile(source, [plan(step, defines=(("TILE", "16"), ("T", "float")))])
    assert caught.value.status is Status.COMPILE_ERROR
    assert caught.value.reason == (
        f"line 5: {name} is declared here, but it is a macro ahead of the file, for a parameter "
        "has that name: rename one of the two"
    )


def test_its_use_is_no_declaration(compiler: Compiler) -> None:
    code = f"__device__ int at(int r) {{ return r * TILE; }}\n__global__ void sums{BODY}"
    source = parse_kernel(FILE.format(kernel="sums") + f"{code}\nint x = missing;")
    step = launch("sums", ["x", "y", 7], block=(64, 1, 1))
    with pytest.raises(Rejected, match="missing"):
        compiler.compile(source, [plan(step, defines=(("TILE", "16"),))])
