"""Matrix instructions, dense and sparse, on whole numbers so small that every sum is exact."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tests.evaluators.hip.emulator.case import LANES, Array, Case, case
from tests.evaluators.hip.emulator.matrix_layout import (
    Shape,
    column,
    elements,
    matrices,
    product,
    whole,
)

FP8, BF8 = ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz
BF16 = ml_dtypes.bfloat16
KINDS = {1: "u32", 2: "u64", 4: "w4", 8: "w8", 16: "w16", 32: "w32"}


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


def _special(one: Shape, what: str, a: Array, b: Array) -> Case:
    """With chosen registers; C is 0. Every sum is exact, so its order does not matter."""
    held = one.held(one.depth)
    words_a, words_b = one.words(one.a, held), one.words(one.b, held)

    def expect(x: Array, y: Array) -> Any:
        left = matrices(elements(x, words_a, one.a), one, one.depth)
        right = matrices(elements(y, words_b, one.b), one, one.depth)
        return (product(one, left, right, np.zeros((LANES, one.sums))),)

    return case(
        f"s_nop 7\nv_mfma_{one.name} {{d}}, {{a}}, {{b}}, 0\ns_nop 15\ns_nop 15",
        f"d={KINDS[one.words(one.d, one.sums)]}",
        f"a={KINDS[words_a]} b={KINDS[words_b]}",
        expect,
        whole=True,
        values={"a": column(a, one.a), "b": column(b, one.b)},
        name=f"v_mfma_{one.name} of {what}",
    )


def _specials() -> list[Case]:
    """MI300 keeps denormals in its matrix instructions, as MI200 does not."""
    made = []
    for name, least in (
        ("f32_32x32x8_f16", 2.0**-24),
        ("f32_16x16x16_bf16", 2.0**-133),
        ("f32_16x16x4_f32", 2.0**-149),
        ("f32_16x16x32_fp8_fp8", 2.0**-10),
        ("f32_32x32x16_bf8_bf8", 2.0**-17),
        ("f64_16x16x4_f64", 2.0**-1074),
    ):
        one = SHAPES[name]
        shape = (LANES, one.held(one.depth))
        few = np.random.default_rng(41).integers(-3, 4, shape).astype(np.float64)
        tiny = few * least
        made.append(_special(one, "denormals", tiny, np.ones(shape) * 4))
        if name in ("f32_32x32x8_f16", "f32_16x16x16_bf16", "f32_16x16x4_f32", "f64_16x16x4_f64"):
            endless = np.abs(few) + 1
            endless[5] = np.inf
            made.append(_special(one, "infinities", endless, np.abs(few) + 2))
    return made


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
    *_specials(),
    *(sparse(one) for one in SPARSE.values()),
    sparse(SPARSE["f32_16x16x32_f16"], " abid:2", chosen=2),
    sparse(SPARSE["f32_32x32x16_bf16"], " abid:3", chosen=3),
    sparse(SPARSE["i32_16x16x64_i8"], " abid:1", chosen=1),
    sparse(SPARSE["f32_16x16x32_f16"], " cbsz:1 abid:2"),
)
