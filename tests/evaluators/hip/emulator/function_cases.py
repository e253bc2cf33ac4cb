"""Reciprocals, roots, exponentials, sines, and the whole sequence of a division."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tests.evaluators.hip.emulator.case import Case, case
from tests.evaluators.hip.emulator.floats import F16, F32, F64, Format, divide, fma
from tests.evaluators.hip.emulator.values import FLOAT_EDGES


def rcp(a: float) -> float:
    if a == 0:
        return math.copysign(math.inf, a)
    return 1 / a


def sqrt(a: float) -> float:
    if a == 0 or math.isnan(a):
        return a
    return math.sqrt(a) if a > 0 else math.nan


def rsq(a: float) -> float:
    return rcp(sqrt(a))


def exp2(a: float) -> float:
    if math.isinf(a):
        return math.inf if a > 0 else 0.0
    return math.exp2(min(a, 2000.0)) if a < 1023 or math.isnan(a) else math.inf


def log2(a: float) -> float:
    if a == 0:
        return -math.inf
    if math.isnan(a) or a < 0:
        return math.nan
    return math.log2(a) if not math.isinf(a) else a


def _rounded(form: Format, f: Callable[[float], float]) -> Callable[[float], int]:
    return lambda a: form.encode(f(a))


def _normal(form: Format, low: int, high: int, rows: int = 256) -> Any:
    """Bits of normal numbers, of both signs, with powers of 2 between the bounds."""
    random = np.random.default_rng(5)
    field = random.integers(low + form.bias, high + form.bias, rows).astype(np.uint64)
    mantissa = random.integers(0, 1 << form.mantissa, rows, np.uint64)
    sign = random.integers(0, 2, rows, np.uint64) << np.uint64(form.bits - 1)
    return sign | field << np.uint64(form.mantissa) | mantissa


def _wide(form: Format) -> Any:
    """Normal numbers whose reciprocals are normal too, zeros, infinities and NaN."""
    made = _normal(form, 3 - form.bias, form.bias - 2)
    edge = [0, form.infinity, form.nan, form.bias << form.mantissa]
    made[: 2 * len(edge)] = [*edge, *(form.sign | bits for bits in edge)]
    return made


def _function(name: str, form: Format, f: Callable[[float], float], ulp: int) -> Case:
    return case(
        f"v_{name}_{form.name} {{d}}, {{a}}",
        f"d={form.name}",
        f"a={form.name}",
        _rounded(form, f),
        values={"a": _wide(form)},
        ulp=ulp,
    )


def _exponential(form: Format) -> Case:
    """Of powers that give normal numbers; a step of the power's is a ulp or less of the result's
    at most, so the hardware's is within 1 of the rounded one."""
    top = form.bias.bit_length() - 2
    made = _normal(form, -form.mantissa, top)
    edge = [0, form.infinity, form.nan, form.bias << form.mantissa]
    made[: 2 * len(edge)] = [*edge, *(form.sign | bits for bits in edge)]
    return case(
        f"v_exp_{form.name} {{d}}, {{a}}",
        f"d={form.name}",
        f"a={form.name}",
        _rounded(form, exp2),
        values={"a": made},
        ulp=1,
    )


SIMPLE = (
    *(
        _function(name, form, f, ulp)
        for form, ulp in ((F32, 1), (F16, 1))
        for name, f in (("rcp", rcp), ("sqrt", sqrt), ("rsq", rsq), ("log", log2))
    ),
    _function("rcp_iflag", F32, rcp, 1),
    # Of float64 only the first bits are promised: about 2^-24 of the value.
    *(_function(name, F64, f, 1 << 30) for name, f in (("rcp", rcp), ("sqrt", sqrt), ("rsq", rsq))),
    _exponential(F32),
    _exponential(F16),
)


def turns(f: Callable[[float], float]) -> Callable[[float], float]:
    """Of a circle."""
    return lambda a: f(2 * math.pi * float(Fraction(a) % 1))


def _ones(name: str, form: Format, shift: Fraction) -> Case:
    """Where the result is 1 or -1: at multiples of half a turn, shifted."""
    places = [Fraction(n, 2) + shift for n in range(-32, 32)]
    signs = {form.decode(form.encode(p)): 1.0 - 2.0 * (n % 2) for n, p in enumerate(places)}
    return case(
        f"v_{name}_{form.name} {{d}}, {{a}}",
        f"d={form.name}",
        f"a={form.name}",
        signs.__getitem__,
        values={"a": np.array([form.encode(p) for p in places], np.uint64)},
        name=f"v_{name}_{form.name} at its extremes",
    )


def _near(name: str, form: Format, f: Callable[[float], float]) -> Case:
    """In [1/64, 1/4) turns, where both functions are far from 0: a few ulp."""
    return case(
        f"v_{name}_{form.name} {{d}}, {{a}}",
        f"d={form.name}",
        f"a={form.name}",
        _rounded(form, turns(f)),
        values={"a": _normal(form, -6, -3)},
        ulp=4,
    )


SINES = (
    *(
        _near(name, form, f)
        for form in (F32, F16)
        for name, f in (("sin", math.sin), ("cos", math.cos))
    ),
    *(_ones("sin", form, Fraction(1, 4)) for form in (F32, F16)),
    *(_ones("cos", form, Fraction(0)) for form in (F32, F16)),
)

REFINEMENT = {
    "f32": """v_fma_f32 {t}, -{u}, {r}, 1.0
        v_fma_f32 {r}, {t}, {r}, {r}
        v_mul_f32 {q}, {w}, {r}
        v_fma_f32 {t}, -{u}, {q}, {w}
        v_fma_f32 {q}, {t}, {r}, {q}
        v_fma_f32 {t}, -{u}, {q}, {w}""",
    "f64": """v_fma_f64 {t}, -{u}, {r}, 1.0
        v_fma_f64 {r}, {r}, {t}, {r}
        v_fma_f64 {t}, -{u}, {r}, 1.0
        v_fma_f64 {r}, {r}, {t}, {r}
        v_mul_f64 {q}, {w}, {r}
        v_fma_f64 {t}, -{u}, {q}, {w}""",
}


def _quotients(form: Format, rows: int = 512) -> dict[str, Any]:
    """Edge cases, numbers of all sizes, and such as are near one another."""
    random = np.random.default_rng(7)
    half = rows // 2
    edge = np.array(FLOAT_EDGES[form.name], np.uint64)
    some = _normal(form, 1 - form.bias, form.bias, rows)
    near = _normal(form, -4, 4, rows)[::-1]
    picked = np.where(random.random(rows) < 0.6, some, near)
    return {
        "a": np.concatenate([random.choice(edge, half), picked[:half]]),
        "b": np.concatenate([random.choice(edge, half), picked[half:]]),
    }


def _division(form: Format) -> Case:
    """LLVM's sequence for a correctly rounded a / b. Denormals are on all along."""
    kind = form.name
    asm = f"""v_div_scale_{kind} {{u}}, {{m}}, {{b}}, {{b}}, {{a}}
        v_rcp_{kind} {{r}}, {{u}}
        v_div_scale_{kind} {{w}}, vcc, {{a}}, {{b}}, {{a}}
        {REFINEMENT[kind]}
        s_nop 7
        v_div_fmas_{kind} {{q}}, {{t}}, {{r}}, {{q}}
        v_div_fixup_{kind} {{d}}, {{q}}, {{b}}, {{a}}"""
    return case(
        asm,
        f"d={kind} m=mask? " + " ".join(f"{n}={kind}?" for n in "urwtq"),
        f"a={kind} b={kind}",
        lambda a, b: divide(a, b, form),
        name=f"a / b of {kind}, by v_div_scale, v_div_fmas and v_div_fixup",
        values=_quotients(form),
    )


def _fixup(form: Format) -> Case:
    """Of a quotient of whatever sign, with denominator and numerator."""

    def expect(a: float, b: float, c: float) -> int:
        special = any(math.isnan(v) or math.isinf(v) or v == 0 for v in (b, c))
        negative = math.copysign(1, b) * math.copysign(1, c) < 0
        return divide(c, b, form) if special else form.encode(-abs(a) if negative else abs(a))

    kind = form.name
    size = 4 * 64
    near = {"a": _normal(form, -4, 4), **{n: v[-size:] for n, v in _near_or_edge(form).items()}}
    return case(
        f"v_div_fixup_{kind} {{d}}, {{a}}, {{b}}, {{c}}",
        f"d={kind}",
        f"a={kind} b={kind} c={kind}",
        expect,
        values=near,
        low_only=form is F16,
    )


def _near_or_edge(form: Format) -> dict[str, Any]:
    """Denominators and numerators that are not tiny against each other, and special values."""
    random = np.random.default_rng(9)
    special = [0, form.infinity, form.nan, form.bias << form.mantissa]
    edge = np.array([*special, *(form.sign | bits for bits in special)], np.uint64)
    made = {}
    for name in "bc":
        normal = random.permuted(_normal(form, -4, 4))
        made[name] = np.where(random.random(256) < 0.5, random.choice(edge, 256), normal)
    return made


FMAS = tuple(
    case(
        f"s_mov_b64 vcc, 0\ns_nop 7\nv_div_fmas_{form.name} {{d}}, {{a}}, {{b}}, {{c}}",
        f"d={form.name}",
        f"a={form.name} b={form.name} c={form.name}",
        lambda a, b, c, form=form: fma(a, b, c, form),
        name=f"v_div_fmas_{form.name} without scaling",
    )
    for form in (F32, F64)
)

CASES = (
    *SIMPLE,
    *SINES,
    _division(F32),
    _division(F64),
    *map(_fixup, (F16, F32, F64)),
    *FMAS,
)
