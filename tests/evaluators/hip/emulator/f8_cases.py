"""Conversions from and to fp8 and bf8, which on gfx942 are the FNUZ formats."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tests.evaluators.hip.emulator.case import Case, case
from tests.evaluators.hip.emulator.floats import F32

FORMATS8 = {
    "fp8": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "bf8": np.dtype(ml_dtypes.float8_e5m2fnuz),
}
LARGEST = {"fp8": 240.0, "bf8": 57344.0}
MANTISSA = {"fp8": 3, "bf8": 2}
LEAST_NORMAL = {"fp8": 2.0**-7, "bf8": 2.0**-15}
SATURATING = """s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1
"""
"""MODE.FP16_OVFL; the kernel ends with it."""


def decode(byte: int, kind: str) -> float:
    return float(np.array([byte & 255], np.uint8).view(FORMATS8[kind])[0])


def encode(value: float, kind: str) -> int:
    """Rounded to even; what overflows is NaN, and so is infinity: the formats have none."""
    with np.errstate(all="ignore"):
        return int(np.array([value], np.float32).astype(FORMATS8[kind]).view(np.uint8)[0])


def saturated(value: float, kind: str) -> int:
    """With MODE.FP16_OVFL, of a finite value."""
    return encode(max(-LARGEST[kind], min(LARGEST[kind], value)), kind)


def every_byte(seed: int = 0) -> Any:
    """Words in which every byte takes all 256 values."""
    random = np.random.default_rng(seed)
    columns = [random.permutation(256).astype(np.uint64) << np.uint64(8 * n) for n in range(4)]
    return np.bitwise_or.reduce(columns)


def rounding(kind: str) -> Any:
    """Bits of float32 that are a format's values, the ties between them, and beside both."""
    told = []
    for byte in range(128):
        low, high = decode(byte, kind), decode(byte + 1, kind) if byte < 127 else None
        high = 2 * low - decode(byte - 1, kind) if high is None else high
        middle = F32.encode((low + high) / 2)
        told += [F32.encode(low), middle - 1, middle, middle + 1]
    specials = [F32.infinity, F32.nan, F32.infinity | 1, F32.infinity - 1, 1, F32.encode(1e9)]
    bits = np.array([*told, *specials, *([0] * (64 - len(specials)))], np.uint64)
    bits |= np.random.default_rng(4).integers(0, 2, len(bits), np.uint64) << np.uint64(31)
    return bits


def _words(seed: int, rows: int) -> Any:
    return np.random.default_rng(seed).integers(0, 1 << 32, rows, np.uint64)


def _decoding(kind: str) -> list[Case]:
    values = {"a": every_byte()}
    one = f"v_cvt_f32_{kind}"
    two = f"v_cvt_pk_f32_{kind}"
    made = [
        case(f"{one} {{d}}, {{a}}", "d=f32", "a=u32", lambda a: decode(a, kind), values=values),
        case(
            f"{two} {{d}}, {{a}}",
            "d=f32x2",
            "a=u32",
            lambda a: ((decode(a, kind), decode(a >> 8, kind)),),
            values=values,
        ),
        case(
            f"{two}_sdwa {{d}}, {{a}} src0_sel:WORD_1",
            "d=f32x2",
            "a=u32",
            lambda a: ((decode(a >> 16, kind), decode(a >> 24, kind)),),
            values=values,
        ),
    ]
    for n in range(4):
        asm = f"{one}_sdwa {{d}}, {{a}} src0_sel:BYTE_{n}"
        expect = lambda a, n=n: decode(a >> 8 * n, kind)  # noqa: E731
        made.append(case(asm, "d=f32", "a=u32", expect, values=values))
    return made


def _pair(kind: str, to: Callable[[float, str], int], high: bool, mode: str = "") -> Case:
    bits = rounding(kind)
    if mode:
        bits = np.where((bits & np.uint64(0x7FFFFFFF)) >= F32.infinity, np.uint64(0), bits)

    def expect(a: float, b: float, z: int) -> int:
        pair = to(a, kind) | to(b, kind) << 8
        return z & 0xFFFF | pair << 16 if high else z & 0xFFFF0000 | pair

    asm = f"{mode}v_cvt_pk_{kind}_f32 {{d}}, {{a}}, {{b}}" + (" op_sel:[0,0,1]" if high else "")
    values = {"a": bits, "b": bits[::-1].copy(), "z": _words(1, len(bits))}
    name = f"v_cvt_pk_{kind}_f32" + (", high" if high else "") + (" with FP16_OVFL" if mode else "")
    return case(asm, "d=u32<z", "a=f32 b=f32 z=u32", expect, values=values, name=name)


def _modified(kind: str) -> Case:
    bits = rounding(kind)
    return case(
        f"v_cvt_pk_{kind}_f32 {{d}}, -{{a}}, |{{b}}|",
        "d=u32<z",
        "a=f32 b=f32 z=u32",
        lambda a, b, z: z & 0xFFFF0000 | encode(-a, kind) | encode(abs(b), kind) << 8,
        values={"a": bits, "b": bits[::-1].copy(), "z": _words(1, len(bits))},
    )


def _truncated(value: float, noise: int, kind: str) -> int:
    """Of a normal value in range: noise is added below the last bit kept, the rest cut off."""
    dropped = 23 - MANTISSA[kind]
    bits = F32.encode(value) + (noise >> 32 - dropped)
    return encode(F32.decode(bits >> dropped << dropped), kind)


def _in_range(kind: str, rows: int = 256) -> Any:
    """Bits of values that are normal in the format, and not of its topmost power of 2."""
    random = np.random.default_rng(11)
    bottom, top = F32.encode(LEAST_NORMAL[kind]) >> 23, (F32.encode(LARGEST[kind]) >> 23) - 1
    field = random.integers(bottom, top, rows, np.uint64) << np.uint64(23)
    return (
        field | random.integers(0, 1 << 23, rows, np.uint64) | _words(12, rows) & np.uint64(1 << 31)
    )


def _stochastic(kind: str, at: int, name: str, a: Any, noise: Any) -> Case:
    """The guide leaves the three other bytes alone."""

    def expect(a: float, b: int, z: int) -> int:
        mask = 0xFF << 8 * at
        return z & ~mask | _truncated(a, b, kind) << 8 * at

    select = f" op_sel:[0,0,{at & 1},{at >> 1}]" if at else ""
    return case(
        f"v_cvt_sr_{kind}_f32 {{d}}, {{a}}, {{b}}{select}",
        "d=u32<z",
        "a=f32 b=u32 z=u32",
        expect,
        values={"a": a, "b": noise, "z": _words(13, len(a))},
        name=f"v_cvt_sr_{kind}_f32 {name}, byte {at}",
    )


def _stochastics(kind: str) -> list[Case]:
    some = _in_range(kind)
    kept = np.uint64((1 << 32) - (1 << 23 - MANTISSA[kind]))
    exact = some & kept
    rows = len(some)
    none, all_ = np.zeros(rows, np.uint64), np.full(rows, (1 << 32) - 1, np.uint64)
    return [
        *(_stochastic(kind, at, "of exact values", exact, none) for at in range(4)),
        _stochastic(kind, 0, "just above exact values, without noise", exact + np.uint64(1), none),
        _stochastic(kind, 0, "just above exact values, all noise", exact + np.uint64(1), all_),
        _stochastic(kind, 0, "of exact values, all noise", exact, all_),
        _stochastic(kind, 2, "of any values", some, _words(14, rows)),
    ]


CASES = tuple(
    one
    for kind in FORMATS8
    for one in (
        *_decoding(kind),
        _pair(kind, encode, False),
        _pair(kind, encode, True),
        _pair(kind, saturated, False, SATURATING),
        _modified(kind),
        *_stochastics(kind),
    )
)
