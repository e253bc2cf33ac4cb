"""Kernels as people write them: lanes that talk, blocks that wait, memory of every kind."""

from typing import Any

import numpy as np

from tests.evaluators.hip.emulator.real_case import (
    INTS,
    LANES,
    SMALL,
    Array,
    Real,
    one,
    waves,
    zeros,
)


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
FOUR: dict[str, Any] = {"block": (256, 1, 1)}

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
TOTAL = INTS[:1024].sum(dtype=np.int32)
MET = TOTAL + max(0, int((INTS[:1024] ^ TOTAL).max()))
SIXTEEN: dict[str, Any] = {"grid": (16, 1, 1)}

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
    *(
        one(
            *("waiting", entry),
            {"x": INTS[:64], "y": zeros(64)},
            {"y": INTS[:64][::-1]},
            block=(128, 1, 1),
        )
        for entry in ("volatile_flag", "released_flag")
    ),
    one(
        *("waiting", "ring"),
        {"x": INTS[:1024], "y": zeros(1024)},
        {"y": waves(INTS[:1024])[:, ::-1]},
        block=(128, 1, 1),
    ),
    *(
        one("waiting", entry, {"y": zeros(1)}, {"y": 64 * 28 + 8}, block=(512, 1, 1))
        for entry in ("lock_in_lds", "lock_looked_at")
    ),
    one(
        *("waiting", "flag_in_memory"),
        {"x": INTS[:64], "y": zeros(64), "flag": zeros(1)},
        {"y": INTS[:64][::-1]},
        block=(128, 1, 1),
    ),
    one(
        *("waiting", "hashed"),
        {"x": INTS[:512], "y": zeros(256)},
        {"y": np.full(256, np.unique(INTS[:512]).size)},
        **FOUR,
    ),
    one(
        *("waiting", "producer_sleeps"),
        {"x": INTS[:512], "y": zeros(512)},
        {"y": waves(INTS[:512])[:, ::-1]},
        **FOUR,
    ),
    one(
        *("waiting", "grid_meets"),
        {"x": INTS[:1024], "y": zeros(1024), "sums": zeros(2)},
        {"y": np.full(1024, MET)},
        cooperative=True,
        **SIXTEEN,
    ),
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
