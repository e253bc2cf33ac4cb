"""The task moe: its reference by plain loops, no near ties, and planted errors that are found."""

import math
import re
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from evaluators.device import backend
from evaluators.evaluate import compile_kernel
from evaluators.evaluation import Rejected, Status
from evaluators.measuring.evaluator import Evaluator
from evaluators.tasks.task import Array, Task, Workload
from evaluators.tasks.task_file import load_task
from tests.soaked import one_in

GAP = 2.0**-8


@cache
def moe() -> Task:
    return load_task("moe")


def shapes() -> tuple[Workload, ...]:
    return moe().workloads("tests", "cpu")


def by_loops(arrays: dict[str, Array]) -> Array:
    """Token by token, as the description has it."""
    x, router = arrays["x"], arrays["router"]
    y = np.zeros(x.shape)
    for place in np.ndindex(x.shape[:2]):
        token = x[place]
        logits = [math.fsum(token * row) for row in router]
        total = math.fsum(math.exp(one) for one in logits)
        for e in sorted(range(len(logits)), key=lambda e: logits[e])[-4:]:
            weights = [arrays[name][e] for name in ("gate", "up", "down")]
            y[place] += math.exp(logits[e]) / total * fed(token, *weights)
        y[place] += fed(token, *(arrays[f"shared_{name}"] for name in ("gate", "up", "down")))
    return y


def fed(token: Array, gate: Array, up: Array, down: Array) -> Array:
    """One token through one expert."""
    y = np.zeros(len(token))
    for f in range(gate.shape[1]):
        g, u = math.fsum(token * gate[:, f]), math.fsum(token * up[:, f])
        y += g / (1 + math.exp(-g)) * u * down[f]
    return y


@pytest.mark.parametrize("shape", shapes(), ids=lambda shape: shape.label)
def test_the_reference_is_right(shape: Workload) -> None:
    inputs = moe().inputs(shape, 5)
    wide = {name: array.astype(np.float64) for name, array in inputs.items()}
    found = moe().reference(shape, inputs)["y"]
    np.testing.assert_allclose(found, by_loops(wide), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_no_token_is_a_near_tie(seed: int) -> None:
    """And tokens and weights are as they would be otherwise."""
    for shape in (*shapes(), *moe().workloads("benchmarks", "cpu")):
        x, router = (moe().made(shape, seed)[name] for name in ("x", "router"))
        assert x.dtype == router.dtype == np.float16
        if shape.dims["E"] > 4:
            logits = x.astype(np.float64) @ router.T.astype(np.float64)
            fifth, fourth = np.moveaxis(np.sort(logits)[..., -5:-3], -1, 0)
            assert (fourth - fifth).min() >= GAP
        if x.size > 1000:
            assert np.std(x.astype(np.float64)) == pytest.approx(1, rel=0.1)


def test_inputs_are_the_same_for_the_same_state_and_others_for_another() -> None:
    first, again, other = (moe().made(shapes()[1], seed)["x"] for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    device = backend("cpu").open_device(0)
    yield Evaluator(task=moe(), device=device, secret=11)
    device.close()


GATES, UPS = (
    f"{name} += __half2float(token[k]) * __half2float({name}{rest}[(size_t)k * F + f]);"
    for name, rest in (("g", "ates"), ("u", "ps"))
)
SUM = """sum += __half2float(h[(size_t)slot * F + f]) *
                       __half2float(downs[(size_t)f * D + d]);"""
PLANTED = {
    "scores normalised again": (
        "for (int e = 0; e < E; ++e) {\n            total += expf(logit[e] - largest);",
        "for (int e = 0; e < 4; ++e) {\n            total += expf(logit[chosen[e]] - largest);",
    ),
    "an expert is left out": (
        "total += score[slot] * sum;",
        "total += e == 1 ? 0.0f : score[slot] * sum;",
    ),
    "three experts a token": (
        "total += score[slot] * sum;",
        "total += slot % 5 == 3 ? 0.0f : score[slot] * sum;",
    ),
    "the shared expert has a score": (
        "score[5 * t + 4] = 1.0f;",
        "score[5 * t + 4] = expf(logit[chosen[0]] - largest) / total;",
    ),
    "gate and up change places": ("g / (1.0f + expf(-g)) * u", "u / (1.0f + expf(-u)) * g"),
    "sums over D in float16": (GATES, f"{GATES} g = __half2float(__float2half(g));"),
    "sums over F in float16": (SUM, f"{SUM} sum = __half2float(__float2half(sum));"),
    "sums of 32 over D in bfloat16": (
        UPS,
        f"{UPS} if (k % 32 == 31) u = __bfloat162float(__float2bfloat16(u));",
    ),
}


def checked(text: str, evaluator: Evaluator) -> None:
    """On two benchmark shapes: D is large on the first, F on the second. Raises Rejected."""
    kernel, compiled = compile_kernel(text, moe(), backend("cpu").compiler(), "cpu")
    first, *_, last = moe().workloads("benchmarks", "cpu")
    evaluator.correctness.check(kernel, compiled, [first, last], {})


GROUPED = {
    "scores normalised again": (
        "score[5 * t + s] = expf(logits[best] - largest) / total;",
        "score[5 * t + s] = expf(logits[best] - largest) / total * 1.1f;",
    ),
    "an expert is left out": ("if (tile < tiles) break;", "if (tile < tiles && e != 1) break;"),
    "three experts a token": ("s < 5; ++s) sum", "s < 5; ++s) if (s != 3) sum"),
    "a block's last slot is left out": ("return true;", "rows -= rows == BM; return true;"),
    "the last steps of k are left out": ("k0 < F; k0 += BK", "k0 + BK <= F; k0 += BK"),
    "gate and up change places": ("g / (1.0f + expf(-g)) * u", "u / (1.0f + expf(-u)) * g"),
    "hidden values in bfloat16": (
        "h[(size_t)slots[row] * F + f] = __float2half(g / (1.0f + expf(-g)) * u);",
        "h[(size_t)slots[row] * F + f] = __float2half("
        "__bfloat162float(__float2bfloat16(g / (1.0f + expf(-g)) * u)));",
    ),
}
POINTS = (
    "TM: 2, TN: 1, BX: 16, BY: 4, BK: 8",
    "TM: 8, TN: 4, BX: 8, BY: 16, BK: 16",
    "TM: 4, TN: 2, BX: 32, BY: 8, BK: 32",
)


@pytest.mark.parametrize("name", ["naive", "grouped"])
def test_a_seed_is_right(name: str, evaluator: Evaluator) -> None:
    checked(moe().seeds[name], evaluator)


def grouped(point: str) -> str:
    text, count = re.subn(r"params: \{[^}]*\}", f"params: {{{point}}}", moe().seeds["grouped"])
    assert count == 1
    return text


@pytest.mark.parametrize("point", one_in(3, POINTS))
def test_other_tiles_are_right(point: str, evaluator: Evaluator) -> None:
    checked(grouped(point), evaluator)


@pytest.mark.parametrize("name", one_in(2, GROUPED))
def test_an_error_planted_in_the_grouped_seed_is_found(name: str, evaluator: Evaluator) -> None:
    old, new = GROUPED[name]
    text = grouped(POINTS[0])
    assert text.count(old) == 1
    edited = text.replace(old, new)
    with pytest.raises(Rejected) as rejected:
        checked(edited.replace("hip_fp16.h>", "hip_fp16.h>\n#include <hip/hip_bf16.h>"), evaluator)
    assert rejected.value.status is Status.WRONG, rejected.value.reason


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_error_is_found(name: str, evaluator: Evaluator) -> None:
    old, new = PLANTED[name]
    assert moe().seeds["naive"].count(old) == 1
    with pytest.raises(Rejected) as rejected:
        checked(moe().seeds["naive"].replace(old, new), evaluator)
    assert rejected.value.status is Status.WRONG, rejected.value.reason
