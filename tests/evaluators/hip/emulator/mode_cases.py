"""Rounding, denormals and output modifiers, as MODE tells."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tests.evaluators.hip.emulator.case import Case, case
from tests.evaluators.hip.emulator.floats import F16, F32, F64, Format, add, fma, mul


def _in_mode(
    asm: str,
    form: Format,
    expect: Callable[..., Any],
    field: str,
    value: int,
    usual: int,
    name: str,
) -> Case:
    names = [n for n in "abc" if f"{{{n}}}" in asm]
    kind = form.name
    return case(
        f"""s_setreg_imm32_b32 hwreg(HW_REG_MODE, {field}), {value}
        s_nop 4
        {asm}
        s_nop 4
        s_setreg_imm32_b32 hwreg(HW_REG_MODE, {field}), {usual}""",
        f"d={kind}",
        " ".join(f"{n}={kind}" for n in names),
        expect,
        name=name,
        low_only=form is F16,
    )


ROUNDS = ("even", "up", "down", "zero")


def _rounding(mode: int) -> list[Case]:
    """Bits 1:0 round float32, bits 3:2 the others."""
    how = ROUNDS[mode]
    made = []
    for form, field in ((F32, "0, 2"), (F64, "2, 2"), (F16, "2, 2")):
        for name, f, count in (("add", add, 2), ("mul", mul, 2), ("fma", fma, 3)):
            asm = f"v_{name}_{form.name} {{d}}, " + ", ".join("{" + n + "}" for n in "abc"[:count])
            expect = lambda *v, f=f, form=form: f(*v, form, how)  # noqa: E731
            text = f"v_{name}_{form.name} rounding {how}"
            made.append(_in_mode(asm, form, expect, field, mode, 0, text))
    return made


def flushed(value: float, form: Format) -> float:
    """A denormal becomes a zero of its sign."""
    return value * 0.0 if abs(value) < form.least_normal else value


def _flushing(form: Format, field: str) -> list[Case]:
    """Without denormals, of inputs or of results."""

    def result(bits: int) -> int | None:
        if abs(form.decode(bits)) == form.least_normal:
            return None  # it may have been rounded to that, and been tiny before
        return bits & form.sign if form.is_denormal(bits) else bits

    def inputs(f: Callable[..., int]) -> Callable[..., int]:
        return lambda *v: f(*(flushed(one, form) for one in v), form)

    made = []
    for name, f in (("add", add), ("mul", mul)):
        asm = f"v_{name}_{form.name} {{d}}, {{a}}, {{b}}"
        told: list[tuple[int, str, Callable[..., int | None]]] = [
            (2, "inputs", inputs(f)),
            (1, "results", lambda *v, f=f: result(f(*v, form))),
            (0, "both", lambda *v, f=f: result(inputs(f)(*v))),
        ]
        for value, what, expect in told:
            text = f"v_{name}_{form.name} flushing {what}"
            made.append(_in_mode(asm, form, expect, field, value, 3, text))
    return made


OMOD_MODE = """s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
        s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 0
        s_nop 4
        v_add_f32 {{d}}, {{a}}, {{b}} {}
        s_nop 4
        s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
        s_setreg_imm32_b32 hwreg(HW_REG_MODE, 9, 1), 1"""


def _scaled(text: str, factor: float) -> Case:
    """omod, which needs MODE without denormals and without IEEE."""

    def expect(a: float, b: float) -> Any:
        bits = add(flushed(a, F32), flushed(b, F32), F32)
        value = F32.decode(bits)
        if math.isnan(value) or math.isinf(value):
            return value
        scaled = F32.encode(Fraction(value) * Fraction(factor))
        if F32.is_denormal(scaled) or F32.is_denormal(bits):
            return None  # a zero, of which sign is not told
        return scaled

    return case(OMOD_MODE.format(text), "d=f32", "a=f32 b=f32", expect, name=f"v_add_f32 {text}")


CASES = (
    *(one for mode in (1, 2, 3) for one in _rounding(mode)),
    *_flushing(F32, "4, 2"),
    *_flushing(F64, "6, 2"),
    *_flushing(F16, "6, 2"),
    *(_scaled(text, f) for text, f in (("mul:2", 2.0), ("mul:4", 4.0), ("div:2", 0.5))),
)
