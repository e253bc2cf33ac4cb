"""Edits of loops: two of them change places, and long reductions are cut into parts."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from evaluators.cuda import device as cuda
from evaluators.device import backend
from evaluators.evaluate import compile_kernel
from evaluators.hip import device as hip
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.kernel.source import parse_kernel
from evaluators.measuring.evaluator import Evaluator
from evaluators.tasks.task_file import load_task
from operators.catalog.generic.edit import Edit
from operators.catalog.generic.techniques import BY_NAME, edits

KERNELS = Path(__file__).parents[3] / "kernels"
SGEMM = load_task("sgemm")
SWAPPED, PARTS = "loops interchanged", "parts of a reduction"


def kernel(code: str, *, args: str = "a, b, c, M, N", block: str = "64") -> str:
    launch = f"{{kernel: go, grid: [M], block: [{block}], args: [{args}]}}"
    return f"/*---\nlaunches:\n  - {launch}\n---*/\n__global__ void go({code}\n"


def found(technique: str, code: str, **told: str) -> tuple[Edit, ...]:
    return edits(BY_NAME[technique], kernel(code, **told), SGEMM)


def code_of(edit: Edit) -> str:
    return " ".join(parse_kernel(edit.text).code.split())


HEAD = "float* a, const float* b, float* c, int M, int N) {\n int t = threadIdx.x;\n"
OUTER, INNER = "for (int i = 0; i < M; ++i)", "for (int j = 0; j < N; ++j)"


@pytest.mark.parametrize(
    "body",
    [
        "c[i * N + j] = b[j * M + i];",
        "c[i] += b[i * N + j] * b[j];",
        "s += b[i * N + j];",
        "{ float v = b[i * N + j]; s += v * v; }",
        "if (b[j] > 0) s = fmaxf(s, b[i]);",
        "v[i][j] = b[i * N + j];",
        "{ v[i][j] *= 2; v[i][j] -= 1; }",
    ],
)
def test_loops_change_places_where_any_order_is_as_good(body: str) -> None:
    loops = f"#pragma unroll\n{OUTER}\n#pragma unroll 2\n{INNER} {body}"
    code = f"{HEAD} float s = 0; float v[4][4];\n{loops}"
    (edit,) = found(SWAPPED, code + " c[t] = s + v[0][0]; }")
    assert f"#pragma unroll {INNER} #pragma unroll 2 {OUTER} {body}" in code_of(edit)


IN_ORDER = {
    "a round needs another": f"{OUTER} {INNER} a[i * N + j] = a[i * N + j + 1];",
    "two rounds write one place": f"{OUTER} {INNER} c[i + j] = b[i * N + j];",
    "the last one stays": f"{OUTER} {INNER} s = b[i * N + j];",
    "one loop bounds the other": f"{OUTER} for (int j = 0; j < i; ++j) s += b[i * N + j];",
    "one loop's bound is written": f"{OUTER} for (int j = 0; j < (int)c[0]; ++j) c[i] += b[j];",
    "more than the inner loop": f"{OUTER} {{ s += b[i]; {INNER} s += b[j]; }}",
    "it leaves early": f"{OUTER} {INNER} {{ if (b[j] > 1) break; s += b[j]; }}",
    "it returns": f"{OUTER} {INNER} {{ if (b[j] > 1) return; s += b[j]; }}",
    "a barrier": f"{OUTER} {INNER} {{ s += b[j]; __syncthreads(); }}",
    "an atomic": f"{OUTER} {INNER} atomicAdd(&c[i], b[j]);",
    "a pointer that moves": f"{OUTER} {INNER} {{ *c = b[j]; c++; }}",
    "what was added is looked at": f"{OUTER} {INNER} {{ s += b[j]; c[i * N + j] = s; }}",
}


@pytest.mark.parametrize("code", IN_ORDER.values(), ids=IN_ORDER.keys())
def test_loops_stay_where_order_may_matter(code: str) -> None:
    assert not found(SWAPPED, f"{HEAD} float s = 0; {code} c[t] = s; }}")


def test_a_reduction_in_parts_is_two_launches() -> None:
    code = f"{HEAD} if (t < M) {{ float s = b[t]; {INNER} s += b[j]; c[t] = s; }} }}"
    edit = found(PARTS, code)[0]
    made = parse_kernel(edit.text)
    assert made.params == {"PARTS": 4}
    assert made.scratch["parts"].text == "4 * PARTS * (M) * (64)"
    assert [one.kernel for one in made.launches] == ["go_parts", "go"]  # type: ignore[union-attr]
    first, second = code_of(edit).split("__global__ void ")[1:]
    assert "float s_part = 0;" in first and "c[t] = s;" not in first
    assert "parts[(size_t)blockIdx.z * threads + thread] = s_part; return;" in first
    assert "s = s + parts[(size_t)partial * threads + thread];" in second
    assert "c[t] = s;" in second and "b[j]" not in second


WHOLE = {
    "it is written before": f"c[t] *= 2; float s = 0; {INNER} s += b[j]; c[t] += s;",
    "it is written on the way": f"float s = 0; {INNER} {{ s += b[j]; c[j] = 1; }} c[t] = s;",
    "other threads write elsewhere": (
        f"if (t < M) {{ float s = 0; {INNER} s += b[j]; c[t] = s; }} else {{ c[t] = c[t] + 1; }}"
    ),
    "two loops": f"float s = 0; {OUTER} s += b[i]; {INNER} s += b[j]; c[t] = s;",
    "a loop of such loops": f"{OUTER} {{ float s = 0; {INNER} s += b[j]; c[i] = s; }}",
    "no reduction": f"float s = 0; {INNER} s = b[j] - s; c[t] = s;",
    "blocks below each other": f"float s = blockIdx.z; {INNER} s += b[j]; c[t] = s;",
    "a barrier": f"float s = 0; {INNER} s += b[j]; __syncthreads(); c[t] = s;",
    "an atomic": f"float s = 0; {INNER} s += b[j]; atomicAdd(&c[t], s);",
}


@pytest.mark.parametrize("code", WHOLE.values(), ids=WHOLE.keys())
def test_a_reduction_stays_whole_where_parts_would_not_be_the_same(code: str) -> None:
    assert not found(PARTS, f"{HEAD} {code} }}")


def test_a_blocks_sides_are_chosen_before_scratch_is_sized_by_them() -> None:
    cut = edits(BY_NAME[PARTS], SGEMM.naive, SGEMM)[0]
    sides = edits(BY_NAME["block size"], SGEMM.naive, SGEMM)[0]
    assert not edits(BY_NAME["block size"], cut.text, SGEMM)
    both = parse_kernel(edits(BY_NAME[PARTS], sides.text, SGEMM)[0].text)
    assert both.scratch["parts"].text.endswith("(BLOCK_X) * (BLOCK_Y)")


@pytest.fixture(scope="module")
def evaluator_of() -> Iterator[Callable[[str], Evaluator]]:
    device = backend("cpu").open_device(0)
    yield cache(lambda task: Evaluator(task=load_task(task), device=device, secret=5))
    device.close()


RIGHT = [
    ("brought/sobel_uint8", SWAPPED),
    ("tutorial/conv2d_tile", SWAPPED),
    ("examples/ragged_mean", PARTS),
    ("examples/lower_triangle", PARTS),
]


@pytest.mark.parametrize(("task", "technique"), RIGHT)
def test_edits_are_right_on_cpu(
    task: str, technique: str, evaluator_of: Callable[[str], Evaluator]
) -> None:
    evaluator = evaluator_of(str(KERNELS / task))
    naive = next(iter(evaluator.task.seeds.values()))
    edit = edits(BY_NAME[technique], naive, evaluator.task)[0]
    made, compiled = compile_kernel(edit.text, evaluator.task, backend("cpu").compiler(), "cpu")
    verdict = evaluator.verify(made, compiled, "tests")
    assert verdict.passed, f"{edit.place}: {verdict.reason}"


@pytest.mark.parametrize("arch", ["gfx942", "sm_90"])
@pytest.mark.parametrize(("task", "technique"), [RIGHT[0], RIGHT[3]])
def test_edits_compile_for_gpus(
    task: str, technique: str, arch: str, request: pytest.FixtureRequest
) -> None:
    own = load_task(KERNELS / task)
    edit = edits(BY_NAME[technique], own.naive, own)[0]
    if arch == "sm_90":
        _, compiled = compile_kernel(edit.text, own, cuda.compiler(arch=arch), "cuda")
    else:
        child: HiprtcChild = request.getfixturevalue("gfx942")
        _, compiled = compile_kernel(edit.text, own, hip.compiler(arch=arch, child=child), "hip")
    assert compiled.binaries
