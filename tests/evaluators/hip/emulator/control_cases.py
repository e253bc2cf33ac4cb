"""Branches, calls, EXEC and its saving, registers of the hardware, relative moves."""

from collections.abc import Callable

from tests.evaluators.hip.emulator.case import Case, case
from tests.evaluators.hip.emulator.scalar_cases import M64, scalar

SAVES: dict[str, Callable[[int, int], int]] = {
    "and_saveexec": lambda s, e: s & e,
    "or_saveexec": lambda s, e: s | e,
    "xor_saveexec": lambda s, e: s ^ e,
    "andn2_saveexec": lambda s, e: s & ~e,
    "orn2_saveexec": lambda s, e: s | ~e,
    "nand_saveexec": lambda s, e: ~(s & e),
    "nor_saveexec": lambda s, e: ~(s | e),
    "xnor_saveexec": lambda s, e: ~(s ^ e),
    "andn1_saveexec": lambda s, e: ~s & e,
    "orn1_saveexec": lambda s, e: ~s | e,
}


def _saving(name: str, expect: Callable[[int, int], int]) -> Case:
    return scalar(
        f"""s_mov_b64 {{t}}, exec
        s_mov_b64 exec, {{b}}
        s_{name}_b64 {{d}}, {{a}}
        s_cselect_b32 {{e}}, 1, 0
        s_mov_b64 {{x}}, exec
        s_mov_b64 exec, {{t}}""",
        "t=u64? d=u64 e=u32 x=u64",
        "a=u64 b=u64",
        lambda a, b: (b, expect(a, b) & M64 != 0, expect(a, b)),
        name=f"s_{name}_b64",
    )


def _writing(name: str, expect: Callable[[int, int], int]) -> Case:
    return scalar(
        f"""s_mov_b64 {{t}}, exec
        s_mov_b64 exec, {{b}}
        s_{name}_wrexec_b64 {{d}}, {{a}}
        s_cselect_b32 {{e}}, 1, 0
        s_mov_b64 {{x}}, exec
        s_mov_b64 exec, {{t}}""",
        "t=u64? d=u64 e=u32 x=u64",
        "a=u64 b=u64",
        lambda a, b: (expect(a, b), expect(a, b) & M64 != 0, expect(a, b)),
        name=f"s_{name}_wrexec_b64",
    )


def _branch(name: str, before: str, ins: str, taken: Callable[..., bool]) -> Case:
    """d is 1 where the branch is taken, 2 where not."""
    return scalar(
        f"""s_mov_b64 {{t}}, exec
        {before}
        s_movk_i32 {{d}}, 1
        {name} .Ltaken_%=
        s_movk_i32 {{d}}, 2
        .Ltaken_%=:
        s_mov_b64 exec, {{t}}""",
        "t=u64? d=u32",
        ins,
        lambda *a: 1 if taken(*a) else 2,
        name=name,
    )


JUMPS = (
    _branch("s_cbranch_scc0", "s_cmp_lg_u32 {a}, 0", "a=u32", lambda a: a == 0),
    _branch("s_cbranch_scc1", "s_cmp_lg_u32 {a}, 0", "a=u32", lambda a: a != 0),
    _branch("s_cbranch_vccz", "s_mov_b64 vcc, {a}", "a=u64", lambda a: a == 0),
    _branch("s_cbranch_vccnz", "s_mov_b64 vcc, {a}", "a=u64", lambda a: a != 0),
    _branch("s_cbranch_execz", "s_mov_b64 exec, {a}", "a=u64", lambda a: a == 0),
    _branch("s_cbranch_execnz", "s_mov_b64 exec, {a}", "a=u64", lambda a: a != 0),
    _branch("s_branch", "", "a=u32", lambda a: True),
    scalar(
        """s_mov_b32 {d}, 0
        .Lloop_%=:
        s_add_u32 {d}, {d}, 3
        s_sub_u32 {n}, {n}, 1
        s_cmp_lg_u32 {n}, 0
        s_cbranch_scc1 .Lloop_%=""",
        "d=u32 n=u32<b",
        "a=u32 b=u32:[a%17u+1u]",
        lambda a: (3 * (a % 17 + 1), 0),
        name="a loop backward",
    ),
    scalar(
        """s_movk_i32 {d}, 5
        s_call_b64 {r}, .Lcalled_%=
        s_add_u32 {d}, {d}, 100
        s_branch .Ldone_%=
        .Lcalled_%=:
        s_mul_i32 {d}, {d}, {a}
        s_setpc_b64 {r}
        .Ldone_%=:""",
        "d=u32 r=u64?",
        "a=u32",
        lambda a: 5 * a + 100,
        name="s_call_b64 and s_setpc_b64",
    ),
    scalar(
        """s_movk_i32 {d}, 7
        s_getpc_b64 vcc
        .Lhere_%=:
        s_add_u32 vcc_lo, vcc_lo, .Lcalled_%=-.Lhere_%=
        s_addc_u32 vcc_hi, vcc_hi, 0
        s_swappc_b64 {r}, vcc
        s_add_u32 {d}, {d}, 100
        s_branch .Ldone_%=
        .Lcalled_%=:
        s_add_u32 {d}, {d}, {a}
        s_setpc_b64 {r}
        .Ldone_%=:""",
        "d=u32 r=u64?",
        "a=u32",
        lambda a: 107 + a,
        name="s_getpc_b64 and s_swappc_b64",
    ),
)

MOVES = (
    scalar(
        """s_mov_b32 s20, {a}
        s_mov_b32 s21, {b}
        s_mov_b32 s22, 33
        s_mov_b32 m0, {n}
        s_nop 4
        s_movrels_b32 {d}, s20""",
        "d=u32",
        "a=u32 b=u32 c=u32 n=u32:[c%3u]",
        lambda a, b, c: (a, b, 33)[c % 3],
        name="s_movrels_b32",
        clobbers=("s20", "s21", "s22", "memory"),
    ),
    scalar(
        """s_mov_b32 s20, 11
        s_mov_b32 s21, 22
        s_mov_b32 m0, {n}
        s_nop 4
        s_movreld_b32 s20, {a}
        s_mov_b32 {d}, s20
        s_mov_b32 {e}, s21""",
        "d=u32 e=u32",
        "a=u32 c=u32 n=u32:[c%2u]",
        lambda a, c: (11, a) if c % 2 else (a, 22),
        name="s_movreld_b32",
        clobbers=("s20", "s21", "memory"),
    ),
    scalar(
        """s_mov_b64 s[20:21], {a}
        s_mov_b64 s[22:23], {b}
        s_mov_b32 m0, {n}
        s_nop 4
        s_movrels_b64 {d}, s[20:21]""",
        "d=u64",
        "a=u64 b=u64 c=u32 n=u32:[c%2u*2u]",
        lambda a, b, c: (a, b)[c % 2],
        name="s_movrels_b64",
        clobbers=("s20", "s21", "s22", "s23", "memory"),
    ),
)

HARDWARE = (
    scalar(
        "s_getreg_b32 {d}, hwreg(HW_REG_MODE, 0, 10)",
        "d=u32",
        "a=u32",
        # Round to even, denormals kept, DX10_CLAMP and IEEE: what HIP asks for.
        lambda a: 0x3F0,
        name="MODE as HIP sets it",
    ),
    scalar(
        """s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), {n}
        s_nop 4
        s_getreg_b32 {d}, hwreg(HW_REG_MODE, 0, 8)
        s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0""",
        "d=u32",
        "a=u32 n=u32:[a&15u]",
        lambda a: 0xF0 | a & 15,
        name="s_setreg_b32 and s_getreg_b32 of a field",
    ),
    case(
        "s_getreg_b32 {d}, hwreg(HW_REG_MODE, 4, 4)",
        "d=s.u32",
        "a=u32",
        lambda a: 15,
        name="s_getreg_b32 of denormal modes",
    ),
)


PARTIAL = (
    case(
        """s_mov_b64 {t}, exec
        s_mov_b64 exec, {e}
        v_add_u32 {d}, {a}, {b}
        s_mov_b64 exec, {t}""",
        "d=u32<z t=s.u64?",
        "a=u32 b=u32 z=u32 e=mask",
        lambda a, b, z, e: a + b if e else z,
        name="v_add_u32 with lanes off",
    ),
    case(
        """s_mov_b64 {t}, exec
        s_mov_b64 exec, {e}
        v_mov_b64 {d}, {a}
        s_mov_b64 exec, {t}""",
        "d=u64<z t=s.u64?",
        "a=u64 z=u64 e=mask",
        lambda a, z, e: a if e else z,
        name="v_mov_b64 with lanes off",
    ),
    case(
        """s_mov_b64 {t}, exec
        s_mov_b64 exec, {e}
        v_accvgpr_write_b32 {d}, {a}
        s_mov_b64 exec, {t}""",
        "d=a.u32<z t=s.u64?",
        "a=u32 z=u32 e=mask",
        lambda a, z, e: a if e else z,
        name="v_accvgpr_write_b32 with lanes off",
    ),
    case("v_accvgpr_read_b32 {d}, {a}", "d=u32", "a=a.u32", lambda a: a),
    case("v_accvgpr_write_b32 {d}, {a}", "d=a.u32", "a=u32", lambda a: a),
    case("v_accvgpr_mov_b32 {d}, {a}", "d=a.u32", "a=a.u32", lambda a: a),
)

BARRIER = case(
    "s_waitcnt lgkmcnt(0)\ns_barrier",
    "d=u32<k",
    "a=u32 k=u32:0",
    lambda a: [int(a[n ^ 192]) for n in range(256)],
    whole=True,
    lanes=256,
    rows=512,
    shared="__shared__ u32 lds[256];",
    before="lds[lane] = a;",
    after="d = lds[lane ^ 192];",
    name="s_barrier between four wavefronts",
)

CASES = (
    *(_saving(*one) for one in SAVES.items()),
    _writing("andn1", lambda s, e: ~s & e),
    _writing("andn2", lambda s, e: s & ~e),
    *JUMPS,
    *MOVES,
    *HARDWARE,
    *PARTIAL,
    BARRIER,
)
