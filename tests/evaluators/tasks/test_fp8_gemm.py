"""fp8_gemm: its reference beside a plain one, and planted errors in its portable seeds, on cpu."""

from collections.abc import Iterator

import numpy as np
import pytest

from evaluators.device import backend
from evaluators.evaluate import compile_kernel
from evaluators.evaluation import Status, Verdict
from evaluators.kernel.source import parse_kernel
from evaluators.measuring.evaluator import Evaluator
from evaluators.tasks.arguments import SUITES, Array, Suite, Workload
from evaluators.tasks.task_file import load_task
from tests.soaked import one_in

TASK = load_task("fp8_gemm")
NOT_A_NUMBER = 0x80  # the only one of float8_e4m3fnuz
ROUNDED = """
__device__ float bf16(float x) { return __bfloat162float(__float2bfloat16(x)); }
__device__ float fp16(float x) { return __half2float(__float2half(x)); }
__device__ __hip_bfloat16 cut(float x) {
    unsigned bits;
    memcpy(&bits, &x, 4);
    bits &= 0xffff0000u;
    memcpy(&x, &bits, 4);
    return __float2bfloat16(x);
}
"""
Edits = dict[str, str]
A, B = "(float)a[(size_t)k * M + row]", "(float)b[(size_t)k * N + col]"
SCALE_A = "a_scale[block * M + row]"
SCALE_B = "b_scale[block * ((N + 127) / 128) + col / 128]"
ADD, SUM = f"part += {A} * {B};", f"sum += part * {SCALE_A} * {SCALE_B};"
FNUZ = "const __hip_fp8_e4m3_fnuz*"
WRONG: dict[str, Edits] = {
    "a's scales of the next block": {"a_scale[block *": "a_scale[(block + 1) % (K / 128) *"},
    "a's scales of a later column": {SCALE_A: "a_scale[block * M + (row + 1) % M]"},
    "a's scales as M x K / 128": {SCALE_A: "a_scale[row * (K / 128) + block]"},
    "b's scales of the next block": {"b_scale[block *": "b_scale[(block + 1) % (K / 128) *"},
    "b's scales for 64 columns": {"col / 128": "col / 64 % ((N + 127) / 128)"},
    "b's scales with quotients rounded up": {
        "col / 128": "(col + 127) / 128 % ((N + 127) / 128)",
    },
    "b's scales in rows of N / 128": {"((N + 127) / 128)": "max(1, N / 128)"},
    "b's scales as N / 128 x K / 128": {SCALE_B: "b_scale[col / 128 * (K / 128) + block]"},
    "the sign of a's scales lost": {SCALE_A: f"fabsf({SCALE_A})"},
    "the sign of b's scales lost": {SCALE_B: f"fabsf({SCALE_B})"},
    "a's scale applied once more": {SUM: SUM.replace("part", f"part * {SCALE_A}")},
    "a's scale left out": {f" * {SCALE_A}": ""},
    "a's scales in bfloat16": {SCALE_A: f"bf16({SCALE_A})"},
    "b's scales in bfloat16": {SCALE_B: f"bf16({SCALE_B})"},
    "a as M x K": {A: "(float)a[(size_t)row * K + k]"},
    "b as N x K": {B: "(float)b[(size_t)col * K + k]"},
    "c transposed": {"c[(size_t)row * N + col]": "c[(size_t)col * M + row]"},
    "a in float8_e4m3fn": {f"{FNUZ} a": "const __hip_fp8_e4m3* a"},
    "b in float8_e4m3fn": {f"{FNUZ} b": "const __hip_fp8_e4m3* b"},
    "the last block left out": {"block < K / 128": "block < max(1, K / 128 - 1)"},
    "one step of a block left out": {"k < 128 * (block + 1)": "k < 128 * (block + 1) - 1"},
    "blocks rounded to bfloat16": {"sum += part *": "sum += bf16(part) *"},
    "scaled blocks rounded to bfloat16": {SUM: f"sum += bf16({SUM[7:-1]});"},
    "the sum rounded to bfloat16 after a block": {SUM: f"{SUM} sum = bf16(sum);"},
    "the sum rounded to float16 after a block": {SUM: f"{SUM} sum = fp16(sum);"},
    "products added in bfloat16": {ADD: f"{ADD} part = bf16(part);"},
    "products added in float16": {ADD: f"{ADD} part = fp16(part);"},
}
RIGHT: dict[str, Edits] = {
    "truncated to bfloat16": {"__float2bfloat16(sum)": "cut(sum)"},
    "scales multiplied first": {SUM: f"sum += part * ({SCALE_A} * {SCALE_B});"},
    "two halves of k": {
        "float sum = 0.0f;": "float sum = 0.0f, sums[2] = {};",
        SUM: SUM.replace("sum +=", "sums[block >= K / 256] +="),
        "c[(size_t)row": "sum = sums[0] + sums[1];\n        c[(size_t)row",
    },
    "from the last product on": {
        A: "(float)a[(size_t)(256 * block + 127 - k) * M + row]",
        B: "(float)b[(size_t)(256 * block + 127 - k) * N + col]",
    },
    "four lanes": {
        "float part = 0.0f;": "float part = 0.0f, parts[4] = {};",
        "part +=": "parts[k % 4] +=",
        SUM: f"part = (parts[0] + parts[2]) + (parts[1] + parts[3]); {SUM}",
    },
    "scales applied to each product": {
        SUM: "sum += part;",
        A: f"{A} * {SCALE_A}",
        B: f"{B} * {SCALE_B}",
    },
}
OF_SCALES = "scale[(size_t)(k / 128) * spans + (at + i) / span]"
TILED: dict[str, Edits] = {
    "scales of an earlier block": {"(k / 128) *": "(max(k, 128) / 128 - 1) *"},
    "scales of the first column": {"(at + i) / span": "at / span"},
    "the signs of scales lost": {OF_SCALES: f"fabsf({OF_SCALES})"},
    "the last part left out": {"part < SPLIT;": "part < SPLIT - 1;"},
    "the last tile left out": {"k0 < last;": "k0 + BK < last;"},
}


def edited(text: str, edits: Edits) -> str:
    head, code = text.split("#include <hip/hip_fp8.h>")
    text = f"{head}#include <hip/hip_fp8.h>\n#include <hip/hip_fp16.h>\n{ROUNDED}{code}"
    for old, new in edits.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    device = backend("cpu").open_device(0)
    yield Evaluator(task=TASK, device=device, secret=7)
    device.close()


def verdict(text: str, evaluator: Evaluator, suite: Suite = "tests") -> Verdict:
    kernel, compiled = compile_kernel(text, TASK, backend("cpu").compiler(), "cpu")
    return evaluator.verify(kernel, compiled, suite)


@pytest.mark.parametrize("name", WRONG)
def test_a_planted_error_is_found(name: str, evaluator: Evaluator) -> None:
    found = verdict(edited(TASK.naive, WRONG[name]), evaluator)
    assert found.status is Status.WRONG, found.reason


@pytest.mark.parametrize("suite", one_in(3, SUITES))
@pytest.mark.parametrize("name", RIGHT)
def test_an_honest_variant_passes(name: str, suite: Suite, evaluator: Evaluator) -> None:
    found = verdict(edited(TASK.naive, RIGHT[name]), evaluator, suite)
    assert found.passed, found.reason


@pytest.mark.parametrize("name", TILED)
def test_an_error_planted_in_tiles_is_found(name: str, evaluator: Evaluator) -> None:
    found = verdict(split(edited(TASK.seeds["tiled"], TILED[name])), evaluator)
    assert found.status is Status.WRONG, found.reason


@pytest.mark.parametrize("suite", one_in(3, SUITES))
def test_tiles_of_two_parts_are_right(suite: Suite, evaluator: Evaluator) -> None:
    found = verdict(split(TASK.seeds["tiled"]), evaluator, suite)
    assert found.passed, found.reason


def split(text: str) -> str:
    return parse_kernel(text).with_params({"SPLIT": 2}).text


@pytest.mark.parametrize("workload", TASK.workloads("tests", "cpu"), ids=lambda w: w.label)
def test_the_reference_is_the_plain_product_of_scaled_elements(workload: Workload) -> None:
    """Each byte decoded by hand and scaled by itself, then one product."""
    given = TASK.inputs(workload, 3)
    of_a, of_b = given["a_scale"].astype(np.float64), given["b_scale"].astype(np.float64)
    a, b = decoded(given["a"]), decoded(given["b"])
    for k, m in np.ndindex(a.shape):
        a[k, m] *= of_a[k // 128, m]
    for k, n in np.ndindex(b.shape):
        b[k, n] *= of_b[k // 128, n // 128]
    found = TASK.reference(workload, given)["c"]
    np.testing.assert_allclose(found, np.einsum("km,kn->mn", a, b), rtol=1e-12, atol=1e-10)


def decoded(array: Array) -> Array:
    """float8_e4m3fnuz: sign, four bits of exponent with bias 8, three of fraction."""
    values = np.empty(256)
    for bits in range(256):
        exponent, fraction = bits >> 3 & 15, bits & 7
        size = (8 + fraction) * 2.0 ** (exponent - 11) if exponent else fraction * 2.0**-10
        values[bits] = -size if bits & 128 else size
    values[NOT_A_NUMBER] = np.nan
    return values[array.view(np.uint8)]


@pytest.mark.parametrize("seed", range(3))
def test_inputs_hold_no_nan_and_scales_of_both_signs(seed: int) -> None:
    for workload in TASK.workloads("benchmarks", "cpu"):
        given = TASK.inputs(workload, seed)
        for name in "ab":
            assert not (given[name].view(np.uint8) == NOT_A_NUMBER).any()
        for name in ("a_scale", "b_scale"):
            assert np.isfinite(given[name]).all()
        assert (given["a_scale"] < 0).any() and (given["a_scale"] > 0).any()
        assert np.isfinite(TASK.reference(workload, given)["c"]).all()
