"""What fits nowhere else: fused and unfused float16, table look-ups, clocks, cache hints."""

import math
from typing import Any

import numpy as np

from tests.evaluators.hip.emulator.case import LANES, Array, case
from tests.evaluators.hip.emulator.floats import F16, F32, F64
from tests.evaluators.hip.emulator.memory_cases import WAIT, get, put, some

FRACTION_BITS = 1201


def _arctangent(one_over: int, unit: int) -> int:
    """arctan(1 / one_over) * unit, by its series."""
    term, total, n = unit // one_over, 0, 1
    while term:
        total += term // n if n % 4 == 1 else -(term // n)
        term //= one_over * one_over
        n += 2
    return total


def _two_over_pi() -> int:
    """Of 2 / pi, the first bits, as a whole number."""
    unit = 1 << FRACTION_BITS + 64
    pi = 4 * (4 * _arctangent(5, unit) - _arctangent(239, unit))
    return (2 * unit * unit // pi) >> 64


TWO_OVER_PI = _two_over_pi()


def trig_preop(a: float, segment: int) -> float:
    """53 bits of 2 / pi, where the guide's text has them begin; the first is bit 1200."""
    exponent = F64.encode(a) >> 52 & 2047
    shift = segment % 32 * 53 + max(0, exponent - 1077)
    below = FRACTION_BITS - 53 - shift
    bits = TWO_OVER_PI >> below if below >= 0 else TWO_OVER_PI << -below
    scale = -53 - shift + (128 if exponent >= 1968 else 0)
    return math.ldexp(float(bits & (1 << 53) - 1), scale)


def _doubles() -> dict[str, Array]:
    exponents = np.array([1023, 1050, 1077, 1078, 1100, 1200, 1400, 1500], np.uint64)
    random = np.random.default_rng(31)
    mantissas = random.integers(0, 1 << 52, LANES, np.uint64)
    return {
        "a": np.repeat(exponents, 8) << np.uint64(52) | mantissas,
        "b": np.tile(np.arange(8, dtype=np.uint64), 8),
    }


def _small_halves(names: str) -> dict[str, Array]:
    """Whole numbers, so that it does not matter when a product is rounded."""
    random = np.random.default_rng(32)
    return {
        name: random.integers(-15, 16, LANES).astype(np.float16).view(np.uint16).astype(np.uint64)
        for name in names
    }


def _cube(a: float, b: float, c: float) -> tuple[float, float, float, float]:
    """Face, S, T and twice the major axis."""
    if abs(c) >= abs(a) and abs(c) >= abs(b):
        return (5.0, -a, -b, 2 * c) if c < 0 else (4.0, a, -b, 2 * c)
    if abs(b) >= abs(a):
        return (3.0, a, -c, 2 * b) if b < 0 else (2.0, a, c, 2 * b)
    return (1.0, c, -b, 2 * a) if a < 0 else (0.0, -c, -b, 2 * a)


def _moderate(names: str) -> dict[str, Array]:
    random = np.random.default_rng(33)
    return {
        name: random.normal(0, 3, 4 * LANES).astype(np.float32).view(np.uint32).astype(np.uint64)
        for name in names
    }


def _hinted(memory: bytearray, a: Array) -> list[int]:
    made = [get(memory, 4 * n) for n in range(LANES)]
    for lane in range(LANES):
        put(memory, 1024 + 4 * lane, int(a[lane]))
    return made


def _exact(value: float) -> Any:
    return F16.encode(value)


CASES = (
    case(
        "v_trig_preop_f64 {d}, {a}, {b}",
        "d=f64",
        "a=f64 b=u32",
        trig_preop,
        values=_doubles(),
    ),
    case(
        "v_mad_f16 {d}, {a}, {b}, {c}",
        "d=f16",
        "a=f16 b=f16 c=f16",
        lambda a, b, c: _exact(a * b + c),
        values=_small_halves("abc"),
        low_only=True,
    ),
    case(
        "v_mac_f16 {d}, {a}, {b}",
        "d=f16<c",
        "a=f16 b=f16 c=f16",
        lambda a, b, c: _exact(a * b + c),
        values=_small_halves("abc"),
    ),
    case(
        "v_madak_f16 {d}, {a}, {b}, 0x4200",
        "d=f16",
        "a=f16 b=f16",
        lambda a, b: _exact(a * b + 3),
        values=_small_halves("ab"),
    ),
    case(
        "v_madmk_f16 {d}, {a}, 0xc200, {b}",
        "d=f16",
        "a=f16 b=f16",
        lambda a, b: _exact(a * -3 + b),
        values=_small_halves("ab"),
    ),
    *(
        case(
            f"v_cube{name}_f32 {{d}}, {{a}}, {{b}}, {{c}}",
            "d=f32",
            "a=f32 b=f32 c=f32",
            lambda a, b, c, n=n: F32.encode(_cube(a, b, c)[n]),
            values=_moderate("abc"),
        )
        for n, name in enumerate(("id", "sc", "tc", "ma"))
    ),
    case(
        f"""global_load_dword {{d}}, {{p}}, off sc0 sc1 nt
        global_store_dword {{p}}, {{a}}, off offset:1024 sc0 sc1 nt{WAIT}""",
        "d=u32",
        "a=u32 p=u64:[(u64)mem+4*lane]",
        _hinted,
        whole=True,
        memory=some(30),
        name="cache hints",
    ),
    *(
        case(f"{asm}\nv_mov_b32 {{d}}, {{a}}{WAIT}", "d=u32", "a=u32", lambda a: a, name=asm)
        for asm in (
            *("buffer_wbl2 sc1", "buffer_wbl2 sc0 sc1", "buffer_inv sc1", "buffer_inv sc0 sc1"),
            *("s_dcache_inv", "s_dcache_wb", "s_icache_inv"),
        )
    ),
    case(
        """s_memtime {t}
        s_memrealtime {u}
        s_waitcnt lgkmcnt(0)
        s_sleep 1
        s_nop 3
        s_setprio 1
        s_setprio 0
        s_memtime {x}
        s_waitcnt lgkmcnt(0)
        v_mov_b32 {d}, 5""",
        "d=u32 t=s.u64? u=s.u64? x=s.u64?",
        "a=u32",
        lambda a: 5,
        name="clocks, sleep and priority are there",
    ),
    case(
        """s_mov_b32 m0, {m}
        s_nop 4
        buffer_load_dword {p}, {r}, 0 offen offset:4 lds
        s_waitcnt vmcnt(0)""",
        "d=u32<k",
        "a=u32 k=u32:0 m=s.u32:[(u32)__builtin_amdgcn_readfirstlane((u32)(u64)"
        "(__attribute__((address_space(3)))u32*)lds)+32] p=u32:[4*(lane^3)] "
        "r=s.w4:[(w4){(u32)__builtin_amdgcn_readfirstlane((u32)(u64)mem),"
        "(u32)__builtin_amdgcn_readfirstlane((u32)((u64)mem>>32)&0xffff),4096u,0x27000u}]",
        lambda memory, a: [get(memory, 4 + 4 * (n ^ 3)) for n in range(LANES)],
        whole=True,
        memory=some(31),
        shared="__shared__ u32 lds[256];",
        before="__syncthreads();",
        after="__syncthreads(); d = lds[(32+4)/4+lane];",
        name="buffer_load_dword into LDS",
    ),
)
