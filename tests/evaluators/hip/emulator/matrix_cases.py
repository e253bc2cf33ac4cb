"""Matrix instructions, dense and sparse, on whole numbers so small that every sum is exact."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tests.evaluators.hip.emulator.case import LANES, Array, Case, case

FP8, BF8 = ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz
BF16 = ml_dtypes.bfloat16
KINDS = {1: "u32", 2: "u64", 4: "w4", 8: "w8", 16: "w16", 32: "w32"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """blocks products of (side, depth) by (depth, side). a, b, d: types of the elements."""

    name: str
    side: int
    depth: int
    blocks: int
    a: Any
    b: Any
    d: Any

    def held(self, depth: int) -> int:
        """Elements of A, or of B, that a lane holds."""
        return self.side * depth * self.blocks // LANES

    @property
    def sums(self) -> int:
        return self.side * self.side * self.blocks // LANES

    def words(self, dtype: Any, count: int) -> int:
        return count * int(np.dtype(dtype).itemsize) // 4


def elements(column: Array, words: int, dtype: Any) -> Array:
    """(64, elements) from a column of bits."""
    raw: Array = column.astype(np.uint64 if words == 2 else np.uint32)
    return np.ascontiguousarray(raw.reshape(LANES, -1)).view(dtype)


def column(values: Array, dtype: Any) -> Array:
    """Bits of (64, elements): one number a lane, or dwords."""
    packed = np.ascontiguousarray(values.astype(dtype)).view(np.uint8)
    words = packed.shape[1] // 4
    if words > 2:
        return packed.view(np.uint32).astype(np.uint64)
    return packed.view(np.uint32 if words == 1 else np.uint64).reshape(-1).astype(np.uint64)


def places(one: Shape, depth: int) -> tuple[Array, Array, Array]:
    """Of A's elements by lane: row, k and block. B's are as A's, transposed."""
    lane, element = np.meshgrid(np.arange(LANES), np.arange(one.held(depth)), indexing="ij")
    if one.blocks == 4 and np.dtype(one.a) == np.float64:  # 4x4x4: k is the slowest
        return lane % 4, lane // 16, lane // 4 % 4
    groups = depth // one.held(depth)
    group = lane // one.side
    return lane % one.side, group % groups * one.held(depth) + element, group // groups


def result_places(one: Shape) -> tuple[Array, Array, Array]:
    """Of D's elements by lane: row, column and block."""
    lane, register = np.meshgrid(np.arange(LANES), np.arange(one.sums), indexing="ij")
    if np.dtype(one.d) == np.float64:
        if one.side == 4:
            return lane // 16, lane % 4, lane // 4 % 4
        return 4 * register + lane // 16, lane % 16, 0 * lane
    if one.side == 4:
        return register, lane % 4, lane // 4
    groups = LANES // one.side
    within = register % (one.side * one.side // LANES)
    row = within // 4 * 4 * groups + lane // one.side * 4 + within % 4
    return row, lane % one.side, register // (one.side * one.side // LANES)


def matrices(values: Array, one: Shape, depth: int) -> Array:
    """(blocks, side, depth) of A's registers; of B's, its transpose."""
    made = np.full((one.blocks, one.side, depth), np.nan)
    row, k, block = places(one, depth)
    made[block, row, k] = values.astype(np.float64)
    return made


def product(one: Shape, a: Array, b: Array, start: Array) -> Any:
    """Registers of D: a and b are (blocks, side, depth), start as D's elements."""
    sums = np.einsum("nik,njk->nij", a, b)
    row, col, block = result_places(one)
    told = sums[block, row, col] + start.astype(np.float64)
    return list(column(told, one.d))


def whole(dtype: Any, shape: tuple[int, ...], seed: int) -> Array:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float64).astype(dtype)


def dense(one: Shape, more: str = "", where: str = "v", change: Any = None) -> Case:
    """change: of A's and B's registers before they are multiplied. where: D's registers."""
    held = one.held(one.depth)
    words_a, words_b = one.words(one.a, held), one.words(one.b, held)
    words_d = one.words(one.d, one.sums)

    def expect(a: Array, b: Array, c: Array) -> Any:
        left = matrices(elements(a, words_a, one.a), one, one.depth)
        picked = elements(b, words_b, one.b)
        right_change, left_change = change or (lambda v: v, lambda m: m)
        right = matrices(right_change(picked), one, one.depth)
        return (product(one, left_change(left), right, elements(c, words_d, one.d)),)

    kind = KINDS[words_d]
    return case(
        f"s_nop 7\nv_mfma_{one.name} {{d}}, {{a}}, {{b}}, {{c}}{more}\ns_nop 15\ns_nop 15",
        f"d={where}.{kind}",
        f"a={KINDS[words_a]} b={KINDS[words_b]} c={where}.{kind}",
        expect,
        whole=True,
        values={
            "a": column(whole(one.a, (LANES, held), 1), one.a),
            "b": column(whole(one.b, (LANES, held), 2), one.b),
            "c": column(whole(one.d, (LANES, one.sums), 3), one.d),
        },
        name=f"v_mfma_{one.name}{more}" + (", in AGPRs" if where == "a" else ""),
    )


def from_zero(one: Shape, bare: str, start: float) -> Case:
    """C an inline constant; A and B in AGPRs."""
    held = one.held(one.depth)
    words, words_d = one.words(one.a, held), one.words(one.d, one.sums)

    def expect(a: Array, b: Array) -> Any:
        left, right = (matrices(elements(v, words, one.a), one, one.depth) for v in (a, b))
        return (product(one, left, right, np.full((LANES, one.sums), start)),)

    kind = KINDS[words]
    return case(
        f"s_nop 7\nv_mfma_{one.name} {{d}}, {{a}}, {{b}}, {bare}\ns_nop 15\ns_nop 15",
        f"d={KINDS[words_d]}",
        f"a=a.{kind} b=a.{kind}",
        expect,
        whole=True,
        values={
            "a": column(whole(one.a, (LANES, held), 7), one.a),
            "b": column(whole(one.b, (LANES, held), 8), one.b),
        },
        name=f"v_mfma_{one.name} from {bare}, operands in AGPRs",
    )


def _shape(kind: str, side: int, depth: int, blocks: int, suffix: str, *types: Any) -> Shape:
    a, b, d = types
    text = f"_{blocks}b" if blocks > 1 else ""
    name = f"{kind}_{side}x{side}x{depth}{text}_{suffix}"
    return Shape(name=name, side=side, depth=depth, blocks=blocks, a=a, b=b, d=d)


def _shapes() -> list[Shape]:
    made = []
    for suffix, dtype, d, held in (  # held: by a lane, where there are several blocks
        ("f32", np.float32, np.float32, 1),
        ("f16", np.float16, np.float32, 4),
        ("bf16", BF16, np.float32, 4),
        ("i8", np.int8, np.int32, 4),
    ):
        kind = "i32" if suffix == "i8" else "f32"
        for side, blocks in ((32, 2), (16, 4), (4, 16)):
            made.append(_shape(kind, side, held, blocks, suffix, dtype, dtype, d))
        depth = {"f32": 2, "f16": 8, "bf16": 8, "i8": 16}[suffix]
        made.append(_shape(kind, 32, depth, 1, suffix, dtype, dtype, d))
        made.append(_shape(kind, 16, 2 * depth, 1, suffix, dtype, dtype, d))
    for a, b in ((FP8, FP8), (FP8, BF8), (BF8, FP8), (BF8, BF8)):
        suffix = "_".join("fp8" if one is FP8 else "bf8" for one in (a, b))
        made.append(_shape("f32", 32, 16, 1, suffix, a, b, np.float32))
        made.append(_shape("f32", 16, 32, 1, suffix, a, b, np.float32))
    made.append(_shape("f32", 32, 4, 1, "xf32", np.float32, np.float32, np.float32))
    made.append(_shape("f32", 16, 8, 1, "xf32", np.float32, np.float32, np.float32))
    made.append(_shape("f64", 16, 4, 1, "f64", np.float64, np.float64, np.float64))
    made.append(_shape("f64", 4, 4, 4, "f64", np.float64, np.float64, np.float64))
    return made


SHAPES = {one.name: one for one in _shapes()}


def spread(size: int, at: int) -> Callable[[Array], Array]:
    """cbsz and abid: of every 2**size blocks of A, the one at abid serves all."""
    return lambda m: m[(np.arange(len(m)) >> size << size) + at]


def taken(lanes: Array) -> Callable[[Array], Array]:
    return lambda registers: registers[lanes]


LANE_GROUPS: dict[int, Array] = {
    1: np.arange(LANES) % 32,
    2: np.arange(LANES) % 32 + 32,
    3: (np.arange(LANES) + 16) % 64,
    **{4 + n: np.arange(LANES) % 16 + 16 * n for n in range(4)},
}
"""blgp: which lane of B a lane takes, as AMD's matrix instruction calculator has it."""


def _modified() -> list[Case]:
    made = []
    for name, size, at in (
        ("f32_32x32x1_2b_f32", 1, 1),
        ("f32_16x16x4_4b_f16", 1, 1),
        ("f32_16x16x1_4b_f32", 2, 3),
        ("f32_4x4x4_16b_f16", 4, 9),
        ("f32_4x4x1_16b_f32", 3, 5),
        ("i32_4x4x4_16b_i8", 2, 2),
    ):
        change = (lambda v: v, spread(size, at))
        made.append(dense(SHAPES[name], f" cbsz:{size} abid:{at}", change=change))
    for blgp, lanes in LANE_GROUPS.items():
        for name in ("f32_32x32x1_2b_f32", "f32_16x16x16_f16"):
            made.append(dense(SHAPES[name], f" blgp:{blgp}", change=(taken(lanes), lambda m: m)))
    made += [
        dense(SHAPES["f64_16x16x4_f64"], " neg:[1,0,0]", change=(lambda v: v, lambda m: -m)),
        dense(SHAPES["f64_4x4x4_4b_f64"], " neg:[0,1,0]", change=(lambda v: -v, lambda m: m)),
    ]
    return made


def sparse(one: Shape, more: str = "", chosen: int = 0) -> Case:
    """A holds two of every four along k; chosen: which of an index register's sets tells them."""
    held_a, held_b = one.held(one.depth) // 2, one.held(one.depth)
    words_a, words_b = one.words(one.a, held_a), one.words(one.b, held_b)
    words_d = one.words(one.d, one.sums)
    pairs = held_a // 2
    bits = 4 * pairs  # of a set

    def expect(a: Array, b: Array, c: Array, x: Array) -> Any:
        packed = elements(a, words_a, one.a).astype(np.float64)
        index = x.astype(np.uint64) >> np.uint64(bits * chosen)
        full = np.zeros((LANES, held_b))
        for e in range(held_a):
            k = index >> np.uint64(2 * e) & np.uint64(3)
            full[np.arange(LANES), 4 * (e // 2) + k.astype(int)] += packed[:, e]
        left = matrices(full, one, one.depth)
        right = matrices(elements(b, words_b, one.b), one, one.depth)
        return (product(one, left, right, elements(c, words_d, one.d)),)

    random = np.random.default_rng(9)
    two = np.array([0 | 1 << 2, 0 | 2 << 2, 0 | 3 << 2, 1 | 2 << 2, 1 | 3 << 2, 2 | 3 << 2])
    index = np.zeros(LANES, np.uint64)
    for n in range(8):
        index |= random.choice(two, LANES).astype(np.uint64) << np.uint64(4 * n)
    kind = KINDS[words_d]
    return case(
        f"s_nop 7\nv_smfmac_{one.name} {{d}}, {{a}}, {{b}}, {{x}}{more}\ns_nop 15\ns_nop 15",
        f"d={kind}<c",
        f"a={KINDS[words_a]} b={KINDS[words_b]} c={kind} x=u32",
        expect,
        whole=True,
        values={
            "a": column(whole(one.a, (LANES, held_a), 4), one.a),
            "b": column(whole(one.b, (LANES, held_b), 5), one.b),
            "c": column(whole(one.d, (LANES, one.sums), 6), one.d),
            "x": index,
        },
        name=f"v_smfmac_{one.name}{more}",
    )


def _sparse_shapes() -> dict[str, Shape]:
    made = []
    for suffix, dtype, d, depth in (
        ("f16", np.float16, np.float32, 16),
        ("bf16", BF16, np.float32, 16),
        ("i8", np.int8, np.int32, 32),
    ):
        kind = "i32" if suffix == "i8" else "f32"
        made.append(_shape(kind, 32, depth, 1, suffix, dtype, dtype, d))
        made.append(_shape(kind, 16, 2 * depth, 1, suffix, dtype, dtype, d))
    for a, b in ((FP8, FP8), (FP8, BF8), (BF8, FP8), (BF8, BF8)):
        suffix = "_".join("fp8" if one is FP8 else "bf8" for one in (a, b))
        made.append(_shape("f32", 32, 32, 1, suffix, a, b, np.float32))
        made.append(_shape("f32", 16, 64, 1, suffix, a, b, np.float32))
    return {one.name: one for one in made}


SPARSE = _sparse_shapes()
CASES = (
    *(dense(one) for one in SHAPES.values()),
    *(dense(SHAPES[name], where="a") for name in ("f32_32x32x8_f16", "f64_16x16x4_f64")),
    from_zero(SHAPES["f32_32x32x8_f16"], "0", 0),
    from_zero(SHAPES["f32_16x16x4_f32"], "1.0", 1),
    from_zero(SHAPES["i32_16x16x32_i8"], "-7", -7),
    from_zero(SHAPES["f64_16x16x4_f64"], "0.5", 0.5),
    *_modified(),
    *(sparse(one) for one in SPARSE.values()),
    sparse(SPARSE["f32_16x16x32_f16"], " abid:2", chosen=2),
    sparse(SPARSE["f32_32x32x16_bf16"], " abid:3", chosen=3),
    sparse(SPARSE["i32_16x16x64_i8"], " abid:1", chosen=1),
    sparse(SPARSE["f32_16x16x32_f16"], " cbsz:1 abid:2"),
)
