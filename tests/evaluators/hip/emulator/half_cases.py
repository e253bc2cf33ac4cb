"""Integer instructions of 16 bits, packed ones, and dot products."""

from collections.abc import Callable, Iterable
from typing import Any

from tests.evaluators.hip.emulator.case import Case, case
from tests.evaluators.hip.emulator.integer_cases import bytes_of, med3, sext

M16 = 0xFFFF


def _two(name: str, kind: str, expect: Callable[[int, int], int]) -> Case:
    """The result's upper half is zero."""
    return case(f"{name} {{d}}, {{a}}, {{b}}", f"d={kind}", f"a={kind} b={kind}", expect)


def _keeping(name: str, kind: str, expect: Callable[[int, int, int], int]) -> Case:
    """Of three operands, on gfx9: the result's upper half is kept."""

    def told(a: int, b: int, c: int, z: int) -> int:
        return z & ~M16 | expect(a, b, c) & M16

    asm = f"{name} {{d}}, {{a}}, {{b}}, {{c}}"
    return case(asm, "d=u32<z", f"a={kind} b={kind} c={kind} z=u32", told)


def halves(word: int, kind: str = "u16") -> tuple[int, int]:
    low, high = word & M16, word >> 16 & M16
    return (low, high) if kind == "u16" else (sext(low, 16), sext(high, 16))


def joined(low: int, high: int) -> int:
    return low & M16 | (high & M16) << 16


def _packed(name: str, kind: str, count: int, expect: Callable[..., int]) -> Case:
    def told(*words: int) -> int:
        parts = [halves(word, kind) for word in words]
        return joined(*(expect(*(part[n] for part in parts)) for n in (0, 1)))

    names = "abc"[:count]
    asm = f"{name} {{d}}, " + ", ".join(f"{{{n}}}" for n in names)
    return case(asm, "d=u32", " ".join(f"{n}=u32" for n in names), told)


def _selected(name: str, kind: str, low: str, high: str, expect: Callable[..., int]) -> Case:
    """op_sel tells which half gives the low result, op_sel_hi which the high one."""
    picks = [tuple(map(int, text.split(","))) for text in (low, high)]

    def told(*words: int) -> int:
        parts = [halves(word, kind) for word in words]
        return joined(
            *(expect(*(part[n] for part, n in zip(parts, pick, strict=True))) for pick in picks)
        )

    names = "abc"[: len(picks[0])]
    asm = f"{name} {{d}}, " + ", ".join(f"{{{n}}}" for n in names)
    asm += f" op_sel:[{low}] op_sel_hi:[{high}]"
    return case(asm, "d=u32", " ".join(f"{n}=u32" for n in names), told)


def _clamped(value: int, kind: str) -> int:
    return max(min(value, M16), 0) if kind == "u16" else max(min(value, 0x7FFF), -0x8000)


def dot(xs: Iterable[int], ys: Iterable[int], start: int) -> int:
    return start + sum(x * y for x, y in zip(xs, ys, strict=True))


def signed_bytes(word: int) -> list[int]:
    return [sext(byte, 8) for byte in bytes_of(word)]


def nibbles(word: int, *, signed: bool) -> list[int]:
    parts = [word >> 4 * n & 15 for n in range(8)]
    return [sext(part, 4) for part in parts] if signed else parts


SINGLE = (
    _two("v_add_u16", "u16", lambda a, b: a + b),
    _two("v_sub_u16", "u16", lambda a, b: a - b),
    _two("v_subrev_u16", "u16", lambda a, b: b - a),
    _two("v_mul_lo_u16", "u16", lambda a, b: a * b),
    _two("v_lshlrev_b16", "u16", lambda a, b: b << a % 16),
    _two("v_lshrrev_b16", "u16", lambda a, b: b >> a % 16),
    _two("v_ashrrev_i16", "i16", lambda a, b: b >> a % 16),
    _two("v_min_u16", "u16", min),
    _two("v_max_u16", "u16", max),
    _two("v_min_i16", "i16", min),
    _two("v_max_i16", "i16", max),
    _keeping("v_mad_u16", "u16", lambda a, b, c: a * b + c),
    _keeping("v_mad_i16", "i16", lambda a, b, c: a * b + c),
    # As processors before gfx9 have it: the upper half becomes 0.
    *(
        case(
            f"v_mad_legacy_{kind} {{d}}, {{a}}, {{b}}, {{c}}",
            "d=u32",
            "a=u32 b=u32 c=u32",
            lambda a, b, c: a * b + c & M16,
        )
        for kind in ("u16", "i16")
    ),
    _keeping("v_min3_i16", "i16", min),
    _keeping("v_max3_i16", "i16", max),
    _keeping("v_med3_i16", "i16", med3),
    _keeping("v_min3_u16", "u16", min),
    _keeping("v_max3_u16", "u16", max),
    _keeping("v_med3_u16", "u16", med3),
    case(
        "v_mad_u16 {d}, {a}, {b}, {c} op_sel:[1,0,1,1]",
        "d=u32<z",
        "a=u32 b=u32 c=u32 z=u32",
        lambda a, b, c, z: joined(z, (a >> 16) * (b & M16) + (c >> 16)),
    ),
    case(
        "v_mad_i16 {d}, {a}, {b}, {c} op_sel:[0,1,0,0]",
        "d=u32<z",
        "a=u32 b=u32 c=u32 z=u32",
        lambda a, b, c, z: joined(sext(a, 16) * sext(b >> 16, 16) + sext(c, 16), z >> 16),
    ),
    case(
        "v_add_i16 {d}, {a}, {b} op_sel:[1,0,1]",
        "d=u32<z",
        "a=u32 b=u32 z=u32",
        lambda a, b, z: joined(z, (a >> 16) + b),
    ),
    case("v_add_u16 {d}, {a}, {b} clamp", "d=u16", "a=u16 b=u16", lambda a, b: min(a + b, M16)),
    case("v_sub_u16 {d}, {a}, {b} clamp", "d=u16", "a=u16 b=u16", lambda a, b: max(a - b, 0)),
    case("v_pack_b32_f16 {d}, {a}, {b}", "d=u32", "a=u32 b=u32", joined),
    case(
        "v_pack_b32_f16 {d}, {a}, {b} op_sel:[1,0,0]",
        "d=u32",
        "a=u32 b=u32",
        lambda a, b: joined(a >> 16, b),
    ),
    case(
        "v_sat_pk_u8_i16 {d}, {a}",
        "d=u32",
        "a=u32",
        lambda a: sum(max(min(h, 255), 0) << 8 * n for n, h in enumerate(halves(a, "i16"))),
    ),
)

PACKED = (
    _packed("v_pk_add_u16", "u16", 2, lambda a, b: a + b),
    _packed("v_pk_sub_u16", "u16", 2, lambda a, b: a - b),
    _packed("v_pk_add_i16", "i16", 2, lambda a, b: a + b),
    _packed("v_pk_sub_i16", "i16", 2, lambda a, b: a - b),
    _packed("v_pk_mul_lo_u16", "u16", 2, lambda a, b: a * b),
    _packed("v_pk_mad_u16", "u16", 3, lambda a, b, c: a * b + c),
    _packed("v_pk_mad_i16", "i16", 3, lambda a, b, c: a * b + c),
    _packed("v_pk_lshlrev_b16", "u16", 2, lambda a, b: b << a % 16),
    _packed("v_pk_lshrrev_b16", "u16", 2, lambda a, b: b >> a % 16),
    _packed("v_pk_ashrrev_i16", "i16", 2, lambda a, b: b >> a % 16),
    _packed("v_pk_min_u16", "u16", 2, min),
    _packed("v_pk_max_u16", "u16", 2, max),
    _packed("v_pk_min_i16", "i16", 2, min),
    _packed("v_pk_max_i16", "i16", 2, max),
    _selected("v_pk_add_u16", "u16", "1,0", "0,1", lambda a, b: a + b),
    _selected("v_pk_sub_i16", "i16", "1,1", "0,0", lambda a, b: a - b),
    _selected("v_pk_mad_u16", "u16", "0,1,0", "1,1,0", lambda a, b, c: a * b + c),
    _selected("v_pk_lshlrev_b16", "u16", "0,0", "0,1", lambda a, b: b << a % 16),
    *(
        case(
            f"v_pk_{name}_{kind} {{d}}, {{a}}, {{b}} clamp",
            "d=u32",
            "a=u32 b=u32",
            lambda a, b, f=f, kind=kind: joined(
                *(
                    _clamped(f(x, y), kind)
                    for x, y in zip(halves(a, kind), halves(b, kind), strict=True)
                )
            ),
        )
        for kind in ("u16", "i16")
        for name, f in (("add", lambda a, b: a + b), ("sub", lambda a, b: a - b))
    ),
    case(
        "v_pk_add_u16 {d}, {a}, 7",
        "d=u32",
        "a=u32",
        lambda a: joined((a & M16) + 7, (a >> 16) + 0),
        name="v_pk_add_u16 with an inline constant, whose upper half is 0",
    ),
    case(
        "v_pk_add_u16 {d}, {a}, -5",
        "d=u32",
        "a=u32",
        lambda a: joined((a & M16) + 0xFFFB, (a >> 16) + M16),
        name="v_pk_add_u16 with an inline constant, extended to 32 bits",
    ),
    case(
        "v_pk_add_u16 {d}, {a}, 7 op_sel_hi:[1,0]",
        "d=u32",
        "a=u32",
        lambda a: joined((a & M16) + 7, (a >> 16) + 7),
    ),
)


def _dot(name: str, expect: Callable[[int, int, int], int]) -> Case:
    kind = "u32"
    return case(f"{name} {{d}}, {{a}}, {{b}}, {{c}}", f"d={kind}", "a=u32 b=u32 c=u32", expect)


def _signed(parts: Callable[[int], Iterable[int]]) -> Any:
    return lambda a, b, c: dot(parts(a), parts(b), sext(c, 32))


DOTS = (
    _dot("v_dot4_i32_i8", _signed(signed_bytes)),
    _dot("v_dot4_u32_u8", lambda a, b, c: dot(bytes_of(a), bytes_of(b), c)),
    _dot("v_dot8_i32_i4", _signed(lambda word: nibbles(word, signed=True))),
    _dot(
        "v_dot8_u32_u4",
        lambda a, b, c: dot(nibbles(a, signed=False), nibbles(b, signed=False), c),
    ),
    _dot("v_dot2_i32_i16", _signed(lambda word: halves(word, "i16"))),
    _dot("v_dot2_u32_u16", lambda a, b, c: dot(halves(a), halves(b), c)),
    *(
        case(f"{name} {{d}}, {{a}}, {{b}}", "d=u32<c", "a=u32 b=u32 c=u32", _signed(parts))
        for name, parts in (
            ("v_dot4c_i32_i8", signed_bytes),
            ("v_dot8c_i32_i4", lambda word: nibbles(word, signed=True)),
            ("v_dot2c_i32_i16", lambda word: halves(word, "i16")),
        )
    ),
    case(
        "v_dot4_i32_i8 {d}, {a}, {b}, {c} clamp",
        "d=u32",
        "a=u32 b=u32 c=u32",
        lambda a, b, c: max(
            min(dot(signed_bytes(a), signed_bytes(b), sext(c, 32)), (1 << 31) - 1), -(1 << 31)
        ),
    ),
    case(
        "v_dot4_u32_u8 {d}, {a}, {b}, {c} clamp",
        "d=u32",
        "a=u32 b=u32 c=u32",
        lambda a, b, c: min(dot(bytes_of(a), bytes_of(b), c), (1 << 32) - 1),
    ),
)

CASES = (*SINGLE, *PACKED, *DOTS)
