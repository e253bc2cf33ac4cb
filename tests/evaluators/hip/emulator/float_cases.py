"""Floating-point instructions of the vector ALU that are exact or rounded once."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tests.evaluators.hip.emulator.case import LANES, Case, case, operands
from tests.evaluators.hip.emulator.floats import (
    F16,
    F32,
    F64,
    FORMATS,
    Format,
    add,
    below_one,
    fma,
    greater,
    lesser,
    median,
    mul,
)
from tests.evaluators.hip.emulator.values import inputs, pairs

RAW = {"f16": "u16", "f32": "u32", "f64": "u64"}


def bits(value: float, form: Format) -> int:
    """Of a value that the format holds."""
    return form.encode(value)


def _two(name: str, form: Format, expect: Callable[..., Any]) -> Case:
    kind = form.name
    return case(f"{name}_{kind} {{d}}, {{a}}, {{b}}", f"d={kind}", f"a={kind} b={kind}", expect)


def _raw(name: str, form: Format, names: str, expect: Callable[..., int]) -> Case:
    """On bits, as signalling NaNs and zeros' signs count."""
    sources = ", ".join(f"{{{n}}}" for n in names)
    ins = " ".join(f"{n}={RAW[form.name]}" for n in names)
    kept = form is F16 and len(names) == 3  # the upper half; see below
    asm = f"{name}_{form.name} {{d}}, {sources}"
    given = operands(" ".join(f"{n}={form.name}" for n in names))
    values = dict(zip(names, inputs(given, 4 * LANES, seed=len(names)), strict=True))
    return case(asm, f"d={form.name}", ins, expect, low_only=kept, values=values)


def fract(value: float, form: Format) -> float:
    if math.isnan(value) or math.isinf(value):
        return math.nan
    rest = Fraction(value) - math.floor(value)
    # The guide: the result is below 1, whatever rounding does.
    return min(form.decode(form.encode(rest)), below_one(form))


def whole(value: float, how: Callable[[float], float]) -> float:
    if math.isnan(value) or math.isinf(value):
        return value
    return math.copysign(float(how(value)), value)


def ldexp(value: float, power: int, form: Format) -> int:
    if math.isnan(value) or math.isinf(value) or value == 0:
        return form.encode(value)
    return form.encode(Fraction(value) * Fraction(2) ** max(min(power, 5000), -5000))


def frexp_mantissa(value: float) -> float:
    return value if math.isnan(value) or math.isinf(value) else math.frexp(value)[0]


def frexp_exponent(value: float) -> int:
    return 0 if math.isnan(value) or math.isinf(value) or value == 0 else math.frexp(value)[1]


def _one(name: str, form: Format, expect: Callable[[float], Any]) -> Case:
    return case(f"{name}_{form.name} {{d}}, {{a}}", f"d={form.name}", f"a={form.name}", expect)


def _basics(form: Format) -> list[Case]:
    kind = form.name
    made = [
        _two("v_add", form, lambda a, b: add(a, b, form)),
        _two("v_mul", form, lambda a, b: mul(a, b, form)),
        case(
            f"v_fma_{kind} {{d}}, {{a}}, {{b}}, {{c}}",
            f"d={kind}",
            f"a={kind} b={kind} c={kind}",
            lambda a, b, c: fma(a, b, c, form),
            low_only=form is F16,  # which keeps the upper half; see below
        ),
        _one("v_fract", form, lambda a: fract(a, form)),
        _one("v_floor", form, lambda a: whole(a, math.floor)),
        _one("v_ceil", form, lambda a: whole(a, math.ceil)),
        _one("v_trunc", form, lambda a: whole(a, math.trunc)),
        _one("v_rndne", form, lambda a: whole(a, round)),
        _one("v_frexp_mant", form, frexp_mantissa),
    ]
    exponent = "v_frexp_exp_i16_f16" if form is F16 else f"v_frexp_exp_i32_{kind}"
    kept = "i16" if form is F16 else "i32"
    made.append(case(f"{exponent} {{d}}, {{a}}", f"d={kept}", f"a={kind}", frexp_exponent))
    power = "i16" if form is F16 else "i32"
    made.append(
        case(
            f"v_ldexp_{kind} {{d}}, {{a}}, {{b}}",
            f"d={kind}",
            f"a={kind} b={power}",
            lambda a, b: ldexp(a, b, form),
        )
    )
    return made


def _extremes(form: Format) -> list[Case]:
    made = [
        _raw("v_min", form, "ab", lambda a, b: lesser(a, b, form)),
        _raw("v_max", form, "ab", lambda a, b: greater(a, b, form)),
    ]
    if form is F64:
        return made
    three = [
        _raw("v_min3", form, "abc", lambda a, b, c: lesser(lesser(a, b, form), c, form)),
        _raw("v_max3", form, "abc", lambda a, b, c: greater(greater(a, b, form), c, form)),
        _raw("v_med3", form, "abc", lambda a, b, c: median(a, b, c, form)),
    ]
    return made + three


def clamp(bits_: int, form: Format) -> int:
    """clamp with DX10_CLAMP, which HIP sets: NaN becomes 0."""
    value = form.decode(bits_)
    if math.isnan(value) or value <= 0:
        return 0
    return form.encode(1.0) if value > 1 else bits_


def high(word: int) -> float:
    return F16.decode(word >> 16)


def mul_legacy(a: float, b: float) -> int:
    return 0 if a == 0 or b == 0 else mul(a, b, F32)


def _modified(form: Format) -> list[Case]:
    kind = form.name

    def made(asm: str, expect: Callable[..., Any]) -> Case:
        names = [n for n in "abc" if f"{{{n}}}" in asm]
        low = form is F16 and "fma" in asm
        ins = " ".join(f"{n}={kind}" for n in names)
        return case(asm.replace("KIND", kind), f"d={kind}", ins, expect, low_only=low)

    return [
        made("v_add_KIND {d}, -{a}, |{b}|", lambda a, b: add(-a, abs(b), form)),
        made("v_mul_KIND {d}, -|{a}|, {b}", lambda a, b: mul(-abs(a), b, form)),
        made("v_fma_KIND {d}, -{a}, |{b}|, -|{c}|", lambda a, b, c: fma(-a, abs(b), -abs(c), form)),
        made("v_add_KIND {d}, {a}, {b} clamp", lambda a, b: clamp(add(a, b, form), form)),
        made("v_max_KIND {d}, {a}, {a} clamp", lambda a: clamp(bits(a, form), form)),
        made(
            "v_fma_KIND {d}, {a}, {b}, {c} clamp", lambda a, b, c: clamp(fma(a, b, c, form), form)
        ),
        made("v_add_KIND {d}, 0.5, {a}", lambda a: add(0.5, a, form)),
        made("v_mul_KIND {d}, -4.0, {a}", lambda a: mul(-4.0, a, form)),
        made("v_trunc_KIND {d}, -|{a}|", lambda a: whole(-abs(a), math.trunc)),
    ]


SINGLES = (
    *(
        _two(f"v_{name}", form, lambda a, b, f=f, form=form: f(a, b, form))
        for form in (F16, F32)
        for name, f in (
            ("sub", lambda a, b, form: add(a, -b, form)),
            ("subrev", lambda a, b, form: add(-a, b, form)),
        )
    ),
    case("v_mul_legacy_f32 {d}, {a}, {b}", "d=f32", "a=f32 b=f32", mul_legacy),
    case(
        "v_fmac_f32 {d}, {a}, {b}",
        "d=f32<c",
        "a=f32 b=f32 c=f32",
        lambda a, b, c: fma(a, b, c, F32),
    ),
    case(
        "v_fmac_f64 {d}, {a}, {b}",
        "d=f64<c",
        "a=f64 b=f64 c=f64",
        lambda a, b, c: fma(a, b, c, F64),
    ),
    case(
        "v_fmac_f32 {d}, -{a}, |{b}|",
        "d=f32<c",
        "a=f32 b=f32 c=f32",
        lambda a, b, c: fma(-a, abs(b), c, F32),
    ),
    case(
        "v_fmaak_f32 {d}, {a}, {b}, 0x40490fdb",
        "d=f32",
        "a=f32 b=f32",
        lambda a, b: fma(a, b, F32.decode(0x40490FDB), F32),
    ),
    case(
        "v_fmamk_f32 {d}, {a}, 0xc0490fdb, {b}",
        "d=f32",
        "a=f32 b=f32",
        lambda a, b: fma(a, F32.decode(0xC0490FDB), b, F32),
    ),
    case(
        "v_fma_f16 {d}, {a}, {b}, {c}",
        "d=f16x2<z",
        "a=f16 b=f16 c=f16 z=u32",
        lambda a, b, c, z: z & 0xFFFF0000 | fma(a, b, c, F16),
        name="v_fma_f16 keeps the upper half",
    ),
    case(
        "v_med3_f16 {d}, {a}, {b}, {c} op_sel:[1,0,1,1]",
        "d=f16x2<z",
        "a=u32 b=u32 c=u32 z=u32",
        lambda a, b, c, z: z & 0xFFFF | median(a >> 16, b & 0xFFFF, c >> 16, F16) << 16,
        values={name: pairs(F16, seed) for seed, name in enumerate("abcz")},
    ),
    case(
        "v_fma_f16 {d}, {a}, -{b}, |{c}| op_sel:[1,1,0,1]",
        "d=f16x2<z",
        "a=u32 b=u32 c=u32 z=u32",
        lambda a, b, c, z: (
            z & 0xFFFF | fma(high(a), -high(b), abs(F16.decode(c & 0xFFFF)), F16) << 16
        ),
        values={name: pairs(F16, seed) for seed, name in enumerate("abcz")},
    ),
    *(
        # The guide: ignored with MODE.IEEE = 1 or denormals on, and HIP has both.
        case(
            f"v_add_f32 {{d}}, {{a}}, {{b}} {text}",
            "d=f32",
            "a=f32 b=f32",
            lambda a, b: add(a, b, F32),
        )
        for text in ("mul:2", "mul:4", "div:2")
    ),
)


CASES = (
    *(one for form in FORMATS.values() if form.name in RAW for one in _basics(form)),
    *(one for form in FORMATS.values() if form.name in RAW for one in _extremes(form)),
    *(one for form in FORMATS.values() if form.name in RAW for one in _modified(form)),
    *SINGLES,
)
