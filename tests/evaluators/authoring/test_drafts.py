"""Tasks drafted from whole programs: what is understood of each, and what is left to say."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from evaluators.authoring.drafting.draft import draft
from evaluators.authoring.drafting.model import Draft
from evaluators.authoring.drafting.writing import files
from evaluators.authoring.program import terms
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.arguments import TaskError

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Expected:
    """arrays: "role name: dtype [shape]". args: of each launch. says: words of what is left."""

    dims: dict[str, int | None]
    arrays: list[str]
    grids: list[list[str]]
    args: list[list[str]]
    attributes: dict[str, float | bool] = field(default_factory=dict)
    params: dict[str, int] = field(default_factory=dict)
    says: list[str] = field(default_factory=list)
    kernels: tuple[str, ...] = ()


PROGRAMS = {
    "vector_add.hip": Expected(
        dims={"n": 1 << 20},
        arrays=["in a: float32 [n]", "in b: float32 [n]", "out c: float32 [n]"],
        grids=[["ceil_div(n, THREADS)", "1", "1"]],
        args=[["a", "b", "c", "n"]],
        params={"THREADS": 256},
    ),
    "saxpy.cu": Expected(
        dims={"n": 1000000},
        attributes={"a": 2.5},
        arrays=["in x: float32 [n]", "inout y: float32 [n]"],
        grids=[["1024", "1", "1"]],
        params={"THREADS": 128},
        args=[['{value: "n", type: uint64}', "a", "x", "y"]],
    ),
    "bias_gelu.hip": Expected(
        dims={"rows": 1024, "cols": 3072},
        arrays=[
            "out out: float32 [rows, cols]",
            "in in: float32 [rows, cols]",
            "in bias: float32 [cols]",
        ],
        grids=[["ceil_div(rows * cols, THREADS_PER_BLOCK)", "1", "1"]],
        args=[["out", "in", "bias", "rows", "cols"]],
        params={"THREADS_PER_BLOCK": 256},
    ),
    "matmul_tiled.cu": Expected(
        dims={"M": 512, "K": 640, "N": 768},
        arrays=["in A: float32 [M, K]", "in B: float32 [K, N]", "out C: float32 [M, N]"],
        grids=[["ceil_div(N, TILE)", "ceil_div(M, TILE)", "1"]],
        args=[["A", "B", "C", "M", "N", "K"]],
        params={"TILE": 16},
    ),
    "transpose.hip": Expected(
        dims={"w": 1920, "h": 1080},
        arrays=["out out: float32 [w, h]", "in in: float32 [h, w]"],
        grids=[["ceil_div(w, TILE)", "ceil_div(h, TILE)", "1"]],
        args=[
            ["out", "in", '{value: "w", type: uint32}', '{value: "h", type: uint32}'],
        ],
        params={"TILE": 32, "ROWS_PER_BLOCK": 8},
    ),
    "two_pass_sum.cu": Expected(
        dims={"n": 1 << 22},
        arrays=["in data: float32 [n]", "out result: float32 [1]"],
        grids=[["ceil_div(n, THREADS * 2)", "1", "1"], ["1", "1", "1"]],
        args=[
            ["data", "partial", '{value: "n", type: uint32}'],
            ["partial", "result", '{value: "ceil_div(n, THREADS * 2)", type: uint32}'],
        ],
        params={"THREADS": 256},
    ),
    "softmax_rows.hip": Expected(
        dims={"rows": 12432, "cols": 777},
        attributes={"scale": 0.125},
        arrays=["in scores: float32 [rows, cols]", "out probs: float32 [rows, cols]"],
        grids=[["rows", "1", "1"]],
        args=[["scores", "probs", "cols", "scale"]],
        params={"THREADS": 128},
    ),
    "histogram.cu": Expected(
        dims={"n": 10000000, "BINS": 256},
        arrays=["in data: uint8 [n]", "out bins: uint32 [BINS]"],
        grids=[["BLOCKS", "1", "1"]],
        args=[["data", "bins", "n"]],
        params={"BLOCKS": 64, "THREADS": 128},
    ),
    "heat_stencil.hip": Expected(
        dims={"NY": 768, "NX": 1024},
        attributes={"rate": 0.2},
        arrays=["out next: float32 [NY, NX]", "in now: float32 [NY, NX]"],
        grids=[["ceil_div(NX, BX)", "ceil_div(NY, BY)", "1"]],
        args=[["next", "now", "rate"]],
        params={"BX": 32, "BY": 8},
    ),
    "layer_norm.cu": Expected(
        dims={"rows": 4096, "width": 768},
        attributes={"eps": 1e-5},
        arrays=[
            "in x: float16 [rows, width]",
            "in gamma: float32 [width]",
            "in beta: float32 [width]",
            "out y: float16 [rows, width]",
        ],
        grids=[["ceil_div(rows, 4)", "1", "1"]],
        args=[["x", "gamma", "beta", "y", "rows", "width", "eps"]],
        says=["--masks"],
    ),
    "spmv_csr.hip": Expected(
        dims={"rows": 10000},
        attributes={"alpha": 1.5, "add": True},
        arrays=[
            "in row_start: int32 [rows + 1]",
            "in column: int32 [5 * rows]",
            "in value: float64 [5 * rows]",
            "in x: float64 [rows]",
            "inout y: float64 [rows]",
        ],
        grids=[["ceil_div(rows, BLOCK)", "1", "1"]],
        args=[
            [
                "rows",
                "row_start",
                "column",
                "value",
                "x",
                "y",
                '{value: "alpha", type: float64}',
                "add",
            ]
        ],
        params={"BLOCK": 64},
    ),
    "bitonic_passes.cu": Expected(
        dims={"N": 65536},
        attributes={"k": 2},
        arrays=["inout keys: int32 [N]"],
        grids=[["N // THREADS", "1", "1"]],
        params={"THREADS": 512},
        args=[["keys", '{value: "k >> 1", type: int32}', "k"]],
        says=["a loop over j, k"],
    ),
    "scan_pointers.hip": Expected(
        kernels=("scale_shift",),
        dims={"n": None},
        attributes={"by": 1.0, "shift": 4},
        arrays=["in in: float32 [n]", "out out: float32 [n]"],
        grids=[["ceil_div(n // 4, THREADS)", "1", "1"]],
        params={"THREADS": 128},
        args=[["in", "out", "{struct: [by, shift]}", '{value: "n // 4", type: int32}']],
        says=["in: its shape is a guess", "out: its shape is a guess", "by: its default", "shift"],
    ),
}
"""The thirteen programs of the folder data."""


def drafted(name: str) -> Draft:
    text = (DATA / name).read_text()
    return draft(text, name, PROGRAMS[name].kernels)


def test_every_program_is_here() -> None:
    assert sorted(PROGRAMS) == sorted(path.name for path in DATA.iterdir())


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_programs_sizes_and_memory_are_understood(name: str) -> None:
    made, expected = drafted(name), PROGRAMS[name]
    assert made.sizes.dims == expected.dims
    assert made.sizes.attributes == expected.attributes
    assert made.sizes.params == expected.params
    arrays = [
        f"{one.role} {one.name}: {one.dtype} [{', '.join(map(terms.written, one.shape))}]"
        for one in made.arrays
    ]
    assert arrays == expected.arrays


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_programs_launches_are_understood(name: str) -> None:
    made, expected = drafted(name), PROGRAMS[name]
    launches = [one for one in made.steps if one.bound is not None]
    assert [one.arguments for one in launches] == expected.args
    grids = [[*map(terms.written, one.bound.grid)] for one in launches if one.bound]
    assert grids == expected.grids


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_left_to_say_is_said_and_nothing_else(name: str) -> None:
    made, expected = drafted(name), PROGRAMS[name]
    left = [one for one in made.says if "scan.h" not in one]
    assert len(left) >= len(expected.says)
    for word in expected.says:
        assert any(word in one for one in left), word
    assert bool(left) == bool(expected.says)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_host_code_is_left_and_no_body_is_changed(name: str) -> None:
    made = drafted(name)
    seed = files(made, "task")["seeds/naive.hip"]
    assert not any(word in seed for word in ("main", "Malloc", "<<<", "std::", "printf"))
    source = (DATA / name).read_text()
    for kernel in made.kernels:
        body = source[source.index("{", source.index(f" {kernel}(")) :]
        body = body[: body.index("\n}\n")]
        assert body in seed


def test_scratch_is_what_the_host_never_sees() -> None:
    assert drafted("two_pass_sum.cu").scratch == {"partial": "ceil_div(n, THREADS * 2) * 4"}


def test_what_is_filled_before_is_filled_by_the_plan() -> None:
    assert (
        "{memset: {buffer: bins, byte: 0}}"
        in files(drafted("histogram.cu"), "t")["seeds/naive.hip"]
    )


def test_constants_of_the_code_become_macros() -> None:
    seed = files(drafted("heat_stencil.hip"), "t")["seeds/naive.hip"]
    assert "params: {BX: 32, BY: 8}" in seed and "specialize: [NY, NX]" in seed
    assert "#define NX" not in seed and "#define AT(i, j)" in seed and "typedef float real" in seed


def test_integers_that_index_are_drawn_below_what_they_index() -> None:
    task = files(drafted("spmv_csr.hip"), "t")["task.yaml"]
    assert "distribution: {kind: integers, low: 0, high: rows}" in task
    reference = files(drafted("spmv_csr.hip"), "t")["reference.py"]
    assert "def inputs(rng: np.random.Generator, rows: int, **_: Any)" in reference
    assert "high: BINS" in files(drafted("histogram.cu"), "t")["task.yaml"]


@pytest.mark.parametrize(
    ("name", "returned"),
    [("vector_add.hip", '"c": a + b'), ("saxpy.cu", '"y": (a * x) + y')],
)
def test_elementwise_kernels_are_translated(name: str, returned: str) -> None:
    assert returned in files(drafted(name), "t")["reference.py"]


def test_other_references_raise_until_they_are_written() -> None:
    reference = files(drafted("matmul_tiled.cu"), "t")["reference.py"]
    assert "def reference(A: Array, B: Array, M: int, K: int, N: int)" in reference
    assert "raise NotImplementedError" in reference and "# say:" in reference


def test_a_keyword_as_a_name_is_a_keyword_with_an_underscore() -> None:
    assert "def reference(in_: Array," in files(drafted("bias_gelu.hip"), "t")["reference.py"]


def test_masks_are_rewritten_where_that_is_asked() -> None:
    made = draft((DATA / "layer_norm.cu").read_text(), "layer_norm.cu", masks=True)
    assert "__shfl_xor(v, offset, 32)" in made.code and not made.says
    assert "_sync(0xffffffff" not in made.code


@pytest.mark.parametrize("name", ["vector_add.hip", "matmul_tiled.cu", "softmax_rows.hip"])
def test_the_front_matter_is_right(name: str) -> None:
    kernel = parse_kernel(files(drafted(name), "t")["seeds/naive.hip"])
    assert kernel.params == PROGRAMS[name].params


# --- what is not a problem of its own -----------------------------------------------------------

TWO = """
__global__ void one(const float* x, float* y, int n) { if (threadIdx.x < n) y[0] = x[0]; }
__global__ void two(const float* x, float* y, int n) { if (threadIdx.x < n) y[0] = 2 * x[0]; }
int main() {
    int n = 100;
    float *x, *y;
    hipMalloc(&x, n * sizeof(float));
    hipMalloc(&y, n * sizeof(float));
    one<<<1, 64>>>(x, y, n);
    two<<<1, 64>>>(x, y, n);
}
"""


def test_kernels_that_do_not_build_on_each_other_are_told_apart() -> None:
    with pytest.raises(TaskError, match=r"no steps of one computation \(one, two\).*--kernel one"):
        draft(TWO, "two.hip")
    assert draft(TWO, "two.hip", ["two"]).kernels == ["two"]


@pytest.mark.parametrize(
    ("text", "kernels", "wanted"),
    [
        ("int main() { return 0; }", [], "no __global__ function was found"),
        (TWO, ["three"], "has no kernel 'three': its kernels are one, two"),
    ],
)
def test_what_can_not_be_drafted_is_told(text: str, kernels: list[str], wanted: str) -> None:
    with pytest.raises(TaskError, match=wanted):
        draft(text, "file.hip", kernels)


def test_a_kernel_without_host_code_is_drafted_from_its_signature() -> None:
    text = "template <typename T>\n__global__ void scale(const T* x, T* y, float by, int n) {}\n"
    made = draft(text, "scale.hip")
    assert made.sizes.dims == {"n": None} and made.sizes.attributes == {"by": 1.0}
    assert [one.role for one in made.arrays] == ["in", "out"]
    assert any("grid and block are guesses" in one for one in made.says)
    assert "# say: grid and block" in files(made, "t")["seeds/naive.hip"]


HOST = """
__global__ void k(float* y, int n, int m) {{ int i = blockIdx.x; if (i < n) y[i] = m; }}
{before}
int main(int argc, char** argv) {{
    {body}
}}
"""


@pytest.mark.parametrize(
    ("before", "body", "grid"),
    [
        ("", "int n = 512; float* y; hipMalloc(&y, 4 * n); k<<<(n + 63) / 64, 64>>>(y, n, 2);",
         "ceil_div(n, 64)"),
        ("static int blocks(int n, int t) { return (n + t - 1) / t; }",
         "int n = 512; float* y; hipMalloc(&y, n * 4); k<<<blocks(n, 64), 64>>>(y, n, 2);",
         "ceil_div(n, 64)"),
        ("#define DIV_UP(a, b) ((a) + (b) - 1) / (b)",
         "int n = 512; float* y; cudaMalloc(&y, n * sizeof(float));"
         "dim3 g(DIV_UP(n, 64)); k<<<g, dim3(64)>>>(y, n, 2);",
         "ceil_div(n, 64)"),
        ("", "int n = 512; float* y; hipMalloc(&y, n * sizeof *y);"
         "int b = ceil(n / 64.0f); k<<<b, 64>>>(y, n, 2);",
         "ceil_div(n, 64)"),
        ("", "int n = argc > 1 ? atoi(argv[1]) : 512; float* y; hipMalloc(&y, n * sizeof(float));"
         "k<<<std::min(n, 1024), 64>>>(y, n, 2);",
         "min(n, 1024)"),
        ("float* made(size_t n) { float* p; hipMalloc(&p, n * sizeof(float)); return p; }",
         "int n = 512; float* y = made(n); k<<<n / 64, 64>>>(y, n, 2);",
         "n // 64"),
        ("void make(float** p, size_t n) { hipMalloc(p, n * sizeof(float)); }",
         "int n = 512; float* y; make(&y, n); hipLaunchKernelGGL(k, n, 64, 0, 0, y, n, 2);",
         "n"),
    ],
)  # fmt: skip
def test_sizes_are_followed_through_host_code(before: str, body: str, grid: str) -> None:
    made = draft(HOST.format(before=before, body=body), "k.hip")
    assert made.sizes.dims == {"n": 512} and made.sizes.attributes == {"m": 2}
    (launch,) = (one.bound for one in made.steps)
    assert launch is not None and terms.written(launch.grid[0]) == grid
    assert [terms.written(one) for one in made.arrays[0].shape] == ["n"]
    assert not made.says


STYLES = {
    "a template of the host": """
template <typename T, int B> __global__ void k(const T* x, T* y, int n) {
    int i = blockIdx.x * B + threadIdx.x;
    if (i < n) y[i] = x[i];
}
template <typename T, int B> void run(int n) {
    T *x, *y;
    hipMalloc(&x, n * sizeof(T));
    hipMalloc(&y, n * sizeof(T));
    k<T, B><<<(n + B - 1) / B, B>>>(x, y, n);
}
int main() { run<double, 128>(5000); }
""",
    "an array of arguments": """
__global__ void k(const double* x, double* y, int n) {
    for (int i = threadIdx.x; i < n; i += 128) y[i] = x[i];
}
int main() {
    int n = 5000;
    double *x, *y;
    hipMalloc(&x, n * sizeof(double));
    hipMalloc(&y, n * sizeof(double));
    void* args[] = {&x, (void*)&y, &n};
    hipLaunchCooperativeKernel((void*)k, dim3((n + 127) / 128), dim3(128), args, 0, nullptr);
}
""",
    "pointers in a struct": """
struct Data { double* x; double* y; int n; };
__global__ void k(const double* x, double* y, int n) {
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) y[i] = x[i];
}
int main() {
    const int n = 5000;
    Data data;
    cudaMalloc((void**)&data.x, n * sizeof(double));
    cudaMalloc((void**)&data.y, n * sizeof(double));
    k<<<(n + 127) / 128, 128>>>(data.x, data.y, n);
}
""",
    "a choice that the program makes": """
template <int B> __global__ void k(const double* x, double* y, int n) {
    int i = blockIdx.x * B + threadIdx.x;
    if (i < n) y[i] = x[i];
}
int main() {
    const int n = 5000;
    int size = 128;
    double *x, *y;
    cudaMalloc(&x, n * sizeof(double));
    cudaMalloc(&y, n * sizeof(double));
    if (size == 64) {
        k<64><<<(n + 63) / 64, 64>>>(x, y, n);
    } else {
        k<128><<<(n + 127) / 128, 128>>>(x, y, n);
    }
}
""",
}


@pytest.mark.parametrize("style", STYLES)
def test_styles_of_programs(style: str) -> None:
    made = draft(STYLES[style], "k.hip")
    assert made.sizes.dims == {"n": 5000} and not made.says and not made.sizes.attributes
    shapes = [(one.role, one.name, one.dtype, one.shape) for one in made.arrays]
    assert shapes == [
        ("in", "x", "float64", [terms.Sym("n")]),
        ("out", "y", "float64", [terms.Sym("n")]),
    ]
    (launch,) = (one.bound for one in made.steps)
    assert launch is not None and launch.when is None
    known = made.sizes.values()
    assert terms.value(launch.block[0], known) == 128
    assert terms.value(launch.grid[0], known) == 40
    assert launch.cooperative == (style == "an array of arguments")


def test_what_front_matter_can_not_say_is_left_to_a_person() -> None:
    text = HOST.format(
        before="",
        body="int n = 512; float* y; hipMalloc(&y, 4 * n); k<<<n, 64>>>(y + 16, n, 2);",
    )
    (said,) = draft(text, "k.hip").says
    assert said == "y: is passed with an offset, which front matter can't say"
