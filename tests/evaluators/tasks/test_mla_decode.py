"""mla_decode: its reference beside a plain one, and planted errors in its naive seed, on cpu."""

from collections.abc import Iterator

import numpy as np
import pytest

from evaluators.device import backend
from evaluators.evaluate import compile_kernel
from evaluators.evaluation import Status, Verdict
from evaluators.measuring.evaluator import Evaluator
from evaluators.tasks.arguments import SUITES, Array, Workload
from evaluators.tasks.task_file import load_task
from tests.soaked import one_in

TASK = load_task("mla_decode")
LOADS = ("__bfloat162float(key[", "__bfloat162float(cache[")
ROUNDED = """
__device__ float bf16(float x) { return __bfloat162float(__float2bfloat16(x)); }
__device__ float fp16(float x) { return __half2float(__float2half(x)); }
__device__ float fp8(__hip_bfloat16 x) { return (float)__hip_fp8_e4m3(__bfloat162float(x)); }
"""
Edits = dict[str, str]
SUM = "sum += (float)x[b * K + k] * __bfloat162float(w[(size_t)n * K + k])"
TERM = SUM.removeprefix("sum += ")
WRONG: dict[str, Edits] = {
    "interleaved pairs": {
        "cosine[L * half + i % half]": "cosine[L * half + i / 2]",
        "sine[L * half + i % half]": "sine[L * half + i / 2]",
        "i < half ? -q[N + i + half] : q[N + i - half]": "i % 2 ? q[N + i - 1] : -q[N + i + 1]",
        "key[C + i]": "key[C + 2 * i]",
        "key[C + half + i]": "key[C + 2 * i + 1]",
        "given[C + i]": "given[C + 2 * i]",
        "given[C + half + i]": "given[C + 2 * i + 1]",
    },
    "the query turned by L - 1": {"ne[L * half": "ne[(L - 1) * half"},
    "keys turned by the next position": {
        "ne[j * half + i]": "ne[min(j + 1, L) * half + i]",
    },
    "angles in bfloat16": {"(float)(i / half) * turn": "bf16((float)(i / half) * turn)"},
    "cache read in fp8": {load: load.replace("__bfloat162float", "fp8") for load in LOADS},
    "projections summed up in bfloat16": {SUM: f"sum = bf16(sum + {TERM})"},
    "projections summed up in float16": {SUM: f"sum = fp16(sum + {TERM})"},
    "scale without P": {"sqrtf((float)(N + P))": "sqrtf((float)N)"},
    "the new key left out": {"j <= L": "j < L"},
    "the row not written": {
        "out[b * stride + start + n] =": "if (start == 0) out[b * stride + n] ="
    },
    "the row written behind": {'value: "L * (C + P)"': 'value: "(L + 1) * (C + P)"'},
    "keys and values swapped": {
        "(h * (N + V) + n) * C": "(h * (N + V) + V + n) * C",
        "(h * (N + V) + N + v) * C": "(h * (N + V) + v) * C",
    },
}
HONEST: Edits = {
    "= Out(sum)": "= Out(bf16(sum))",
    "query[c] = sum": "query[c] = bf16(sum)",
    "query[c] = q[N + i] * co + other * si": "query[c] = bf16(q[N + i] * co + other * si)",
    "(x1 * co - x2 * si)": "bf16(x1 * co - x2 * si)",
    "(x2 * co + x1 * si)": "bf16(x2 * co + x1 * si)",
    "score[t] = e": "score[t] = bf16(e)",
    "= sums[c] / total": "= bf16(sums[c] / total)",
    "o[head * V + v] = sum": "o[head * V + v] = bf16(sum)",
}


TILED: dict[str, Edits] = {
    "keys turned the other way": {"(i < half ? -other : other)": "(i < half ? other : -other)"},
    "the total not shrunk": {"sum = total[tx] * shrink[tx]": "sum = total[tx]"},
    "the last key left out": {"L + 1 - first": "L - first"},
    "another head's scores": {"weight = score[j][ty * 4 + i]": "weight = score[j][ty * 4]"},
    "values of all heads by the first's weights": {"blockIdx.z * step + skip": "skip"},
    "sums not shrunk": {"sums[i][c] *= shrink": "sums[i][c] *= 1.0f + 0.0f * shrink"},
}
POINTS = ("TK: 2, TC: 16, STEP: 16", "TK: 1, TC: 2, STEP: 32", "TK: 4, TC: 4, STEP: 8")


def edited(edits: Edits, seed: str = "naive") -> str:
    head, code = TASK.seeds[seed].split("#include <hip/hip_bf16.h>")
    text = f"{head}#include <hip/hip_bf16.h>\n{ROUNDED}{code}"
    for old, new in edits.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    device = backend("cpu").open_device(0)
    yield Evaluator(task=TASK, device=device, secret=7)
    device.close()


def verdict(text: str, evaluator: Evaluator) -> Verdict:
    """Of the first suite that finds it wrong, else of the last."""
    kernel, compiled = compile_kernel(text, TASK, backend("cpu").compiler(), "cpu")
    for suite in SUITES:
        found = evaluator.verify(kernel, compiled, suite)
        if not found.passed:
            break
    return found


@pytest.mark.parametrize("name", WRONG)
def test_a_planted_error_is_found(name: str, evaluator: Evaluator) -> None:
    found = verdict(edited(WRONG[name]), evaluator)
    assert found.status is Status.WRONG, found.reason


@pytest.mark.parametrize("name", one_in(3, TILED))
def test_an_error_planted_in_the_tiled_seed_is_found(name: str, evaluator: Evaluator) -> None:
    found = verdict(edited(TILED[name], "tiled"), evaluator)
    assert found.status is Status.WRONG, found.reason


@pytest.mark.parametrize("point", one_in(3, POINTS))
def test_the_tiled_seed_is_right(point: str, evaluator: Evaluator) -> None:
    params = "params: {TK: 2, TC: 16, STEP: 16}"
    found = verdict(edited({params: f"params: {{{point}}}"}, "tiled"), evaluator)
    assert found.passed, found.reason


def test_intermediate_results_may_be_bfloat16(evaluator: Evaluator) -> None:
    found = verdict(edited(HONEST), evaluator)
    assert found.passed, found.reason


@pytest.mark.parametrize(
    "workload",
    [w for w in TASK.workloads("tests", "cpu") if w.dims["B"] * w.dims["H"] * w.dims["L"] < 5000],
    ids=lambda w: w.label,
)
def test_the_reference_is_plain_attention_on_expanded_keys_and_values(
    workload: Workload,
) -> None:
    """Every head's keys and values written out, turned pair by pair as complex numbers."""
    given = {k: v.astype(np.float64) for k, v in TASK.inputs(workload, 3).items()}
    found = TASK.reference(workload, {k: v.copy() for k, v in given.items()})
    d = workload.dims
    B, H, C, N, P, V, L = (d[name] for name in "BHCNPVL")
    x, cache, wo = given["x"], given["cache"], given["wo"]
    row = x @ given["kv_down"].T
    kept = np.array(cache)
    kept[:, L] = row
    np.testing.assert_allclose(found["cache"], kept, rtol=1e-12, atol=1e-12)
    kept[:, L] = row.astype(TASK.outputs[0].np_dtype).astype(np.float64)
    o = np.empty((B, H, V))
    for b in range(B):
        for h in range(H):
            q = given["q_up"][h * (N + P) : (h + 1) * (N + P)] @ given["q_down"] @ x[b]
            up = given["kv_up"][h * (N + V) : (h + 1) * (N + V)]
            scores = []
            for t in range(L + 1):
                k = up[:N] @ kept[b, t, :C]
                places = turned(kept[b, t, C:], t) @ turned(q[N:], L)
                scores.append((k @ q[:N] + places) / np.sqrt(N + P))
            p = np.exp(np.array(scores) - max(scores))
            o[b, h] = sum(w * (up[N:] @ kept[b, t, :C]) for t, w in enumerate(p / p.sum()))
    y = np.einsum("bhv,dhv->bd", o, wo.reshape(-1, H, V))
    np.testing.assert_allclose(found["y"], y, rtol=1e-9, atol=1e-9)


def turned(x: Array, t: int) -> Array:
    half = len(x) // 2
    by = np.empty(half, complex)
    for i in range(half):
        angle = float(np.float32(t) * np.float32(10000.0 ** (-i / half)))
        parts = np.array([np.cos(angle), np.sin(angle)], np.float32)
        by[i] = complex(*parts.astype(TASK.outputs[0].np_dtype).astype(float))
    z = (x[:half] + 1j * x[half:]) * by
    return np.concatenate([z.real, z.imag])
