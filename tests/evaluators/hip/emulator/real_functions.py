"""Kernels as people write them: calls and divisions, and products by matrix cores."""

from typing import Any

import ml_dtypes
import numpy as np

from tests.evaluators.hip.emulator.real_case import DRAWN, INTS, LANES, LONG, Real, one, zeros

FIBONACCI = np.array([0, 1, 1, 2, 3, 5, 8, 13])
CALLED = np.choose(LANES % 3, [INTS[:64] + 1, INTS[:64] * 3, INTS[:64] - 7])
POINTED = np.where(LANES % 3 == 1, (LANES & 3) + 1, INTS[:64])


def _divisions() -> Real:
    rows = []
    for t in range(64):
        a, b = int(LONG[t]), int(LONG[63 - t]) >> t % 60
        rows.append((a // b, a % b, (a & 0xFFFFFFFF) // (b >> 32 | 1), a * b >> 64))
    wanted = {"y": np.array(rows, np.uint64)}
    return one("functions", "divisions", {"x": LONG, "y": zeros(256, np.uint64)}, wanted)


FUNCTIONS = (
    one("functions", "recursion", {"y": zeros(64)}, {"y": FIBONACCI[LANES & 7]}),
    one("functions", "function_pointers", {"x": INTS[:64], "y": zeros(64)}, {"y": CALLED}),
    one("functions", "large_stack", {"y": zeros(64, np.int64)}, {"y": LANES * 124750}),
    one(
        *("functions", "generic_pointers"),
        {"x": INTS[:64], "y": zeros(128)},
        {"y": np.append(POINTED, LANES)},
    ),
    _divisions(),
)

ROWS, COLUMNS, DEPTH = 40, 33, 128
OF_A, OF_B = (DRAWN.integers(-8, 9, (rows, DEPTH)) for rows in (ROWS, COLUMNS))


def _gemm(kind: str, dtype: Any, sums: Any = np.float32) -> Real:
    arrays = {
        "a": OF_A.astype(dtype),
        "b": OF_B.astype(dtype),
        "c": np.zeros((ROWS, COLUMNS), sums),
    }
    name = {np.float32: "float", np.int32: "int"}[sums]
    return one(
        *("gemm", f"gemm<{kind}, {name}>", arrays, {"c": OF_A @ OF_B.T}),
        block=(256, 1, 1),
        grid=(2, 2, 1),
        more=(ROWS, COLUMNS, DEPTH),
    )


def _gemm_doubles() -> Real:
    a, b = OF_A[:13, :32], OF_B[:16, :32]
    arrays = {"a": a.astype(np.float64), "b": b.astype(np.float64), "c": np.zeros((13, 16))}
    return one("gemm", "gemm_doubles", arrays, {"c": a @ b.T}, more=(13,))


PRODUCTS = (
    _gemm("F32", np.float32),
    _gemm("F16", np.float16),
    _gemm("BF16", ml_dtypes.bfloat16),
    _gemm("FP8", ml_dtypes.float8_e4m3fnuz),
    _gemm("I8", np.int8, np.int32),
    _gemm_doubles(),
)
