"""Packed floating-point instructions, mixed ones, and dot products of halves."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.evaluators.hip.emulator.case import Case, case
from tests.evaluators.hip.emulator.floats import F16, F32, Format, add, fma, greater, lesser, mul
from tests.evaluators.hip.emulator.values import pairs

Pair = tuple[float, float]


def _packed(
    name: str,
    form: Format,
    expect: Callable[..., int],
    *,
    low: str = "",
    high: str = "",
    neg_low: str = "",
    neg_high: str = "",
    more: str = "",
) -> Case:
    """expect: of one element. low, high: which element of each operand gives it; neg: its sign."""
    count = expect.__code__.co_argcount - len(expect.__defaults__ or ())
    picks = [_digits(low, 0, count), _digits(high, 1, count)]
    signs = [_digits(neg_low, 0, count), _digits(neg_high, 0, count)]

    def told(*pairs: Pair) -> tuple[tuple[int, ...]]:
        parts = []
        for pick, sign in zip(picks, signs, strict=True):
            taken = [pair[n] for pair, n in zip(pairs, pick, strict=True)]
            parts.append(expect(*(-v if s else v for v, s in zip(taken, sign, strict=True))))
        return (tuple(parts),)

    names = "abc"[:count]
    asm = f"{name} {{d}}, " + ", ".join(f"{{{n}}}" for n in names)
    for word, digits in (
        *(("op_sel", low), ("op_sel_hi", high), ("neg_lo", neg_low), ("neg_hi", neg_high)),
    ):
        asm += f" {word}:[{','.join(digits)}]" if digits else ""
    kind = f"{form.name}x2"
    ins = " ".join(f"{n}={kind}" for n in names)
    return case(asm + more, f"d={kind}", ins, told)


def _digits(text: str, usual: int, count: int) -> list[int]:
    return [int(digit) for digit in text] or [usual] * count


def fma16(a: float, b: float, c: float) -> int:
    return fma(a, b, c, F16)


def add16(a: float, b: float) -> int:
    return add(a, b, F16)


def mul16(a: float, b: float) -> int:
    return mul(a, b, F16)


def fma32(a: float, b: float, c: float) -> int:
    return fma(a, b, c, F32)


def add32(a: float, b: float) -> int:
    return add(a, b, F32)


def mul32(a: float, b: float) -> int:
    return mul(a, b, F32)


def _unit(bits: int) -> int:
    value = F16.decode(bits)
    return 0 if not value > 0 else F16.encode(min(value, 1.0))


def _extreme(name: str, pick: Callable[[int, int, Format], int]) -> Case:
    def told(a: int, b: int) -> int:
        return pick(a & 0xFFFF, b & 0xFFFF, F16) | pick(a >> 16, b >> 16, F16) << 16

    values = {"a": pairs(F16, 1), "b": pairs(F16, 2)}
    return case(f"{name} {{d}}, {{a}}, {{b}}", "d=f16x2", "a=u32 b=u32", told, values=values)


HALVES = (
    _packed("v_pk_add_f16", F16, add16),
    _packed("v_pk_mul_f16", F16, mul16),
    _packed("v_pk_fma_f16", F16, fma16),
    _packed("v_pk_add_f16", F16, add16, low="10", high="01"),
    _packed("v_pk_mul_f16", F16, mul16, low="11", high="00", neg_low="10", neg_high="01"),
    _packed("v_pk_fma_f16", F16, fma16, low="010", high="110", neg_low="001", neg_high="111"),
    _packed("v_pk_fma_f16", F16, lambda a, b, c: _unit(fma16(a, b, c)), more=" clamp"),
    _packed("v_pk_add_f16", F16, lambda a, b: _unit(add16(a, b)), more=" clamp"),
    _extreme("v_pk_min_f16", lesser),
    _extreme("v_pk_max_f16", greater),
    case(
        "v_pk_fmac_f16 {d}, {a}, {b}",
        "d=f16x2<c",
        "a=f16x2 b=f16x2 c=f16x2",
        lambda a, b, c: (tuple(fma16(x, y, z) for x, y, z in zip(a, b, c, strict=True)),),
    ),
    case(
        "v_pk_mul_f16 {d}, {a}, 2.0",
        "d=f16x2",
        "a=f16x2",
        lambda a: ((mul16(a[0], 2.0), mul16(a[1], 0.0)),),
        name="v_pk_mul_f16 with an inline constant, whose upper half is 0",
    ),
    case(
        "v_pk_mul_f16 {d}, {a}, 2.0 op_sel_hi:[1,0]",
        "d=f16x2",
        "a=f16x2",
        lambda a: ((mul16(a[0], 2.0), mul16(a[1], 2.0)),),
    ),
)

WORDS = (
    _packed("v_pk_add_f32", F32, add32),
    _packed("v_pk_mul_f32", F32, mul32),
    _packed("v_pk_fma_f32", F32, fma32),
    _packed("v_pk_add_f32", F32, add32, low="10", high="01"),
    _packed("v_pk_mul_f32", F32, mul32, low="11", high="00", neg_low="10", neg_high="01"),
    _packed("v_pk_fma_f32", F32, fma32, low="010", high="110", neg_low="001", neg_high="111"),
    _packed("v_pk_fma_f32", F32, fma32, low="000", high="011"),
    case(
        "v_pk_fma_f32 {d}, {a}, {b}, {c}",
        "d=f32x2",
        "a=f32x2 b=s.f32x2 c=f32x2",
        lambda a, b, c: (tuple(fma32(x, y, z) for x, y, z in zip(a, b, c, strict=True)),),
        name="v_pk_fma_f32 with an SGPR pair",
    ),
    *(
        case(
            f"v_pk_mov_b32 {{d}}, {{a}}, {{b}} op_sel:[{low},{high}]",
            "d=u64",
            "a=u64 b=u64",
            lambda a, b, low=low, high=high: (
                a >> 32 * low & 0xFFFFFFFF | (b >> 32 * high & 0xFFFFFFFF) << 32
            ),
        )
        for low in (0, 1)
        for high in (0, 1)
    ),
)


def _source(word: int, half: bool, upper: bool) -> float:
    if not half:
        return F32.decode(word)
    return F16.decode(word >> 16 if upper else word & 0xFFFF)


def _mix(name: str, low: str, high: str, signs: str = "   ") -> Case:
    """high: which operands are halves; low: of those, which are upper ones; signs: - or |."""

    def parts(words: tuple[int, ...]) -> list[float]:
        values = []
        for word, upper, half, sign in zip(words, low, high, signs, strict=True):
            value = _source(word, half == "1", upper == "1")
            values.append(-value if sign == "-" else abs(value) if sign == "|" else value)
        return values

    def told(a: int, b: int, c: int, z: int) -> int:
        form = F32 if name == "v_fma_mix_f32" else F16
        x, y, w = parts((a, b, c))
        result = fma(x, y, w, F32)
        if form is F32:
            return result
        half = F16.encode(F32.decode(result))
        return half << 16 | z & 0xFFFF if name.endswith("hi_f16") else z & 0xFFFF0000 | half

    written = ", ".join(
        {"-": f"-{{{n}}}", "|": f"|{{{n}}}|"}.get(sign, f"{{{n}}}")
        for n, sign in zip("abc", signs, strict=True)
    )
    asm = f"{name} {{d}}, {written} op_sel:[{','.join(low)}] op_sel_hi:[{','.join(high)}]"
    kind = "f32" if name == "v_fma_mix_f32" else "f16x2"
    return case(asm, f"d={kind}<z", "a=u32 b=u32 c=u32 z=u32", told, values=_mixed())


def _mixed(rows: int = 256) -> dict[str, Any]:
    """Words that are moderate both as a float32 and as two halves, and a few of any kind."""
    random = np.random.default_rng(21)
    made = {}
    for name in "abcz":
        sign, low = random.integers(0, 2, rows, np.uint64), random.integers(0, 0x7C00, rows)
        field = random.integers(124, 131, rows, np.uint64) << np.uint64(23)
        mantissa = random.integers(0, 1 << 7, rows, np.uint64) << np.uint64(16)
        made[name] = sign << np.uint64(31) | field | mantissa | low.astype(np.uint64)
        some = random.random(rows) < 0.1
        made[name] = np.where(some, random.integers(0, 1 << 32, rows, np.uint64), made[name])
    return made


MIXED = (
    _mix("v_fma_mix_f32", "000", "000"),
    _mix("v_fma_mix_f32", "000", "111"),
    _mix("v_fma_mix_f32", "101", "111"),
    _mix("v_fma_mix_f32", "010", "011"),
    _mix("v_fma_mix_f32", "001", "101", "-| "),
    _mix("v_fma_mixlo_f16", "000", "111"),
    _mix("v_fma_mixlo_f16", "110", "110"),
    _mix("v_fma_mixhi_f16", "011", "111"),
    _mix("v_fma_mixhi_f16", "000", "000", "- -"),
)


def small_halves(seed: int, rows: int = 256) -> Any:
    """Whole numbers from -8 to 8: their products' sums are exact."""
    random = np.random.default_rng(seed)
    bits = random.integers(-8, 9, (2, rows)).astype(np.float16).view(np.uint16).astype(np.uint64)
    return np.asarray(bits[0] | bits[1] << np.uint64(16))


def small_words(seed: int, rows: int = 256) -> Any:
    whole = np.random.default_rng(seed).integers(-1000, 1000, rows)
    return whole.astype(np.float32).view(np.uint32).astype(np.uint64)


def dot(a: Pair, b: Pair, c: float) -> float:
    return a[0] * b[0] + a[1] * b[1] + c


EXACT = {"a": small_halves(1), "b": small_halves(2), "c": small_words(3)}
DOTS = (
    case(
        "v_dot2_f32_f16 {d}, {a}, {b}, {c}",
        "d=f32",
        "a=f16x2 b=f16x2 c=f32",
        dot,
        values=EXACT,
    ),
    case(
        "v_dot2_f32_f16 {d}, {a}, {b}, {c} neg_lo:[1,0,0] neg_hi:[1,1,0]",
        "d=f32",
        "a=f16x2 b=f16x2 c=f32",
        lambda a, b, c: dot((-a[0], a[1]), b, c),
        values=EXACT,
    ),
    case("v_dot2c_f32_f16 {d}, {a}, {b}", "d=f32<c", "a=f16x2 b=f16x2 c=f32", dot, values=EXACT),
)

CASES = (*HALVES, *WORDS, *MIXED, *DOTS)
