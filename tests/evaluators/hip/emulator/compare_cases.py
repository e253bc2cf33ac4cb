"""Comparisons of every type, into vcc, into an SGPR pair, and into EXEC."""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.evaluators.hip.emulator.case import Case, case
from tests.evaluators.hip.emulator.floats import F16, F32, F64, Format

INTEGERS: dict[str, Callable[[Any, Any], bool]] = {
    "f": lambda a, b: False,
    "lt": operator.lt,
    "eq": operator.eq,
    "le": operator.le,
    "gt": operator.gt,
    "ne": operator.ne,
    "ge": operator.ge,
    "t": lambda a, b: True,
}
FLOATS: dict[str, Callable[[float, float], bool]] = {
    "f": lambda a, b: False,
    "lt": operator.lt,
    "eq": operator.eq,
    "le": operator.le,
    "gt": operator.gt,
    "lg": lambda a, b: a < b or a > b,
    "ge": operator.ge,
    "o": lambda a, b: not (math.isnan(a) or math.isnan(b)),
    "u": lambda a, b: math.isnan(a) or math.isnan(b),
    "nge": lambda a, b: not a >= b,
    "nlg": lambda a, b: not (a < b or a > b),
    "ngt": lambda a, b: not a > b,
    "nle": lambda a, b: not a <= b,
    "neq": operator.ne,
    "nlt": lambda a, b: not a < b,
    "tru": lambda a, b: True,
}
OPERATIONS = [
    (f"{name}_{kind}", kind, expect)
    for kinds, table in (
        (("i16", "u16", "i32", "u32", "i64", "u64"), INTEGERS),
        (("f16", "f32", "f64"), FLOATS),
    )
    for kind in kinds
    for name, expect in table.items()
]


def _in_pair(name: str, kind: str, expect: Callable[[Any, Any], bool]) -> Case:
    asm = f"v_cmp_{name} {{m}}, {{a}}, {{b}}"
    return case(asm, "m=mask", f"a={kind} b={kind}", expect)


def _in_vcc(name: str, kind: str, expect: Callable[[Any, Any], bool]) -> Case:
    asm = f"v_cmp_{name} vcc, {{a}}, {{b}}\ns_mov_b64 {{m}}, vcc"
    return case(asm, "m=mask", f"a={kind} b={kind}", expect, name=f"v_cmp_{name} vcc")


def _in_exec(name: str, kind: str, expect: Callable[[Any, Any], bool]) -> Case:
    """On gfx9 v_cmpx writes vcc too, and lanes that were off stay off."""
    asm = f"""s_mov_b64 {{t}}, exec
    s_mov_b64 vcc, -1
    s_mov_b64 exec, {{e}}
    v_cmpx_{name} vcc, {{a}}, {{b}}
    s_mov_b64 {{x}}, exec
    s_mov_b64 exec, {{t}}
    s_mov_b64 {{m}}, vcc"""

    def told(a: Any, b: Any, e: int) -> tuple[bool, bool, int]:
        active = bool(e) and expect(a, b)
        return active, active, 1

    ins = f"a={kind} b={kind} e=mask"
    return case(asm, "x=mask m=mask t=mask", ins, told, name=f"v_cmpx_{name}")


def class_of(bits: int, form: Format) -> int:
    """The number of the bit that v_cmp_class asks for."""
    if form.is_nan(bits):
        return 0 if form.is_signalling(bits) else 1
    magnitude, negative = bits & (form.sign - 1), bool(bits & form.sign)
    if magnitude == form.infinity:
        return 2 if negative else 9
    if magnitude >> form.mantissa:
        return 3 if negative else 8
    if magnitude:
        return 4 if negative else 7
    return 5 if negative else 6


def _class(form: Format) -> Case:
    kind = "u64" if form is F64 else "u32"

    def expect(a: int, b: int) -> int:
        return b >> class_of(a & (1 << form.bits) - 1, form) & 1

    ins = f"a={form.name} b=u32"
    made = case(f"v_cmp_class_{form.name} {{m}}, {{a}}, {{b}}", "m=mask", ins, expect)
    return case(made.asm, "m=mask", f"a={kind} b=u32", expect, values=_of_each_class(form))


def _of_each_class(form: Format) -> dict[str, Any]:
    one = form.bias << form.mantissa
    magnitudes = (0, 1, one, form.infinity, form.nan, form.infinity | 1, form.infinity - 1, one + 3)
    each = [sign | m for m in magnitudes for sign in (0, form.sign)]
    bits = [1 << n for n in range(10)] + [0, 0x3FF, 0x155, 0x2AA, 0xFFFFFC00, 0x201]
    return {
        "a": np.repeat(np.array(each, np.uint64), len(bits)),
        "b": np.tile(np.array(bits, np.uint64), len(each)),
    }


MODIFIED = (
    case(
        "v_cmp_lt_f32 {m}, -{a}, |{b}|",
        "m=mask",
        "a=f32 b=f32",
        lambda a, b: -a < abs(b),
    ),
    case("v_cmp_eq_f32 {m}, -|{a}|, {b}", "m=mask", "a=f32 b=f32", lambda a, b: -abs(a) == b),
    case("v_cmp_gt_f64 {m}, -{a}, |{b}|", "m=mask", "a=f64 b=f64", lambda a, b: -a > abs(b)),
    case("v_cmp_lt_f16 {m}, |{a}|, -{b}", "m=mask", "a=f16 b=f16", lambda a, b: abs(a) < -b),
    case("v_cmp_lt_u32 {m}, {a}, {b}", "m=mask", "a=s.u32 b=u32", operator.lt, name="s < v"),
    case("v_cmp_gt_i32 {m}, -7, {b}", "m=mask", "b=i32", lambda b: b < -7),
    case("v_cmp_lt_f32 {m}, 0.5, {b}", "m=mask", "b=f32", lambda b: b > 0.5),
    case("v_cmp_lt_f16 {m}, 0.5, {b}", "m=mask", "b=f16", lambda b: b > 0.5),
    case("v_cmp_lt_f64 {m}, 0.5, {b}", "m=mask", "b=f64", lambda b: b > 0.5),
    case("v_cmp_gt_u64 {m}, -1, {b}", "m=mask", "b=u64", lambda b: b < (1 << 64) - 1),
    case(
        """s_mov_b64 {t}, exec
        s_mov_b64 {m}, -1
        s_mov_b64 exec, {e}
        v_cmp_lt_u32 {m}, {a}, {b}
        s_mov_b64 exec, {t}""",
        "m=mask t=mask",
        "a=u32 b=u32 e=mask",
        lambda a, b, e: (e and a < b, 1),
        name="v_cmp_lt_u32 with lanes off gives them 0",
    ),
    *(_class(form) for form in (F16, F32, F64)),
)

CASES = (
    *(_in_pair(*one) for one in OPERATIONS),
    *(_in_vcc(*one) for one in OPERATIONS),
    *(_in_exec(*one) for one in OPERATIONS),
    *MODIFIED,
)
