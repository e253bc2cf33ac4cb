"""Edits of how memory is read and written: read-only loads, and several elements at once."""

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
READ_ONLY, WIDE = "read-only loads", "wide loads and stores"


def kernel(code: str, *, args: str = "a, b, c, N", block: str = "64") -> str:
    launch = f"{{kernel: go, grid: [M], block: [{block}], args: [{args}]}}"
    return f"/*---\nlaunches:\n  - {launch}\n---*/\n__global__ void go({code}\n"


def found(technique: str, code: str, args: str = "a, b, c, N") -> tuple[Edit, ...]:
    return edits(BY_NAME[technique], kernel(code, args=args), SGEMM)


def code_of(edit: Edit) -> str:
    return " ".join(parse_kernel(edit.text).code.split())


THREE = "float* a, const float* b, float* c, int N) {\n int t = threadIdx.x;\n"


def test_what_is_only_read_is_constant_and_loaded_as_that() -> None:
    (edit,) = found(READ_ONLY, THREE + "const float* r = b + t; c[t] = a[(int)b[t]] + r[N];\n}")
    assert (
        "go(const float* __restrict__ a, const float* __restrict__ b, float* c, int N)"
        in code_of(edit)
    )
    assert "c[t] = __ldg(&a[(int)__ldg(&b[t])]) + __ldg(&r[N]);" in code_of(edit)
    assert not edits(BY_NAME[READ_ONLY], edit.text, SGEMM)


@pytest.mark.parametrize(
    ("code", "args"),
    [
        ("float* a) { a[0] = a[1]; }", "a"),
        ("float* a, float* b) { b[0] = a[1]; }", "a, a"),  # one buffer
        ("float* a) { float* w = a + 1; float v = a[0]; w[0] = v; }", "a"),
        ("float* a) { float& r = a[0]; r = 1; }", "a"),
        ("float* a) { atomicAdd(&a[0], a[1]); }", "a"),
        ("float4x* a, float* b) { b[0] = a[0].x; }", "a, b"),  # of a type that __ldg does not take
        ("volatile float* a, float* b) { b[0] = a[0]; }", "a, b"),
        ("float* a, float* b) {\n#define OUT a[0]\n OUT = 1; b[0] = a[1]; }", "a, b"),
    ],
)
def test_what_may_be_written_is_not_loaded_as_constant(code: str, args: str) -> None:
    assert not found(READ_ONLY, code, args)


def test_elements_of_a_loop_are_read_and_written_as_vectors() -> None:
    code = THREE + "for (int k = 0; k < N; ++k) { int at = t * N + k; c[at] = a[at] * b[0]; }\n}"
    edit = found(WIDE, code)[0]
    assert parse_kernel(edit.text).params == {"WIDTH": 4}
    assert parse_kernel(edit.text).space == {"WIDTH": (1, 2, 4)}
    text = code_of(edit)
    assert "if ((size_t)(&a[(t * N + k_at)]) % alignof(Pack<float>) == 0 &&" in text
    assert "for (; k_at + (WIDTH - 1) < N; k_at += WIDTH) {" in text
    assert "c_pack.v[lane] = a_pack.v[lane] * b[0];" in text
    assert "*reinterpret_cast<Pack<float>*>(&c[(t * N + k_at)]) = c_pack;" in text
    assert "for (int k = k_at; k < N; k += (1)) { int at = t * N + k; c[at] = a[at] * b[0];" in text


def test_threads_that_stride_together_deal_neighbours_out() -> None:
    code = THREE + "for (int k = t; k < N; k += blockDim.x) c[k] = a[k];\n}"
    text = code_of(found(WIDE, code)[0])
    assert "for (int k_at = (t) * WIDTH; k_at + (WIDTH - 1) < N; k_at += (blockDim.x) * WIDTH)" in (
        text
    )
    assert "k_first = (N) / WIDTH * WIDTH + (t);" in text


NO_VECTORS = {
    "a round needs the one before": "for (int k = 1; k < N; ++k) a[k] = a[k - 1] + 1;",
    "elements are not neighbours": "for (int k = 0; k < N; ++k) c[2 * k] = a[k * N];",
    "an index that jumps": "for (int k = 0, j = 0; k < N; ++k) { j += k; c[0] = a[k + j]; }",
    "a condition": "for (int k = 0; k < N; ++k) if (k > t) c[k] = 1;",
    "a condition within": "for (int k = 0; k < N; ++k) c[0] += k > t ? a[k] : 0;",
    "another way out": "for (int k = 0; k < N; ++k) { if (a[k] > 1) break; c[k] = a[k]; }",
    "a barrier": "for (int k = 0; k < N; ++k) { c[k] = a[k]; __syncthreads(); }",
    "an atomic": "for (int k = 0; k < N; ++k) { atomicAdd(&c[0], a[k]); }",
    "a pointer that moves": "for (int k = 0; k < N; ++k) { a++; c[k] = a[k]; }",
    "a thread's own part of another loop": (
        "for (int k = t; k < N; k += blockDim.x) c[k] = a[k];"
        "for (int k = t; k < N; k += blockDim.x) c[k] = c[k] * 2;"
    ),
    "some threads alone": "if (t < 9) for (int k = t; k < N; k += blockDim.x) c[k] = a[k];",
    "some threads have left": (
        "if (t > 9) return; for (int k = t; k < N; k += blockDim.x) c[k] = a[k];"
    ),
    "a bound of each thread": "for (int k = t; k < N + t; k += blockDim.x) c[k] = a[k];",
    "a row of each thread": "for (int k = t; k < N; k += blockDim.x) c[t * N + k] = 1;",
    "another stride": "for (int k = t; k < N; k += 48) c[k] = a[k];",
    "values kept by round": (
        "float v[8]; for (int k = t; k < N; k += blockDim.x) v[k / 64] = a[k]; c[t] = v[0];"
    ),
    "more than a reduction": (
        "float m = 0; int w = 0; for (int k = t; k < N; k += blockDim.x)"
        " if (a[k] > m) { m = a[k]; w = k; } c[t] = m + w;"
    ),
}


@pytest.mark.parametrize("code", NO_VECTORS.values(), ids=NO_VECTORS.keys())
def test_where_neighbours_are_not_sure_to_be_independent_there_is_no_vector(code: str) -> None:
    assert not found(WIDE, f"{THREE}{code}\n}}")


def test_a_buffer_that_is_handed_in_twice_is_in_no_vector() -> None:
    code = THREE + "for (int k = 0; k < N; ++k) c[k] = a[k];\n}"
    assert found(WIDE, code) and not found(WIDE, code, "a, b, a, N")


@pytest.fixture(scope="module")
def evaluator_of() -> Iterator[Callable[[str], Evaluator]]:
    device = backend("cpu").open_device(0)
    yield cache(lambda task: Evaluator(task=load_task(task), device=device, secret=5))
    device.close()


def task_folder(name: str) -> str:
    return str(KERNELS / name) if "/" in name else name


RIGHT = [
    ("brought/gelu_bias_optional", READ_ONLY),
    ("tutorial/rmsnorm_half", WIDE),
    ("brought/masked_fill_bool", WIDE),
    ("examples/gemv_int8", WIDE),
    ("residual_add", WIDE),
]


@pytest.mark.parametrize(("task", "technique"), RIGHT)
def test_edits_are_right_on_cpu(
    task: str, technique: str, evaluator_of: Callable[[str], Evaluator]
) -> None:
    evaluator = evaluator_of(task_folder(task))
    edit = edits(BY_NAME[technique], evaluator.task.naive, evaluator.task)[0]
    made, compiled = compile_kernel(edit.text, evaluator.task, backend("cpu").compiler(), "cpu")
    verdict = evaluator.verify(made, compiled, "tests")
    assert verdict.passed, f"{edit.place}: {verdict.reason}"


@pytest.mark.parametrize("arch", ["gfx942", "sm_90"])
@pytest.mark.parametrize(
    ("task", "technique"),
    [("tutorial/rmsnorm_half", WIDE), ("residual_add", WIDE), ("residual_add", READ_ONLY)],
)
def test_edits_compile_for_gpus(
    task: str, technique: str, arch: str, request: pytest.FixtureRequest
) -> None:
    own = load_task(task_folder(task))
    edit = edits(BY_NAME[technique], own.naive, own)[0]
    if arch == "sm_90":
        _, compiled = compile_kernel(edit.text, own, cuda.compiler(arch=arch), "cuda")
        assert compiled.binaries
        return
    child: HiprtcChild = request.getfixturevalue("gfx942")
    _, compiled = compile_kernel(edit.text, own, hip.compiler(arch=arch, child=child), "hip")
    assert compiled.binaries
