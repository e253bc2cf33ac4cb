"""Generic edits one by one: what they write, where they have no place, and that it is right."""

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from evaluators.device import backend
from evaluators.evaluate import compile_kernel
from evaluators.kernel.source import parse_kernel
from evaluators.measuring.evaluator import Evaluator
from evaluators.tasks.task_file import load_task
from operators.catalog.generic.edit import Edit
from operators.catalog.generic.techniques import BY_NAME, edits

SGEMM, SOFTMAX = load_task("sgemm"), load_task("softmax")
TRANSPOSE, SUM = load_task("transpose"), load_task("sum_reduction")
TASKS = (SGEMM, SOFTMAX, TRANSPOSE, SUM)
TUTORIAL = "tests/kernels/tutorial"


def of(technique: str, text: str, **place: str | int) -> Edit:
    """The technique's first edit of such a place."""
    found = edits(BY_NAME[technique], text, SGEMM)
    return next(one for one in found if place.items() <= dict(one.place).items())


def kernel(code: str, *, block: str = "64", grid: str = "8", args: str = "a, b, c, M, N, K") -> str:
    launch = f"{{kernel: go, grid: [{grid}], block: [{block}], args: [{args}]}}"
    return f"/*---\nlaunches:\n  - {launch}\n---*/\n__global__ void go({code}\n"


ELEMENTS = "float* a, int M) {\n int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
BOUND, GRID = "if (i < M) a[i] = 1;}", '"ceil_div(M, 64)"'


def test_outputs_become_arrays_with_loops_over_them_innermost() -> None:
    edit = of("neighbouring outputs a thread", SGEMM.naive, index="col", count=16)
    made = parse_kernel(edit.text)
    assert made.params == {"PER_X": 16}
    words = " ".join(made.code.split())
    assert "int first = (blockIdx.x * blockDim.x + threadIdx.x) * PER_X;" in words
    assert "float sum[PER_X];" in words
    inner = "for (int k = 0; k < K; ++k) { #pragma unroll for (int own = 0; own < PER_X; ++own) {"
    assert f"{inner} sum[own] += a[row * K + k] * b[k * N + (first + own)]; }}" in words
    assert made.front.launches[0].grid[0].text == "ceil_div(ceil_div(N, 16), PER_X)"  # type: ignore[union-attr]


def test_one_edit_applies_on_top_of_another() -> None:
    edit = of("register tiles", SGEMM.naive, index="col")
    made = parse_kernel(edit.text)
    assert made.params == {"PER_X": 16, "PER_Y": 4}
    assert "float sum[PER_Y][PER_X];" in made.code
    assert "sum[own2][own] += a[(first2 + own2) * K + k]" in made.code
    lanes = of("independent accumulators", edit.text, count=4)
    assert "LANES" in parse_kernel(lanes.text).params


@pytest.mark.parametrize(
    ("technique", "code"),
    [
        # Its threads wait for each other, or share LDS.
        ("neighbouring outputs a thread", ELEMENTS + "__syncthreads(); if (i < M) a[i] = 1;}"),
        ("neighbouring outputs a thread", ELEMENTS + "__shared__ int s; if (i < M) a[i] = s;}"),
        # Nothing says how many there are: the grid is a number of threads.
        ("neighbouring outputs a thread", ELEMENTS + "a[i] = 1;}"),
        # The axis is asked for elsewhere, too.
        ("neighbouring outputs a thread", ELEMENTS + "if (i < M) a[i] = threadIdx.x;}"),
        ("neighbouring outputs a thread", ELEMENTS + "if (i < M) a[i] = gridDim.x;}"),
        # The condition may hold for the last output alone.
        ("neighbouring outputs a thread", ELEMENTS + "if (i < M && i > 3) a[i] = 1;}"),
        ("neighbouring outputs a thread", ELEMENTS + "if (i % 2 < M) a[i] = 1;}"),
        # What is added up is looked at on the way.
        (
            "independent accumulators",
            ELEMENTS
            + "float s = 0; for (int k = 0; k < M; ++k) { s += a[k]; a[k] = s; } a[i] = s;}",
        ),
        # The loop may end early, or its bound move.
        (
            "independent accumulators",
            ELEMENTS
            + "float s = 0; for (int k = 0; k < M; ++k) { if (s) break; s += 1; } a[i] = s;}",
        ),
        (
            "independent accumulators",
            ELEMENTS + "float s = 0; for (int k = 0; k < M; ++k) { s += a[k]; --M; } a[i] = s;}",
        ),
        # Another pointer to the same place may be written to through a.
        (
            "sums in registers",
            ELEMENTS + "for (int k = 0; k < M; ++k) { a[i] += a[k]; } }",
        ),
        # A sum over rows of several blocks is nobody's row.
        ("a block a row", ELEMENTS + "if (i < M) a[i] = 1;}"),
    ],
)
def test_where_an_edit_is_not_sure_to_be_right_there_is_none(technique: str, code: str) -> None:
    assert edits(BY_NAME[technique], kernel(code, args="a, M"), SGEMM) == ()


def test_kernels_beside_one_may_ask_for_indices_and_functions_may_not() -> None:
    """A kernel calls no other; a function of the device it may."""
    beside = "(float* a) { a[blockIdx.x * 64 + threadIdx.x] = 0; }"
    technique = BY_NAME["neighbouring outputs a thread"]
    text = kernel(f"{ELEMENTS}{BOUND}", grid=GRID, args="a, M")
    launch = '  - {kernel: clear, grid: ["ceil_div(M, 64)"], block: [64], args: [a]}'
    text = text.replace("\n---*/", f"\n{launch}\n---*/", 1)
    assert edits(technique, f"{text}__global__ void clear{beside}\n", SGEMM)
    other = f"{text}__global__ void clear(float* a) {{ made(a); }}\n"
    assert not edits(technique, f"{other}__device__ void made{beside}\n", SGEMM)


def test_a_grid_that_is_the_bound_is_handed_in() -> None:
    code = "float* a, int M) { int r = blockIdx.x; for (int k = 0; k < M; ++k) a[r * M + k] = 1; }"
    edit = of("neighbouring outputs a thread", kernel(code, args="a, M", grid='"M * 2"'), count=4)
    made = parse_kernel(edit.text)
    launch = made.front.launches[0]
    assert launch.args[-1].value.text == "M * 2"  # type: ignore[union-attr]
    assert launch.grid[0].text == "ceil_div(M * 2, PER_X)"  # type: ignore[union-attr]
    assert "if (r >= outputs) break;" in made.code


def test_what_is_dear_to_compute_is_kept_and_so_is_what_follows_from_it() -> None:
    code = (
        ELEMENTS + "if (i < M) { int p = i / 3; int r = p * 2; float s = 0;"
        " for (int k = 0; k < M; ++k) s += a[r + k]; a[i] = s + r; } }"
    )
    edit = of("neighbouring outputs a thread", kernel(code, args="a, M"), count=4)
    words = " ".join(parse_kernel(edit.text).code.split())
    assert "int p = (first + own) / 3; r[own] = p * 2;" in words
    assert "s[own] += a[r[own] + k];" in words


def test_a_return_goes_on_to_the_next_output() -> None:
    code = ELEMENTS + "if (i >= M) return;\n float v = a[i];\n a[i] = v * v;}"
    edit = of("neighbouring outputs a thread", kernel(code, args="a, M"), count=4)
    words = " ".join(parse_kernel(edit.text).code.split())
    assert "if (!((first + PER_X - 1) >= M)) {" in words
    assert "int i = first + own; if (i >= M) continue; float v = a[i]; a[i] = v * v;" in words


def test_a_width_is_a_parameter_wherever_it_is_told() -> None:
    code = (
        "float* a) { __shared__ float s[256]; s[threadIdx.x] = a[blockIdx.x * 256 + threadIdx.x];"
        " for (int w = 128; w > 0; w /= 2) { if (threadIdx.x == 255) s[0] += s[w]; } a[0] = s[0]; }"
    )
    front = kernel(code, block="256", grid='"ceil_div(M, 256)"', args="a")
    made = parse_kernel(of("block size", front, to=64).text)
    assert made.params == {"BLOCK": 64}
    for part in ("s[BLOCK]", "blockIdx.x * BLOCK +", "w = (BLOCK / 2);", "== (BLOCK - 1)"):
        assert part in made.code
    assert made.front.launches[0].grid[0].text == "ceil_div(M, BLOCK)"  # type: ignore[union-attr]


def test_a_dim_compiled_in_takes_the_parameters_place() -> None:
    made = parse_kernel(edits(BY_NAME["dims compiled in"], SGEMM.naive, SGEMM)[0].text)
    assert made.specialize == ("K",)
    assert "int M, int N, int K_given)" in made.code and "k < K;" in made.code


def test_axes_change_their_roles_in_code_and_launch() -> None:
    made = parse_kernel(of("axes swapped", SGEMM.naive).text)
    assert "int col = blockIdx.y * blockDim.y + threadIdx.y;" in made.code
    assert [one.text for one in made.front.launches[0].grid] == [  # type: ignore[union-attr]
        "ceil_div(M, 16)",
        "ceil_div(N, 16)",
    ]


def test_a_place_in_memory_that_a_loop_adds_to_is_held_in_a_register() -> None:
    code = ELEMENTS + "if (i < M) for (int k = 0; k < M; ++k) a[i] += k;}"
    text = " ".join(of("sums in registers", kernel(code, args="a, M")).text.split())
    assert "float a_held = a[i]; for (int k = 0; k < M; ++k) a_held += k; a[i] = a_held;" in text


def test_the_same_seed_admits_the_same_edits() -> None:
    for technique in BY_NAME.values():
        first = edits(technique, SOFTMAX.naive, SOFTMAX)
        again = edits(technique, SOFTMAX.naive + "\n", SOFTMAX)
        assert [one.place for one in first] == [one.place for one in again]


@pytest.fixture(scope="module")
def evaluator_of() -> Iterator[Callable[[str], Evaluator]]:
    """By task, whose seed's rounding is measured once for all edits."""
    device = backend("cpu").open_device(0)
    yield cache(lambda task: Evaluator(task=load_task(task), device=device, secret=5))
    device.close()


RIGHT = [
    ("sgemm", "neighbouring outputs a thread"),
    ("sgemm", "register tiles"),
    ("sgemm", "outputs a block apart"),
    ("sgemm", "axes swapped"),
    ("sgemm", "block size"),
    ("sgemm", "operands in LDS"),
    ("softmax", "independent accumulators"),
    ("softmax", "a block a row"),
    ("softmax", "one thread a block"),
    ("softmax", "reciprocals"),
    ("sum_reduction", "a run a thread"),
    ("transpose", "neighbouring outputs a thread"),
    (f"{TUTORIAL}/layernorm_butterfly", "independent accumulators"),
    (f"{TUTORIAL}/reduce_interleaved", "block size"),
]


@pytest.mark.parametrize(("task", "technique"), RIGHT)
def test_edits_of_seeds_are_right_on_cpu(
    task: str, technique: str, evaluator_of: Callable[[str], Evaluator]
) -> None:
    evaluator = evaluator_of(task)
    compiler = backend("cpu").compiler()
    naive = next(iter(evaluator.task.seeds.values()))
    found = edits(BY_NAME[technique], naive, evaluator.task)
    assert found
    for edit in found[:2]:
        made, compiled = compile_kernel(edit.text, evaluator.task, compiler, "cpu")
        verdict = evaluator.verify(made, compiled, "tests")
        assert verdict.passed, f"{edit.place}: {verdict.reason}"
