"""Integer instructions of the vector ALU, from the guide's text."""

from tests.evaluators.hip.emulator.case import Case, Expect, case

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1


def sext(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if bits and value >> bits - 1 else value


def i24(value: int) -> int:
    return sext(value, 24)


def u24(value: int) -> int:
    return value & 0xFFFFFF


def _two(name: str, kind: str, expect: Expect) -> Case:
    """d = a op b, all of one kind."""
    return case(f"{name} {{d}}, {{a}}, {{b}}", f"d={kind}", f"a={kind} b={kind}", expect)


def _three(name: str, kind: str, expect: Expect) -> Case:
    ins = f"a={kind} b={kind} c={kind}"
    return case(f"{name} {{d}}, {{a}}, {{b}}, {{c}}", f"d={kind}", ins, expect)


def brev(value: int, bits: int = 32) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)


def ffbh(value: int) -> int:
    return 32 - value.bit_length() if value else -1


def ffbh_i(value: int) -> int:
    other = value ^ M32 if value >> 31 else value
    return 32 - other.bit_length() if other else -1


def ffbl(value: int) -> int:
    return (value & -value).bit_length() - 1 if value else -1


def bfm(a: int, b: int) -> int:
    return ((1 << (a & 31)) - 1) << (b & 31)


def bytes_of(value: int) -> list[int]:
    return list((value & M32).to_bytes(4, "little"))


def sad(a: int, b: int, c: int) -> int:
    return c + sum(abs(x - y) for x, y in zip(bytes_of(a), bytes_of(b), strict=True))


def msad(a: int, b: int, c: int) -> int:
    return c + sum(abs(x - y) for x, y in zip(bytes_of(a), bytes_of(b), strict=True) if y)


def perm(a: int, b: int, c: int) -> int:
    data = bytes_of(b) + bytes_of(a)

    def one(selector: int) -> int:
        if selector >= 13:
            return 0xFF
        if selector == 12:
            return 0
        return data[selector] if selector < 8 else 0xFF * (data[2 * (selector - 8) + 1] >> 7)

    return sum(one(s) << 8 * n for n, s in enumerate(bytes_of(c)))


def lerp(a: int, b: int, c: int) -> int:
    parts = zip(bytes_of(a), bytes_of(b), bytes_of(c), strict=True)
    return sum((x + y + (z & 1) >> 1) << 8 * n for n, (x, y, z) in enumerate(parts))


def med3(a: int, b: int, c: int) -> int:
    return sorted((a, b, c))[1]


WORDS = (
    _two("v_add_u32", "u32", lambda a, b: a + b),
    _two("v_sub_u32", "u32", lambda a, b: a - b),
    _two("v_subrev_u32", "u32", lambda a, b: b - a),
    _two("v_mul_lo_u32", "u32", lambda a, b: a * b),
    _two("v_mul_hi_u32", "u32", lambda a, b: a * b >> 32),
    _two("v_mul_hi_i32", "i32", lambda a, b: a * b >> 32),
    _two("v_mul_u32_u24", "u32", lambda a, b: u24(a) * u24(b)),
    _two("v_mul_hi_u32_u24", "u32", lambda a, b: u24(a) * u24(b) >> 32),
    _two("v_mul_i32_i24", "u32", lambda a, b: i24(a) * i24(b)),
    _two("v_mul_hi_i32_i24", "u32", lambda a, b: i24(a) * i24(b) >> 32),
    _two("v_and_b32", "u32", lambda a, b: a & b),
    _two("v_or_b32", "u32", lambda a, b: a | b),
    _two("v_xor_b32", "u32", lambda a, b: a ^ b),
    _two("v_xnor_b32", "u32", lambda a, b: ~(a ^ b)),
    _two("v_min_i32", "i32", min),
    _two("v_max_i32", "i32", max),
    _two("v_min_u32", "u32", min),
    _two("v_max_u32", "u32", max),
    _two("v_lshlrev_b32", "u32", lambda a, b: b << (a & 31)),
    _two("v_lshrrev_b32", "u32", lambda a, b: b >> (a & 31)),
    _two("v_ashrrev_i32", "i32", lambda a, b: b >> (a & 31)),
    _two("v_bfm_b32", "u32", bfm),
    _two("v_bcnt_u32_b32", "u32", lambda a, b: a.bit_count() + b),
    _two("v_cvt_pk_u16_u32", "u32", lambda a, b: min(a, 0xFFFF) | min(b, 0xFFFF) << 16),
    _two(
        "v_cvt_pk_i16_i32",
        "i32",
        lambda a, b: (
            max(min(a, 0x7FFF), -0x8000) & 0xFFFF | (max(min(b, 0x7FFF), -0x8000) & 0xFFFF) << 16
        ),
    ),
    case("v_not_b32 {d}, {a}", "d=u32", "a=u32", lambda a: ~a),
    case("v_bfrev_b32 {d}, {a}", "d=u32", "a=u32", brev),
    case("v_ffbh_u32 {d}, {a}", "d=u32", "a=u32", ffbh),
    case("v_ffbh_i32 {d}, {a}", "d=u32", "a=u32", ffbh_i),
    case("v_ffbl_b32 {d}, {a}", "d=u32", "a=u32", ffbl),
    case("v_mov_b32 {d}, {a}", "d=u32", "a=u32", lambda a: a),
    case("v_mov_b32 {d}, {a}", "d=u32", "a=s.u32", lambda a: a, name="v_mov_b32 of an SGPR"),
    case("v_mov_b32 {d}, -16", "d=u32", "a=u32", lambda a: -16),
    case("v_mov_b32 {d}, 0.15915494", "d=u32", "a=u32", lambda a: 0x3E22F983),
    case("v_mov_b32 {d}, 0x12345678", "d=u32", "a=u32", lambda a: 0x12345678),
    case("v_add_u32 {d}, 0xdeadbeef, {a}", "d=u32", "a=u32", lambda a: a + 0xDEADBEEF),
    case("v_and_b32 {d}, -4.0, {a}", "d=u32", "a=u32", lambda a: a & 0xC0800000),
    case("v_mov_b64 {d}, {a}", "d=u64", "a=u64", lambda a: a),
    case("v_swap_b32 {d}, {e}", "d=u32<a e=u32<b", "a=u32 b=u32", lambda a, b: (b, a)),
    case("v_add_u32 {d}, {a}, {b} clamp", "d=u32", "a=u32 b=u32", lambda a, b: min(a + b, M32)),
    case("v_sub_u32 {d}, {a}, {b} clamp", "d=u32", "a=u32 b=u32", lambda a, b: max(a - b, 0)),
    case(
        "v_add_i32 {d}, {a}, {b} clamp",
        "d=i32",
        "a=i32 b=i32",
        lambda a, b: max(min(a + b, 0x7FFFFFFF), -0x80000000),
    ),
    _two("v_add_i32", "i32", lambda a, b: a + b),
    case(
        "v_sub_i32 {d}, {a}, {b} clamp",
        "d=i32",
        "a=i32 b=i32",
        lambda a, b: max(min(a - b, 0x7FFFFFFF), -0x80000000),
    ),
)

THREES = (
    _three("v_mad_u32_u24", "u32", lambda a, b, c: u24(a) * u24(b) + c),
    _three("v_mad_i32_i24", "u32", lambda a, b, c: i24(a) * i24(b) + c),
    _three("v_mad_u32_u16", "u32", lambda a, b, c: (a & 0xFFFF) * (b & 0xFFFF) + c),
    _three("v_mad_i32_i16", "u32", lambda a, b, c: sext(a, 16) * sext(b, 16) + c),
    _three("v_lshl_add_u32", "u32", lambda a, b, c: (a << (b & 31)) + c),
    _three("v_add_lshl_u32", "u32", lambda a, b, c: (a + b & M32) << (c & 31)),
    _three("v_lshl_or_b32", "u32", lambda a, b, c: a << (b & 31) | c),
    _three("v_and_or_b32", "u32", lambda a, b, c: a & b | c),
    _three("v_or3_b32", "u32", lambda a, b, c: a | b | c),
    _three("v_xad_u32", "u32", lambda a, b, c: (a ^ b) + c),
    _three("v_add3_u32", "u32", lambda a, b, c: a + b + c),
    _three("v_bfe_u32", "u32", lambda a, b, c: a >> (b & 31) & ((1 << (c & 31)) - 1)),
    _three("v_bfe_i32", "i32", lambda a, b, c: sext(a >> (b & 31), c & 31)),
    _three("v_bfi_b32", "u32", lambda a, b, c: a & b | ~a & c),
    _three("v_alignbit_b32", "u32", lambda a, b, c: (a << 32 | b) >> (c & 31)),
    _three("v_alignbyte_b32", "u32", lambda a, b, c: (a << 32 | b) >> 8 * (c & 3)),
    _three("v_perm_b32", "u32", perm),
    _three("v_sad_u8", "u32", sad),
    _three("v_sad_hi_u8", "u32", lambda a, b, c: (sad(a, b, 0) << 16) + c),
    _three(
        "v_sad_u16",
        "u32",
        lambda a, b, c: c + abs((a & 0xFFFF) - (b & 0xFFFF)) + abs((a >> 16) - (b >> 16)),
    ),
    _three("v_sad_u32", "u32", lambda a, b, c: c + abs(a - b)),
    _three("v_msad_u8", "u32", msad),
    _three("v_lerp_u8", "u32", lerp),
    _three("v_min3_i32", "i32", min),
    _three("v_max3_i32", "i32", max),
    _three("v_med3_i32", "i32", med3),
    _three("v_min3_u32", "u32", min),
    _three("v_max3_u32", "u32", max),
    _three("v_med3_u32", "u32", med3),
    case(
        "v_perm_b32 {d}, {a}, {b}, {c}",
        "d=u32",
        "a=u32 b=u32 c=s.u32",
        perm,
        name="v_perm_b32 with a scalar selector",
    ),
)

WIDE = (
    case("v_lshlrev_b64 {d}, {a}, {b}", "d=u64", "a=u32 b=u64", lambda a, b: b << (a & 63)),
    case("v_lshrrev_b64 {d}, {a}, {b}", "d=u64", "a=u32 b=u64", lambda a, b: b >> (a & 63)),
    case("v_ashrrev_i64 {d}, {a}, {b}", "d=i64", "a=u32 b=i64", lambda a, b: b >> (a & 63)),
    case(
        "v_lshl_add_u64 {d}, {a}, {b}, {c}",
        "d=u64",
        "a=u64 b=u32 c=u64",
        lambda a, b, c: (a << b % 8) + c,
        name="v_lshl_add_u64",
    ),
    case(
        "v_mad_u64_u32 {d}, {m}, {a}, {b}, {c}",
        "d=u64 m=mask",
        "a=u32 b=u32 c=u64",
        lambda a, b, c: (a * b + c, a * b + c >> 64),
    ),
    case(
        "v_mad_i64_i32 {d}, {m}, {a}, {b}, {c}",
        "d=u64 m=mask",
        "a=i32 b=i32 c=i64",
        lambda a, b, c: (a * b + c, a * b + c >> 64 & 1),
    ),
    case(
        "v_qsad_pk_u16_u8 {d}, {a}, {b}, {c}",
        "d=u64",
        "a=u64 b=u32 c=u64",
        lambda a, b, c: sum(
            (sad(a >> 8 * n, b, c >> 16 * n & 0xFFFF) & 0xFFFF) << 16 * n for n in range(4)
        ),
    ),
)

CARRIES = (
    *(
        case(
            f"{name}_co_u32 {{d}}, {{m}}, {{a}}, {{b}}",
            "d=u32 m=mask",
            "a=u32 b=u32",
            lambda a, b, f=f: (f(a, b, 0), f(a, b, 0) >> 32 & 1),
        )
        for name, f in (
            ("v_add", lambda a, b, c: a + b + c),
            ("v_sub", lambda a, b, c: a - b - c),
            ("v_subrev", lambda a, b, c: b - a - c),
        )
    ),
    *(
        case(
            f"{name}_co_u32 {{d}}, {{m}}, {{a}}, {{b}}, {{c}}",
            "d=u32 m=mask",
            "a=u32 b=u32 c=mask",
            lambda a, b, c, f=f: (f(a, b, c), f(a, b, c) >> 32 & 1),
        )
        for name, f in (
            ("v_addc", lambda a, b, c: a + b + c),
            ("v_subb", lambda a, b, c: a - b - c),
            ("v_subbrev", lambda a, b, c: b - a - c),
        )
    ),
    case(
        """s_mov_b64 vcc, {c}
        v_addc_co_u32 {d}, vcc, {a}, {b}, vcc
        s_mov_b64 {m}, vcc""",
        "d=u32 m=mask",
        "a=u32 b=u32 c=mask",
        lambda a, b, c: (a + b + c, a + b + c >> 32),
        name="v_addc_co_u32 in vcc",
    ),
    case(
        """v_sub_co_u32 {d}, vcc, {a}, {b}
        s_mov_b64 {m}, vcc""",
        "d=u32 m=mask",
        "a=u32 b=u32",
        lambda a, b: (a - b, a < b),
        name="v_sub_co_u32 in vcc",
    ),
    case(
        "v_cndmask_b32 {d}, {a}, {b}, {c}",
        "d=u32",
        "a=u32 b=u32 c=mask",
        lambda a, b, c: b if c else a,
    ),
    case(
        """s_mov_b64 vcc, {c}
        v_cndmask_b32 {d}, {a}, {b}, vcc""",
        "d=u32",
        "a=u32 b=u32 c=mask",
        lambda a, b, c: b if c else a,
        name="v_cndmask_b32 by vcc",
    ),
    case(
        "v_cndmask_b32 {d}, -{a}, |{b}|, {c}",
        "d=u32",
        "a=u32 b=u32 c=mask",
        lambda a, b, c: b & 0x7FFFFFFF if c else a ^ 0x80000000,
    ),
)

CASES = (*WORDS, *THREES, *WIDE, *CARRIES)
