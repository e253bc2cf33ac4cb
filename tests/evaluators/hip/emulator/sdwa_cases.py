"""SDWA: sources of a byte or a word, and destinations that pad, extend or keep the rest."""

from collections.abc import Callable

from tests.evaluators.hip.emulator.case import Case, case
from tests.evaluators.hip.emulator.floats import F16, F32, add
from tests.evaluators.hip.emulator.integer_cases import sext

PLACES = {
    "BYTE_0": (0, 8),
    "BYTE_1": (8, 8),
    "BYTE_2": (16, 8),
    "BYTE_3": (24, 8),
    "WORD_0": (0, 16),
    "WORD_1": (16, 16),
    "DWORD": (0, 32),
}


def taken(word: int, place: str, *, signed: bool = False) -> int:
    start, bits = PLACES[place]
    part = word >> start & (1 << bits) - 1
    return sext(part, bits) & 0xFFFFFFFF if signed else part


def put(result: int, place: str, unused: str, old: int) -> int:
    """unused: UNUSED_PAD makes the rest 0, SEXT extends upward, PRESERVE keeps it."""
    start, bits = PLACES[place]
    mask = (1 << bits) - 1 << start
    part = (result << start) & mask
    if unused == "UNUSED_PRESERVE":
        return old & ~mask | part
    if unused == "UNUSED_SEXT" and result >> bits - 1 & 1:
        return part | 0xFFFFFFFF & ~((1 << start + bits) - 1)
    return part


def _sdwa(
    name: str,
    expect: Callable[[int, int], int],
    dst: str = "DWORD",
    unused: str = "UNUSED_PAD",
    a: str = "DWORD",
    b: str = "DWORD",
    signs: str = "",
) -> Case:
    """signs: of which sources sext is asked."""

    def told(x: int, y: int, z: int) -> int:
        sources = (taken(x, a, signed="a" in signs), taken(y, b, signed="b" in signs))
        return put(expect(*sources) & 0xFFFFFFFF, dst, unused, z)

    one, two = (f"sext({{{n}}})" if n in signs else f"{{{n}}}" for n in "ab")
    return case(
        f"{name}_sdwa {{d}}, {one}, {two} "
        f"dst_sel:{dst} dst_unused:{unused} src0_sel:{a} src1_sel:{b}",
        "d=u32<z",
        "a=u32 b=u32 z=u32",
        told,
    )


def plus(a: int, b: int) -> int:
    return a + b


CASES = (
    *(_sdwa("v_add_u32", plus, a=place) for place in PLACES),
    *(_sdwa("v_add_u32", plus, b=place) for place in PLACES if place not in ("DWORD", "BYTE_1")),
    *(_sdwa("v_add_u32", plus, a=place, b="WORD_1", signs="ab") for place in PLACES),
    *(
        _sdwa("v_add_u32", plus, dst=place, unused=unused, b="BYTE_1")
        for place in PLACES
        for unused in ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE")
        if place != "DWORD" or unused == "UNUSED_PAD"
    ),
    _sdwa("v_lshlrev_b32", lambda a, b: b << (a & 31), a="BYTE_3", b="WORD_1"),
    _sdwa("v_or_b32", lambda a, b: a | b, a="BYTE_2", b="BYTE_0"),
    _sdwa("v_mul_u32_u24", lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF), a="WORD_1", b="WORD_0"),
    _sdwa(
        "v_max_i32",
        lambda a, b: max(sext(a, 32), sext(b, 32)),
        a="BYTE_1",
        b="WORD_1",
        signs="ab",
    ),
    _sdwa("v_add_u16", plus, dst="WORD_1", unused="UNUSED_PRESERVE", a="WORD_1", b="BYTE_3"),
    case(
        "v_mov_b32_sdwa {d}, {a} dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1",
        "d=u32<z",
        "a=u32 z=u32",
        lambda a, z: put(a >> 16, "BYTE_2", "UNUSED_PRESERVE", z),
    ),
    case(
        "v_cvt_f32_f16_sdwa {d}, -|{a}| dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1",
        "d=f32",
        "a=f16x2",
        lambda a: -abs(a[1]),
    ),
    case(
        "v_cvt_f32_u32_sdwa {d}, {a} dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3",
        "d=f32",
        "a=u32",
        lambda a: float(a >> 24),
    ),
    case(
        "v_cvt_f32_i32_sdwa {d}, sext({a}) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1",
        "d=f32",
        "a=u32",
        lambda a: float(sext(a >> 8, 8)),
    ),
    case(
        "v_add_f16_sdwa {d}, {a}, -{b} dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE "
        "src0_sel:WORD_1 src1_sel:WORD_0",
        "d=f16x2<z",
        "a=f16x2 b=f16x2 z=u32",
        lambda a, b, z: z & 0xFFFF | add(a[1], -b[0], F16) << 16,
    ),
    case(
        "v_add_f32_sdwa {d}, |{a}|, {b} clamp dst_sel:DWORD dst_unused:UNUSED_PAD "
        "src0_sel:DWORD src1_sel:DWORD",
        "d=f32",
        "a=f32 b=f32",
        lambda a, b: _clamped(add(abs(a), b, F32)),
    ),
    case(
        "v_cmp_eq_u32_sdwa {m}, {a}, {b} src0_sel:BYTE_2 src1_sel:BYTE_0",
        "m=mask",
        "a=u32 b=u32",
        lambda a, b: (a >> 16 & 255) == (b & 255),
    ),
    case(
        "v_cmp_lt_i32_sdwa vcc, sext({a}), sext({b}) src0_sel:WORD_1 src1_sel:BYTE_3\n"
        "s_mov_b64 {m}, vcc",
        "m=mask",
        "a=u32 b=u32",
        lambda a, b: sext(a >> 16, 16) < sext(b >> 24, 8),
        name="v_cmp_lt_i32_sdwa vcc sext",
    ),
    case(
        """s_mov_b64 vcc, {c}
        v_cndmask_b32_sdwa {d}, {a}, {b}, vcc dst_sel:DWORD dst_unused:UNUSED_PAD """
        "src0_sel:BYTE_1 src1_sel:WORD_1",
        "d=u32",
        "a=u32 b=u32 c=mask",
        lambda a, b, c: b >> 16 if c else a >> 8 & 255,
        name="v_cndmask_b32_sdwa",
    ),
    case(
        "v_add_co_u32_sdwa {d}, vcc, {a}, {b} dst_sel:DWORD dst_unused:UNUSED_PAD "
        "src0_sel:WORD_1 src1_sel:DWORD\ns_mov_b64 {m}, vcc",
        "d=u32 m=mask",
        "a=u32 b=u32",
        lambda a, b: ((a >> 16) + b, (a >> 16) + b >> 32),
        name="v_add_co_u32_sdwa",
    ),
)


def _clamped(bits: int) -> int:
    value = F32.decode(bits)
    return 0 if not value > 0 else F32.encode(min(value, 1.0))
