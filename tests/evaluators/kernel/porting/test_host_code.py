"""Host code in a kernel file: what shows it, and its launches in the front matter's words."""

import pytest
import yaml

from evaluators.kernel.normalise import normalised
from evaluators.kernel.porting.functions import functions
from evaluators.kernel.porting.host_code import host_code
from evaluators.kernel.porting.launch_calls import as_front_matter, launch_calls
from evaluators.kernel.tokens import Token, tokens


def read(code: str) -> list[Token]:
    return list(tokens(normalised(code)))


@pytest.mark.parametrize(
    "line, named",
    [
        ("void f(float *x) { hipMalloc(&x, 4); }", "hipMalloc"),
        ("void f(float *x) { cudaMemcpyAsync(x, x, 4, 0, 0); }", "cudaMemcpyAsync"),
        ("hipError_t last;", "hipError_t"),
        ("int main(int argc, char **argv) { return 0; }", "main"),
        ('void f() { std::cout << "done"; }', "std::cout"),
        ("std::vector<float> rows;", "std::vector"),
        ("torch::Tensor run(torch::Tensor x);", "torch::"),
        ("PYBIND11_MODULE(name, m) {}", "PYBIND11_MODULE"),
        ("void f() { HIP_CHECK(g()); }", "HIP_CHECK"),
        ("void f() { checkCudaErrors(g()); }", "checkCudaErrors"),
        ("void f() { gpuErrchk(g()); }", "gpuErrchk"),
        ("void f() { k<<<1, 2>>>(); }", "k<<<...>>>"),
        ("void f() { hipLaunchKernelGGL(k, 1, 2, 0, 0); }", "k<<<...>>>"),
    ],
)
def test_host_code_is_named_with_its_line(line: str, named: str) -> None:
    told = host_code(read(f"int a;\n{line}"))
    assert told is not None
    reason, at = told
    assert at == 2
    assert reason.startswith(f"{named}: that is host code, take it out; a kernel file holds device")


@pytest.mark.parametrize(
    "code",
    [
        "#define HIP_CHECK(x) x",
        "__global__ void k(int *x) { x[hipThreadIdx_x + hipBlockIdx_y * hipBlockDim_z] = 1; }",
        "__device__ float f(hipFloatComplex z) { return std::max(z.x, std::fabs(z.y)); }",
        "__device__ int main_loop(int check) { return 1 << check << 2 >> 1; }",
        "template <int A> struct S {}; S<S<S<3>>> operator<< (int, int);",
        "HIP_DYNAMIC_SHARED(float, rows)",
    ],
)
def test_device_code_is_none(code: str) -> None:
    assert host_code(read(code)) is None


def test_many_things_are_told_in_one_sentence() -> None:
    code = "\n".join(["int main() {", *(f"  hipEvent{c}();" for c in "ABCDEF"), "}"])
    told = host_code(read(code))
    assert told is not None
    assert told[0].startswith(
        "main, hipEventA (line 2), hipEventB (line 3), hipEventC (line 4) and 3 more: that is host"
    )


LAUNCHES = [
    ("k<<<1, 256>>>(x, y);", "{kernel: k, grid: [1], block: [256], args: [x, y]}"),
    (
        "k<<<(n + 255) / 256, 256>>>(x, n);",
        '{kernel: k, grid: ["ceil_div(n, 256)"], block: [256], args: [x, n]}',
    ),
    (
        "int threads = 64; int blocks = (n + threads - 1) / threads; k<<<blocks, threads>>>(x, n);",
        '{kernel: k, grid: ["ceil_div(n, 64)"], block: [64], args: [x, n]}',
    ),
    (
        "dim3 block(16, 16); dim3 grid(ceil_div(w, 16), CEIL_DIV(h, block.x));\n"
        "k<<<grid, block, 16 * sizeof(float), stream>>>(x, w, h);",
        '{kernel: k, grid: ["ceil_div(w, 16)", "ceil_div(h, 16)"], block: [16, 16], '
        'lds_bytes: "16 * 4", args: [x, w, h]}',
    ),
    (
        "k<float, 128><<<dim3(2, 3), {32, 4, 1}>>>((const float *)x, n * 2, 0.5f, -1e-3);",
        '{kernel: "k<float, 128>", grid: [2, 3], block: [32, 4, 1], args: [x, '
        '{value: "n * 2", type: int32}, {value: 0.5, type: float32}, '
        "{value: -1e-3, type: float32}]}",
    ),
    (
        "#define B 32\nours::k<<<(int)ceil((float)n / B), B, 0>>>(x, 7);",
        '{kernel: "ours::k", grid: ["ceil_div(n, 32)"], block: [32], args: [x, '
        "{value: 7, type: int32}]}",
    ),
    (
        "hipLaunchKernelGGL(HIP_KERNEL_NAME(k<3>), dim3(n / 64u), dim3(64), 0, stream, x, n);",
        '{kernel: "k<3>", grid: ["n // 64"], block: [64], args: [x, n]}',
    ),
    (
        "const int t = 256;\n"
        "k<<<(x.numel() + t - 1) / t, t>>>(x.data_ptr<float>(), y.get(), x.size(0));",
        '{kernel: k, grid: ["ceil_div(x.numel(), 256)"], block: [256], args: [x, y, '
        '{value: "x.size(0)", type: int32}]}',
    ),
    ("k<<<grid_for(n), 64>>>(x);", '{kernel: k, grid: ["grid_for(n)"], block: [64], args: [x]}'),
]


@pytest.mark.parametrize("code, wanted", LAUNCHES)
def test_launches_in_the_front_matters_words(code: str, wanted: str) -> None:
    found = read(f"void f(float *x, int n) {{ {code} }}" if "#" not in code else code)
    (call,) = launch_calls(found)
    told = as_front_matter(call, found)
    assert told == wanted
    assert yaml.safe_load(f"launches: [{told}]")["launches"][0]["kernel"] == call.kernel


def test_types_of_scalars_come_from_the_kernel() -> None:
    code = (
        "__global__ void k(float *x, long long n, float a, unsigned b, const bool c, uint8_t d) {}"
        "void f() { k<<<1, 1>>>(x, 3, b+1, 2u, 1, 7); }"
    )
    found = read(code)
    (call,) = launch_calls(found)
    told = yaml.safe_load(as_front_matter(call, found))
    kinds = [one["type"] for one in told["args"][1:]]
    assert kinds == ["int64", "float32", "uint32", "bool", "uint8"]
    assert [one["value"] for one in told["args"][1:]] == [3, "b + 1", 2, 1, 7]


FUNCTIONS = """
namespace a { namespace b::c {
template <typename T, int N = 4, class... Rest>
__global__ void __launch_bounds__(256, 2) first(const T *x, int n = max(1, 2)) { if (n) { f(x); } }
} }
extern "C" { __global__ void second(int (*rows)[4], float v) {} }
template <> __device__ float third<float>(float x) { return x; }
struct S { __device__ void method(); };
__global__ void fourth(int n);
static const int table[] = {f(1), 2};
constexpr int sixth(int x) { return x; }
"""


def test_functions_are_read_from_tokens() -> None:
    first, second, third, fourth, sixth = functions(read(FUNCTIONS))
    assert (first.name, first.kind, first.spaces) == ("first", "kernel", ("a", "b::c"))
    assert first.template is not None
    assert [(one.word, one.name) for one in first.template] == [
        ("typename", "T"),
        ("int", "N"),
        ("class", "Rest"),
    ]
    assert [one.optional for one in first.template] == [False, True, True]
    assert [len(one) for one in first.parameters] == [4, 9]
    assert (second.name, second.spaces, len(second.parameters)) == ("second", (), 2)
    assert (third.name, third.kind, third.special) == ("third", "device", True)
    assert (fourth.name, fourth.defined, fourth.line) == ("fourth", False, 9)
    assert (sixth.name, sixth.kind) == ("sixth", "plain")
