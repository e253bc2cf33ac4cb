"""Conversions between numbers' formats, but for those of 8 bits."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tests.evaluators.hip.emulator.case import Case, case
from tests.evaluators.hip.emulator.floats import F16, F32, F64, Format
from tests.evaluators.hip.emulator.values import FLOAT_EDGES


def to_int(value: float, low: int, high: int, how: Callable[[float], int] = math.trunc) -> int:
    """Toward zero, saturating; NaN becomes 0."""
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return high if value > 0 else low
    return max(low, min(high, how(value)))


def i32(value: float, how: Callable[[float], int] = math.trunc) -> int:
    return to_int(value, -(1 << 31), (1 << 31) - 1, how)


def u32(value: float) -> int:
    return to_int(value, 0, (1 << 32) - 1)


def half_up(value: float) -> int:
    """floor(value + 0.5)."""
    return math.floor(Fraction(value) + Fraction(1, 2))


def _not_torn(column: Any) -> Any:
    """Without values whose sum with 0.5 depends on when it is rounded."""
    kept = [
        bits
        for bits in column
        if not math.isfinite(value := F32.decode(int(bits)))
        or half_up(value) == math.floor(F32.decode(F32.encode(Fraction(value) + Fraction(1, 2))))
    ]
    return np.resize(np.array(kept, np.uint64), len(column))


def snorm(value: float, form: Format) -> int:
    return to_int(max(-1.0, min(1.0, value)) * 32767, -32767, 32767, round) if value == value else 0


def unorm(value: float, form: Format) -> int:
    return to_int(max(0.0, min(1.0, value)) * 65535, 0, 65535, round) if value == value else 0


def near_whole(form: Format, whole: tuple[float, ...], rows: int = 256) -> Any:
    """Bits about the bounds of integers, halves, and the format's edge cases."""
    told = [form.encode(Fraction(w)) for w in whole if abs(Fraction(w)) <= form.largest]
    near = [bits + step for bits in told for step in (-1, 0, 1)]
    signed = [bits ^ sign for bits in near for sign in (0, form.sign)]
    random = np.random.default_rng(1)
    some = random.integers(0, 1 << form.bits - 1, rows, np.uint64)
    return np.array([*signed, *FLOAT_EDGES[form.name], *some][:rows], np.uint64)


BOUNDS = (
    *(0.25, 0.5, 1.0, 1.5, 2.5, 3.5, 127.0, 128.0, 254.5, 255.0, 255.5, 256.0, 32767.0, 32768.0),
    *(65535.0, 65536.0, 2.0**31 - 1, 2.0**31, 2.0**31 - 128, 2.0**32, 2.0**32 - 256, 2.0**32 - 1),
)


def _from(form: Format, name: str, out: str, expect: Callable[[float], Any]) -> Case:
    return case(
        f"{name} {{d}}, {{a}}",
        f"d={out}",
        f"a={form.name}",
        expect,
        values={"a": near_whole(form, BOUNDS)},
    )


def ubyte(n: int) -> Case:
    return case(
        f"v_cvt_f32_ubyte{n} {{d}}, {{a}}", "d=f32", "a=u32", lambda a: float(a >> 8 * n & 255)
    )


def pk_u8(value: float, at: int, old: int) -> int:
    """Rounded to even and saturated, as HSA's packcvt, which it implements, asks for."""
    shift = 8 * (at & 3)
    return old & ~(0xFF << shift) | to_int(value, 0, 255, round) << shift


TO_INTEGERS = (
    _from(F32, "v_cvt_i32_f32", "i32", i32),
    _from(F32, "v_cvt_u32_f32", "u32", u32),
    _from(F64, "v_cvt_i32_f64", "i32", i32),
    _from(F64, "v_cvt_u32_f64", "u32", u32),
    _from(F16, "v_cvt_i16_f16", "i16", lambda a: to_int(a, -0x8000, 0x7FFF)),
    _from(F16, "v_cvt_u16_f16", "u16", lambda a: to_int(a, 0, 0xFFFF)),
    _from(F32, "v_cvt_flr_i32_f32", "i32", lambda a: i32(a, math.floor)),
    case(
        "v_cvt_rpi_i32_f32 {d}, {a}",
        "d=i32",
        "a=f32",
        lambda a: i32(a, half_up),
        values={"a": _not_torn(near_whole(F32, BOUNDS))},
    ),
    _from(F16, "v_cvt_norm_i16_f16", "i16", lambda a: snorm(a, F16)),
    _from(F16, "v_cvt_norm_u16_f16", "u16", lambda a: unorm(a, F16)),
    case(
        "v_cvt_pk_u8_f32 {d}, {a}, {b}, {c}",
        "d=u32",
        "a=f32 b=u32 c=u32",
        pk_u8,
        values={
            "a": near_whole(F32, BOUNDS),
            "b": np.arange(256, dtype=np.uint64),
            "c": np.random.default_rng(2).integers(0, 1 << 32, 256, np.uint64),
        },
    ),
    *(
        case(
            f"v_cvt_pknorm_{kind}_{form.name} {{d}}, {{a}}, {{b}}",
            "d=u32",
            f"a={form.name} b={form.name}",
            lambda a, b, norm=norm, form=form: (
                norm(a, form) & 0xFFFF | (norm(b, form) & 0xFFFF) << 16
            ),
        )
        for form in (F32, F16)
        for kind, norm in (("i16", snorm), ("u16", unorm))
    ),
)

TO_FLOATS = (
    case("v_cvt_f32_i32 {d}, {a}", "d=f32", "a=i32", lambda a: F32.encode(Fraction(a))),
    case("v_cvt_f32_u32 {d}, {a}", "d=f32", "a=u32", lambda a: F32.encode(Fraction(a))),
    case("v_cvt_f64_i32 {d}, {a}", "d=f64", "a=i32", float),
    case("v_cvt_f64_u32 {d}, {a}", "d=f64", "a=u32", float),
    case("v_cvt_f16_i16 {d}, {a}", "d=f16", "a=i16", lambda a: F16.encode(Fraction(a))),
    case("v_cvt_f16_u16 {d}, {a}", "d=f16", "a=u16", lambda a: F16.encode(Fraction(a))),
    *(ubyte(n) for n in range(4)),
    case(
        "v_cvt_off_f32_i4 {d}, {a}",
        "d=f32",
        "a=u32",
        lambda a: ((a & 7) - (a & 8)) / 16,
    ),
)


def _narrow_values(wide: Format, narrow: Format) -> dict[str, Any]:
    """Exact values of the narrow format, the ties between them, and their neighbours."""
    random = np.random.default_rng(3)
    some = [int(n) for n in random.integers(0, narrow.infinity, 50)]
    edge = [0, 1, 2, 3, (1 << narrow.mantissa) - 1, 1 << narrow.mantissa, narrow.infinity - 1]
    values = []
    for bits in [*edge, *some]:
        low = Fraction(narrow.decode(bits))
        over = narrow.decode(bits + 1)
        high = 2 * low - Fraction(narrow.decode(bits - 1)) if math.isinf(over) else Fraction(over)
        middle = wide.encode((low + high) / 2)
        values += [wide.encode(low), middle, middle - 1, middle + 1]
    values += [wide.infinity, wide.infinity - 1, wide.nan, 1, wide.infinity | 1]
    signed = [bits | (wide.sign if n % 2 else 0) for n, bits in enumerate(values)]
    signed += [0] * (-len(signed) % 64)
    return {"a": np.array(signed, np.uint64)}


WIDTHS = (
    case(
        "v_cvt_f16_f32 {d}, {a}",
        "d=f16",
        "a=f32",
        F16.encode,
        values=_narrow_values(F32, F16),
    ),
    case("v_cvt_f32_f16 {d}, {a}", "d=f32", "a=f16", lambda a: a),
    case(
        "v_cvt_f32_f64 {d}, {a}",
        "d=f32",
        "a=f64",
        F32.encode,
        values=_narrow_values(F64, F32),
    ),
    case("v_cvt_f64_f32 {d}, {a}", "d=f64", "a=f32", lambda a: a),
    case(
        "v_cvt_pkrtz_f16_f32 {d}, {a}, {b}",
        "d=f16x2",
        "a=f32 b=f32",
        lambda a, b: ((F16.encode(a, "zero"), F16.encode(b, "zero")),),
        values=(both := _narrow_values(F32, F16)) | {"b": both["a"][::-1].copy()},
    ),
    case("v_cvt_f16_f32 {d}, -|{a}|", "d=f16", "a=f32", lambda a: F16.encode(-abs(a))),
    case("v_cvt_f32_f16 {d}, -{a}", "d=f32", "a=f16", lambda a: -a),
    case("v_cvt_i32_f32 {d}, -{a}", "d=i32", "a=f32", lambda a: i32(-a)),
    case(
        "v_cvt_f32_i32 {d}, {a} clamp",
        "d=f32",
        "a=i32",
        lambda a: max(0.0, min(1.0, float(a))),
    ),
)

CASES = (*TO_INTEGERS, *TO_FLOATS, *WIDTHS)
