"""Instructions of the scalar ALU, with SCC."""

import operator
from collections.abc import Callable
from typing import Any

from tests.evaluators.hip.emulator.case import Case, case
from tests.evaluators.hip.emulator.integer_cases import brev, sext

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1
MASK = {"u32": M32, "i32": M32, "u64": M64, "i64": M64}


def scalar(asm: str, outs: str, ins: str, expect: Callable[..., Any], **more: Any) -> Case:
    """One thread a block; operands in SGPRs."""

    def placed(text: str) -> str:
        return " ".join(
            part if part.endswith("scc") or "." in part else part.replace("=", "=s.")
            for part in text.split()
        )

    return case(asm, placed(outs), placed(ins), expect, lanes=1, **more)


def two(
    name: str, kind: str, expect: Callable[..., int], *, scc: str = "nonzero", b: str = ""
) -> Case:
    """scc: what it is afterwards; nonzero is of the result, kept is as before."""
    mask = MASK[kind]

    def told(a: int, b: int, c: int) -> tuple[int, int]:
        result = expect(a, b)
        return result, int(result & mask != 0) if scc == "nonzero" else c

    ins = f"a={kind} b={b or kind} c=scc"
    return scalar(f"{name} {{d}}, {{a}}, {{b}}", f"d={kind} e=scc", ins, told)


def carrying(name: str, kind: str, expect: Callable[..., tuple[int, Any]]) -> Case:
    """expect: the result and SCC, of both operands and SCC."""
    ins = f"a={kind} b={kind} c=scc"
    return scalar(f"{name} {{d}}, {{a}}, {{b}}", f"d={kind} e=scc", ins, expect)


def one(name: str, out: str, kind: str, expect: Callable[..., int], *, scc: bool = False) -> Case:
    def told(a: int, c: int) -> tuple[int, int]:
        result = expect(a)
        return result, int(result & MASK[out] != 0) if scc else c

    return scalar(f"{name} {{d}}, {{a}}", f"d={out} e=scc", f"a={kind} c=scc", told)


def _fits(value: int) -> bool:
    return -(1 << 31) <= value < 1 << 31


def bfe(value: int, control: int, bits: int) -> int:
    start, width = control & bits - 1, control >> 16 & 127
    return (value & (1 << bits) - 1) >> start & (1 << width) - 1


def bfe_i(value: int, control: int, bits: int) -> int:
    width = min(control >> 16 & 127, bits)
    taken = value >> (control & bits - 1)
    return sext(taken, width)


def bfm(a: int, b: int, bits: int) -> int:
    return (1 << (a & bits - 1)) - 1 << (b & bits - 1)


def first_one(value: int) -> int:
    return (value & -value).bit_length() - 1


def leading(value: int, bits: int) -> int:
    return bits - value.bit_length() if value else -1


def leading_same(value: int, bits: int) -> int:
    other = ~value if value >> bits - 1 & 1 else value
    other &= (1 << bits) - 1
    return bits - other.bit_length() if other else -1


def quads(value: int, bits: int) -> int:
    return sum(bool(value >> 4 * n & 15) << n for n in range(bits // 4))


def whole_quads(value: int, bits: int) -> int:
    return sum(15 << 4 * n for n in range(bits // 4) if value >> 4 * n & 15)


LOGIC: dict[str, Callable[[int, int], int]] = {
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "andn2": lambda a, b: a & ~b,
    "orn2": lambda a, b: a | ~b,
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
}

ARITHMETIC = (
    carrying("s_add_u32", "u32", lambda a, b, c: (a + b, a + b > M32)),
    carrying("s_sub_u32", "u32", lambda a, b, c: (a - b, b > a)),
    carrying("s_add_i32", "i32", lambda a, b, c: (a + b, not _fits(a + b))),
    carrying("s_sub_i32", "i32", lambda a, b, c: (a - b, not _fits(a - b))),
    carrying("s_addc_u32", "u32", lambda a, b, c: (a + b + c, a + b + c > M32)),
    carrying("s_subb_u32", "u32", lambda a, b, c: (a - b - c, b + c > a)),
    carrying("s_min_i32", "i32", lambda a, b, c: (min(a, b), a < b)),
    carrying("s_min_u32", "u32", lambda a, b, c: (min(a, b), a < b)),
    carrying("s_max_i32", "i32", lambda a, b, c: (max(a, b), a >= b)),
    carrying("s_max_u32", "u32", lambda a, b, c: (max(a, b), a >= b)),
    two("s_mul_i32", "u32", operator.mul, scc="kept"),
    two("s_mul_hi_u32", "u32", lambda a, b: a * b >> 32, scc="kept"),
    two("s_mul_hi_i32", "i32", lambda a, b: a * b >> 32, scc="kept"),
    two("s_absdiff_i32", "i32", lambda a, b: abs(sext(a - b, 32))),
    *(
        carrying(
            f"s_lshl{n}_add_u32",
            "u32",
            lambda a, b, c, n=n: ((a << n) + b, (a << n) + b > M32),
        )
        for n in (1, 2, 3, 4)
    ),
    one("s_abs_i32", "i32", "i32", abs, scc=True),
)

BITS = (
    *(two(f"s_{name}_b{bits}", f"u{bits}", f) for bits in (32, 64) for name, f in LOGIC.items()),
    two("s_lshl_b32", "u32", lambda a, b: a << b % 32),
    two("s_lshr_b32", "u32", lambda a, b: a >> b % 32),
    two("s_ashr_i32", "i32", lambda a, b: a >> b % 32),
    two("s_lshl_b64", "u64", lambda a, b: a << b % 64, b="u32"),
    two("s_lshr_b64", "u64", lambda a, b: a >> b % 64, b="u32"),
    two("s_ashr_i64", "i64", lambda a, b: a >> b % 64, b="u32"),
    two("s_bfm_b32", "u32", lambda a, b: bfm(a, b, 32), scc="kept"),
    scalar("s_bfm_b64 {d}, {a}, {b}", "d=u64", "a=u32 b=u32", lambda a, b: bfm(a, b, 64)),
    *(
        scalar(
            f"s_bfe_{sign}{bits} {{d}}, {{a}}, {{b}}",
            f"d={sign}{bits} e=scc",
            f"a={sign}{bits} s=u32 w=u32 b=u32:[(s%{bits}u)|((w%{bits + 1}u)<<16)] c=scc",
            lambda a, s, w, c, f=f, bits=bits: _with_scc(
                f(a, s % bits | w % (bits + 1) << 16, bits), bits
            ),
        )
        for bits in (32, 64)
        for sign, f in (("u", bfe), ("i", bfe_i))
    ),
    two("s_pack_ll_b32_b16", "u32", lambda a, b: a & 0xFFFF | b << 16, scc="kept"),
    two("s_pack_lh_b32_b16", "u32", lambda a, b: a & 0xFFFF | b & 0xFFFF0000, scc="kept"),
    two("s_pack_hh_b32_b16", "u32", lambda a, b: a >> 16 | b & 0xFFFF0000, scc="kept"),
)


def _with_scc(result: int, bits: int) -> tuple[int, bool]:
    return result, result & (1 << bits) - 1 != 0


UNARY = (
    one("s_mov_b32", "u32", "u32", lambda a: a),
    one("s_mov_b64", "u64", "u64", lambda a: a),
    one("s_not_b32", "u32", "u32", lambda a: ~a, scc=True),
    one("s_not_b64", "u64", "u64", lambda a: ~a, scc=True),
    one("s_brev_b32", "u32", "u32", brev),
    one("s_brev_b64", "u64", "u64", lambda a: brev(a, 64)),
    *(
        case_
        for bits in (32, 64)
        for case_ in (
            one(
                f"s_wqm_b{bits}",
                f"u{bits}",
                f"u{bits}",
                lambda a, n=bits: whole_quads(a, n),
                scc=True,
            ),
            one(
                f"s_quadmask_b{bits}",
                f"u{bits}",
                f"u{bits}",
                lambda a, n=bits: quads(a, n),
                scc=True,
            ),
            one(
                f"s_bcnt0_i32_b{bits}",
                "u32",
                f"u{bits}",
                lambda a, n=bits: n - a.bit_count(),
                scc=True,
            ),
            one(f"s_bcnt1_i32_b{bits}", "u32", f"u{bits}", lambda a: a.bit_count(), scc=True),
            one(
                f"s_ff0_i32_b{bits}",
                "u32",
                f"u{bits}",
                lambda a, n=bits: first_one(~a & (1 << n) - 1),
            ),
            one(f"s_ff1_i32_b{bits}", "u32", f"u{bits}", first_one),
            one(f"s_flbit_i32_b{bits}", "u32", f"u{bits}", lambda a, n=bits: leading(a, n)),
        )
    ),
    one("s_flbit_i32", "u32", "u32", lambda a: leading_same(a, 32)),
    one("s_flbit_i32_i64", "u32", "u64", lambda a: leading_same(a, 64)),
    one("s_sext_i32_i8", "i32", "u32", lambda a: sext(a, 8)),
    one("s_sext_i32_i16", "i32", "u32", lambda a: sext(a, 16)),
    one(
        "s_bitreplicate_b64_b32",
        "u64",
        "u32",
        lambda a: sum((a >> n & 1) * 3 << 2 * n for n in range(32)),
    ),
    *(
        scalar(
            f"s_bitset{to}_b{bits} {{d}}, {{a}}",
            f"d=u{bits}<z",
            f"a=u32 z=u{bits}",
            lambda a, z, to=to, n=bits: z | 1 << a % n if to else z & ~(1 << a % n),
        )
        for to in (0, 1)
        for bits in (32, 64)
    ),
)

SELECTS = (
    scalar(
        "s_cselect_b32 {d}, {a}, {b}", "d=u32", "a=u32 b=u32 c=scc", lambda a, b, c: a if c else b
    ),
    scalar(
        "s_cselect_b64 {d}, {a}, {b}", "d=u64", "a=u64 b=u64 c=scc", lambda a, b, c: a if c else b
    ),
    scalar("s_cmov_b32 {d}, {a}", "d=u32<z", "a=u32 z=u32 c=scc", lambda a, z, c: a if c else z),
    scalar("s_cmov_b64 {d}, {a}", "d=u64<z", "a=u64 z=u64 c=scc", lambda a, z, c: a if c else z),
    scalar("s_cmovk_i32 {d}, -300", "d=u32<z", "z=u32 c=scc", lambda z, c: -300 if c else z),
    scalar("s_movk_i32 {d}, -32768", "d=u32", "c=scc", lambda c: -32768),
    scalar(
        "s_addk_i32 {d}, 0x7fff",
        "d=i32<z e=scc",
        "z=i32",
        lambda z: (z + 0x7FFF, not _fits(z + 0x7FFF)),
    ),
    scalar("s_addk_i32 {d}, -5", "d=i32<z e=scc", "z=i32", lambda z: (z - 5, not _fits(z - 5))),
    scalar(
        "s_mulk_i32 {d}, -300",
        "d=i32<z e=scc",
        "z=i32 c=scc",
        lambda z, c: (z * -300, c),
    ),
    scalar("s_add_u32 {d}, {a}, 0xdeadbeef", "d=u32", "a=u32", lambda a: a + 0xDEADBEEF),
    scalar("s_and_b64 {d}, {a}, -16", "d=u64", "a=u64", lambda a: a & ~15),
    scalar("s_or_b32 {d}, {a}, 1.0", "d=u32", "a=u32", lambda a: a | 0x3F800000),
)

CASES = (*ARITHMETIC, *BITS, *UNARY, *SELECTS)
