"""Kernel files: what is read, what is refused and on which line, ids, parameters and plans."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.device_info import target_of
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import LaunchStep, MemsetStep, Scalar
from evaluators.kernel.reader import KEYS, LAUNCH_KEYS
from evaluators.kernel.source import kernel_id, parse_kernel
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task

SPLIT_K = """/*---
launches:
  - {memset: {buffer: partial, byte: 0}, when: "SPLIT > 1"}
  - kernel: gemm<BM, BN, SPLIT, K>
    grid: ["ceil_div(N, BN)", "ceil_div(M, BM)", "SPLIT"]
    block: [256]
    lds_bytes: "4 * (BM + BN)"
    args: [a, b, partial, M, N]
  - kernel: reduce
    when: "SPLIT > 1"
    repeat: {step: 2}
    grid: ["ceil_div(M * N, 256)"]
    block: [16, 16]
    args: [partial, c, M, {value: "step + SPLIT", type: int64}, {value: 2, type: float32}]
scratch: {partial: "4 * M * N * SPLIT"}
params:
  BM: 64  # rows
  BN: 64
  SPLIT: 2
space: {BM: [32, 64, 128], SPLIT: [1, 2, 4]}
constraints: ["BM * BN <= 8192"]
variants: [{when: "M >= 4096", params: {BM: 128}}]
specialize: [K]
options: ["-ffast-math"]
---*/
#include <hip/hip_runtime.h>
template <int BM, int BN, int SPLIT, int DEPTH> __global__ void gemm() {}
"""
SHORT = """/*---
launches: [{{kernel: f, grid: [{grid}], block: [{block}], args: [{args}]}}]
{more}
---*/
__global__ void f() {{}}
"""


@pytest.fixture(scope="module")
def sgemm() -> Task:
    return load_task("sgemm")


CPU = target_of("cpu")


def shape(dims: dict[str, int]) -> Workload:
    return Workload(dims=dims, suite="tests")


def short(grid: str = "1", block: str = "64", args: str = "a, b, c", more: str = "") -> str:
    return SHORT.format(grid=grid, block=block, args=args, more=more)


def refused(text: str) -> Rejected:
    with pytest.raises(Rejected) as caught:
        parse_kernel(text)
    assert caught.value.status is Status.INVALID
    assert "\n" not in caught.value.reason
    return caught.value


def test_a_plan_in_numbers(sgemm: Task) -> None:
    plan = parse_kernel(SPLIT_K).plan(sgemm, shape({"M": 100, "N": 70, "K": 30}), CPU)
    assert plan.defines == (("BM", 64), ("BN", 64), ("K", 30), ("SPLIT", 2))
    assert plan.scratch == {"partial": 4 * 100 * 70 * 2}
    memset, gemm, first, second = plan.steps
    assert memset == MemsetStep(buffer="partial", byte=0)
    assert gemm == LaunchStep(
        entry="gemm<64, 64, 2, 30>",
        grid=(2, 2, 2),
        block=(256, 1, 1),
        lds_bytes=512,
        args=(
            "a",
            "b",
            "partial",
            Scalar(value=100, type="int32"),
            Scalar(value=70, type="int32"),
        ),
    )
    assert isinstance(first, LaunchStep) and isinstance(second, LaunchStep)
    assert first.block == (16, 16, 1)
    assert first.args[3:] == (Scalar(value=2, type="int64"), Scalar(value=2.0, type="float32"))
    assert second.args[3] == Scalar(value=3, type="int64")


def test_variants_and_conditions_follow_the_shape(sgemm: Task) -> None:
    kernel = parse_kernel(SPLIT_K).with_params({"SPLIT": 1})
    plan = kernel.plan(sgemm, shape({"M": 5000, "N": 64, "K": 64}), CPU)
    assert dict(plan.defines)["BM"] == 128
    assert [step.entry for step in plan.launches] == ["gemm<128, 64, 1, 64>"]


def test_with_params_changes_only_the_params() -> None:
    kernel = parse_kernel(SPLIT_K)
    changed = kernel.with_params({"BM": 32})
    assert changed.params == {"BM": 32, "BN": 64, "SPLIT": 2}
    assert changed.id != kernel.id
    assert changed.code == kernel.code and changed.space == kernel.space
    assert changed.with_params({"BM": 64}).id == kernel.id
    with pytest.raises(Rejected, match="constraint"):
        kernel.with_params({"BM": 128, "BN": 128})
    with pytest.raises(Rejected, match="'XX' is not in params"):
        kernel.with_params({"XX": 1})
    assert kernel.feasible({"BM": 32}) and not kernel.feasible({"BM": 4096})


@given(
    st.dictionaries(
        st.sampled_from(["BM", "BN", "SPLIT"]), st.integers(1, 90), min_size=1, max_size=3
    )
)
def test_any_feasible_params_survive_the_round_trip(changed: dict[str, int]) -> None:
    kernel = parse_kernel(SPLIT_K)
    assert parse_kernel(kernel.with_params(changed).text).params == {**kernel.params, **changed}


def test_ids_ignore_formatting_and_what_does_not_run() -> None:
    assert kernel_id(SPLIT_K.replace("gemm() {}", "gemm() {}  \n\n")) == kernel_id(SPLIT_K)
    assert kernel_id(SPLIT_K.replace("SPLIT: [1, 2, 4]", "SPLIT: [1, 2]")) == kernel_id(SPLIT_K)
    assert kernel_id(SPLIT_K.replace("BN: 64\n", "BN: 32\n")) != kernel_id(SPLIT_K)
    assert kernel_id(SPLIT_K.replace("[256]", "[128]")) != kernel_id(SPLIT_K)
    assert kernel_id(SPLIT_K.replace("gemm() {}", "gemm() {;}")) != kernel_id(SPLIT_K)
    assert re.fullmatch("[0-9a-f]{16}", kernel_id("no kernel at all"))


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("__global__ void f() {}", 1, "begins with its front matter"),
        ("\n\n/*---\nlaunches: []\n", 3, "not closed"),
        ("/*---\nlaunches: []\n---*/", 2, "at least one entry"),
        ("/*---\nparams: {A: 1}\n---*/", 2, "'launches' is missing"),
        ("/*---\n- 1\n---*/", 1, "must be a mapping"),
        ("/*---\n---*/", 1, "must be a mapping"),
        ("/*---\nlaunches: [\n---*/", 3, "not YAML"),
        (short(more="colour: red"), 3, "unknown key 'colour'"),
        (short(more="params: {threadIdx: 1}"), 3, "'threadIdx' cannot be a parameter"),
        (short(more="params: {_bm: 1}"), 3, "'_bm' cannot be a parameter"),
        (short(more="params: {return: 1}"), 3, "'return' cannot be a parameter"),
        (short(more="params: {WAVEFRONT: 1}"), 3, "cannot be a parameter"),
        (short(more="params: {BM: 1.5}"), 3, "32-bit integer"),
        (short(more="params: {BM: true}"), 3, "32-bit integer"),
        (short(more="params: {BM: 1, BM: 2}"), 3, "stands twice"),
        (short(more="space: {BM: [1]}"), 3, "'BM' is not in params"),
        (short(more="params: {BM: 1}\nspace: {BM: []}"), 4, "needs a list"),
        (short(more="params: {BM: 9}\nconstraints: ['BM < 4']"), 4, "does not hold"),
        (short(more="constraints: ['M < 4']"), 3, "'M' is not in params"),
        (short(more="options: ['-include/etc/passwd']"), 3, "is not allowed"),
        (short(more="options: [[-O3]]"), 3, "option ['-O3'] is not allowed"),
        (short(more="variants: [{when: '1'}]"), 3, "keys 'when' and 'params'"),
        (short(more="scratch: {s: '2 ** 40'}"), 3, "Pow is not allowed"),
        (short(more="a: &x 1\nb: *x"), 4, "aliases"),
        (short(grid="1, 1, 1, 1"), 2, "one to three"),
        (short(grid="'f(1)'"), 2, "function 'f'"),
        (short(args="a, {value: 1, type: double}"), 2, "type 'double'"),
        (short(args="a, 'b c'"), 2, "argument 'b c'"),
        (short().replace("kernel: f", "kernel: 'f; system(1)'"), 2, "not a kernel's name"),
        ("/*---\nlaunches: [{kernel: f}]\n---*/", 2, "needs the key 'grid'"),
        ("/*---\nlaunches: [{memset: {buffer: c, byte: 256}}]\n---*/", 2, "0 to 255"),
        ("/*---\nlaunches: " + "[" * 5000 + "\n---*/", 2, "too deeply"),
        ("/*---\nlaunches: " + "9" * 6000 + "\n---*/", 2, "a number of more than 100 characters"),
        (short() + "\0", 6, "NUL"),
    ],
)
def test_malformed_files_are_invalid_with_line_and_reason(
    text: str, line: int, reason: str
) -> None:
    rejected = refused(text)
    assert reason in rejected.reason
    assert rejected.reason.startswith(f"line {line}: ")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (short(args="a, x"), r"unknown name 'x' \(known: a, b, c, M, N, K\)"),
        (short(args="a, BM", more="params: {BM: 1}"), "write {value: BM, type: int32}"),
        (short(grid="'M - 64'"), "grid is 0, must be 1 to"),
        (short(grid="1, '70000'"), "must be 1 to 65535"),
        (short(args="{value: 'M << 40', type: int32}"), "must be -2147483648"),
        (short(more="params: {M: 1}"), "has the name of a dimension"),
        (short(more="scratch: {a: 4}"), "'a' is already a name"),
        (short(more="scratch: {s: '0 * M'}"), "scratch: s is 0"),
        (short(more="specialize: [Q]"), "'Q' is not a dimension"),
        (short(more="prepare: [{memset: {buffer: c, byte: 0}}]"), "neither an output"),
        (
            short(more="prepare: [{kernel: g, grid: [1], block: [1], args: [a]}]"),
            "prepare may use constant inputs",
        ),
        (short().replace("kernel: f,", "kernel: f, when: 'M > 999',"), "nothing is launched"),
        (short().replace("kernel: f,", "kernel: f, repeat: {i: 5000},"), "repeat is 5000"),
        (short().replace("kernel: f,", "kernel: f, repeat: {M: 5},"), "'M' is already a name"),
        (short(grid="'M // (N - 64)'"), "division by zero"),
    ],
)
def test_what_a_shape_shows_to_be_wrong_is_invalid(sgemm: Task, text: str, reason: str) -> None:
    kernel = parse_kernel(text)
    with pytest.raises(Rejected, match=reason) as caught:
        kernel.plan(sgemm, shape({"M": 64, "N": 64, "K": 64}), CPU)
    assert caught.value.status is Status.INVALID
    assert caught.value.reason.startswith("line ")


def test_a_bare_dim_beyond_int32_is_invalid(sgemm: Task) -> None:
    kernel = parse_kernel(short(args="a, M"))
    with pytest.raises(Rejected, match=r"does not fit in int32.*write {value: [MNK], type: int64}"):
        kernel.plan(sgemm, shape({"M": 2**31, "N": 64, "K": 64}), CPU)


@given(st.text(max_size=200))
def test_any_front_matter_is_a_kernel_or_invalid(yaml_text: str) -> None:
    try:
        parse_kernel(f"/*---\n{yaml_text}\n---*/\n")
    except Rejected as rejected:
        assert rejected.status is Status.INVALID


WORDS = (*KEYS, *LAUNCH_KEYS, "memset", "buffer", "byte", "value", "type", "BM")

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12), st.dates()
)
trees = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(WORDS),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(WORDS), trees))
def test_any_tree_under_the_right_keys_is_a_kernel_or_invalid(tree: dict[str, object]) -> None:
    import yaml

    try:
        parse_kernel(f"/*---\n{yaml.safe_dump(tree)}\n---*/\n")
    except Rejected as rejected:
        assert rejected.status is Status.INVALID
        assert "\n" not in rejected.reason
