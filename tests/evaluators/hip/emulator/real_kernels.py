"""Kernels as people write them: what each is launched with, and what it makes of that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from evaluators.acceptance.launching import launch
from evaluators.kernel.plan import Dim3, LaunchStep

Array = np.ndarray[Any, Any]
Wanted = Mapping[str, Any]

DRAWN = np.random.default_rng(20)
INTS = DRAWN.integers(-1000, 1000, 4096).astype(np.int32)
SMALL = DRAWN.integers(-8, 9, 4096)
LONG = DRAWN.integers(0, 2**63, 64).astype(np.uint64) * 2 + 1
LANES = np.arange(64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Real:
    """file: of tests/kernels/emulated. arrays: by name, in the arguments' order.

    wanted: arrays afterwards, exactly. more: arguments behind the arrays.
    """

    name: str
    file: str
    entry: str
    arrays: Mapping[str, Array]
    wanted: Wanted
    block: Dim3 = (64, 1, 1)
    grid: Dim3 = (1, 1, 1)
    more: Sequence[int] = ()

    @property
    def step(self) -> LaunchStep:
        return launch(self.entry, [*self.arrays, *self.more], block=self.block, grid=self.grid)


def zeros(count: int, dtype: Any = np.int32) -> Array:
    return np.zeros(count, dtype)


def waves(of: Array) -> Array:
    return of.reshape(-1, 64)


def one(file: str, entry: str, arrays: Mapping[str, Array], wanted: Wanted, **more: Any) -> Real:
    name = more.pop("name", entry)
    return Real(name=name, file=file, entry=entry, arrays=arrays, wanted=wanted, **more)


def shuffled(x: Array, width: int) -> Array:
    rows, at = x.reshape(-1, width), np.arange(width)
    sources = ((at + 3) % width, np.maximum(at - 1, 0), np.minimum(at + 1, width - 1), at ^ 1)
    return np.stack([rows[:, source] for source in sources], -1).reshape(-1)


def _shuffles() -> list[Real]:
    types = {"int": np.int32, "float": np.float32, "double": np.float64, "long long": np.int64}
    return [
        one(
            *("lanes", f"shuffles<{name}, {width}>"),
            {"x": INTS[:256].astype(dtype) * 3, "y": zeros(1024, dtype)},
            {"y": shuffled(INTS[:256].astype(dtype) * 3, width)},
            block=(128, 1, 1),
            grid=(2, 1, 1),
        )
        for name, dtype in types.items()
        for width in (64, 32, 2)
    ]


def _compacted(threads: int) -> Real:
    x = INTS[:threads]
    chosen = x[x & 1 == 1]
    wanted = np.concatenate([chosen, zeros(64 - len(chosen))])
    arrays = {"x": x, "y": zeros(64)}
    name = f"compact_by_dpp, {threads} threads"
    block = (threads, 1, 1)
    return one("lanes", "compact_by_dpp", arrays, {"y": wanted}, name=name, block=block)


def _block_sum(threads: int) -> Real:
    x = INTS[: 2 * threads]
    arrays, wanted = {"x": x, "y": zeros(2)}, {"y": x.reshape(2, -1).sum(1)}
    name, shape = f"block_sum, {threads} threads", {"block": (threads, 1, 1), "grid": (2, 1, 1)}
    return one("lanes", "block_sum", arrays, wanted, name=name, **shape)


KEYS = waves(INTS[:256]) & 7
SAME = KEYS[:, :, None] == KEYS[:, None, :]
MASKS = (SAME.astype(np.uint64) << LANES.astype(np.uint64)).sum(2, dtype=np.uint64)
FOUR = {"block": (256, 1, 1)}

ACROSS = (
    *_shuffles(),
    *(_compacted(threads) for threads in (33, 64)),
    *(_block_sum(threads) for threads in (1, 33, 65, 1000, 1024)),
    one(
        *("lanes", "match_by_ballots"),
        {"x": INTS[:256], "y": zeros(256, np.uint64)},
        {"y": MASKS},
        **FOUR,
    ),
    one(
        "lanes",
        "count_by_waterfall",
        {"x": INTS[:256], "y": zeros(256)},
        {"y": SAME.sum(2)},
        **FOUR,
    ),
)


def _neighbours(x: Array) -> Array:
    for _ in range(4):
        x = np.roll(x, -1) + np.roll(x, -2)
    return x


FLOATS = SMALL.astype(np.float32)
FIRST = np.cumsum(INTS[:40]) - INTS[:40]
SIXTEEN = {"grid": (16, 1, 1)}

WAITING = (
    one(
        *("waiting", "look_back"),
        {"x": INTS, "y": zeros(4096), "told": zeros(16, np.uint64), "ticket": zeros(1)},
        {"y": np.cumsum(INTS)},
        **(FOUR | SIXTEEN),
    ),
    one(
        *("waiting", "chain_from_the_end"),
        {"x": INTS[:40], "y": zeros(40 * 64), "flag": zeros(40), "sum": zeros(40)},
        {"y": np.repeat(FIRST, 64)},
        grid=(40, 1, 1),
    ),
    one(
        *("waiting", "neighbours_four_times"),
        {"x": INTS[:1024], "y": zeros(1024), "arrived": zeros(1)},
        {"x": _neighbours(INTS[:1024])},
        **SIXTEEN,
    ),
    one(
        *("waiting", "last_block_adds_up"),
        {
            "x": FLOATS,
            "parts": zeros(16, np.float32),
            "y": zeros(1, np.float32),
            "done": zeros(1, np.uint32),
        },
        {"y": FLOATS.sum(), "done": 0},
        **(FOUR | SIXTEEN),
    ),
    one("waiting", "lock_in_lds", {"y": zeros(1)}, {"y": 64 * 28 + 8}, block=(512, 1, 1)),
)


def _unaligned() -> Real:
    x = INTS[:1200].astype(np.int8)
    tile = np.stack([x[t * 17 + 1 : t * 17 + 17] for t in range(64)])
    head = np.stack([x[t * 3 : t * 3 + 4] for t in range(64)])
    tile[:, :4] = (tile[:, :4].copy().view(np.int32) + head.copy().view(np.int32)).view(np.int8)
    return one("memory", "unaligned", {"x": x, "y": zeros(1024, np.int8)}, {"y": tile})


def _low_halves() -> Real:
    x = INTS[:64].astype(np.uint8)
    wanted = zeros(256)
    wanted[x[::2][x[::2] > 3]] = 1
    return one("memory", "low_halves", {"x": x, "y": zeros(256)}, {"y": wanted})


def _atomics() -> Real:
    x = INTS[:256]
    low, high = min(0, int(x.min())), max(0, int(x.max()))
    wanted = {
        "a": [x.sum(), low, high, np.bitwise_xor.reduce(x), 256 % 100, -256 % 100],
        "d": [x.sum() * 0.5, low, x.sum()],
        "f": [high, 256],
    }
    arrays = {"x": x, "a": zeros(6), "d": zeros(3, np.float64), "f": zeros(2, np.float32)}
    return one("memory", "atomics", arrays, wanted, grid=(4, 1, 1))


RAGGED = np.append(FLOATS[:201], zeros(55, np.float32)).reshape(64, 4).sum(1)
HALVES = FLOATS[:256].astype(np.float16)
DOUBLES = INTS[:64].astype(np.float64)

MEMORY = (
    *(
        one(
            *("memory", "double_by_buffer"),
            {"x": INTS[:count], "y": zeros(count)},
            {"y": 2 * INTS[:count]},
            name=f"double_by_buffer, {count} words",
            more=(count,),
        )
        for count in (200, 201, 203)
    ),
    one(
        *("memory", "all_of_lds"),
        {"x": INTS[:1024], "y": zeros(16384)},
        {"y": (np.tile(INTS[:1024], 16) + np.arange(16384))[::-1]},
        block=(1024, 1, 1),
    ),
    one(
        *("memory", "ragged_sums"),
        {"x": FLOATS[:201], "y": zeros(64, np.float32)},
        {"y": RAGGED},
        more=(201,),
        **FOUR,
    ),
    one(
        *("memory", "reverse_padded"),
        {"x": DOUBLES, "y": zeros(64, np.float64)},
        {"y": (DOUBLES + LANES)[::-1]},
    ),
    one(
        *("memory", "transpose_halves"),
        {"x": HALVES, "y": zeros(256, np.float16)},
        {"y": HALVES.reshape(16, 16).T},
        **FOUR,
    ),
    one("memory", "clocks", {"y": zeros(64)}, {"y": np.ones(64)}),
    *(_unaligned(), _low_halves(), _atomics()),
)

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

RIGHT = (*ACROSS, *WAITING, *MEMORY, *FUNCTIONS, *PRODUCTS)
