"""Flat access to LDS and to a lane's own memory; scalar loads by descriptors; indexed registers."""

from typing import Any

import numpy as np

from tests.evaluators.hip.emulator.atomic_cases import CHANGES
from tests.evaluators.hip.emulator.buffer_cases import descriptor
from tests.evaluators.hip.emulator.case import LANES, Array, Case, case
from tests.evaluators.hip.emulator.lds_cases import IN, OUT, SHARED
from tests.evaluators.hip.emulator.memory_cases import PRIVATE, WAIT, get, loaded, put, some


def _shared(asm: str, outs: str, ins: str, expect: Any, name: str) -> Case:
    return case(
        asm + WAIT,
        outs,
        ins,
        expect,
        whole=True,
        memory=some(40),
        shared=SHARED,
        before=IN,
        after=OUT,
        name=name,
    )


def _stored(memory: bytearray, a: Array) -> list[int]:
    for lane in range(LANES):
        put(memory, 64 + 8 * lane, int(a[lane]), 8)
    return [0] * LANES


def _added(memory: bytearray, a: Array) -> list[int]:
    made = []
    for lane in range(LANES):
        old = get(memory, 4 * lane)
        put(memory, 4 * lane, CHANGES["add"](old, int(a[lane]), 32))
        made.append(old)
    return made


LDS = (
    _shared(
        "flat_load_dword {d}, {p} offset:16",
        "d=u32",
        "p=u64:[(u64)(lds+(lane^9))]",
        lambda memory: [get(memory, 4 * (n ^ 9) + 16) for n in range(LANES)],
        "flat_load_dword of LDS",
    ),
    _shared(
        "flat_load_dwordx4 {d}, {p}",
        "d=w4",
        "p=u64:[(u64)(lds+4*lane)]",
        lambda memory: [loaded(memory, 16 * n, 4) for n in range(LANES)],
        "flat_load_dwordx4 of LDS",
    ),
    _shared(
        "flat_store_dwordx2 {p}, {a} offset:64",
        "d=u32<k",
        "a=u64 k=u32:0 p=u64:[(u64)(lds+2*lane)]",
        _stored,
        "flat_store_dwordx2 to LDS",
    ),
    _shared(
        "flat_atomic_add {d}, {p}, {a} sc0",
        "d=u32",
        "a=u32 p=u64:[(u64)(lds+lane)]",
        _added,
        "flat_atomic_add on LDS",
    ),
    _shared(
        """s_mov_b64 {s}, src_shared_base
        v_cmp_eq_u64 {m}, {s}, {p}""",
        "m=mask s=s.u64?",
        "p=u64:[(u64)lds&~0xffffffffull]",
        lambda memory: [1] * LANES,
        "src_shared_base is where flat addresses of LDS begin",
    ),
    case(
        f"flat_load_dword {{d}}, {{p}}{WAIT}",
        "d=u32",
        "p=u64:[lane&1?(u64)(lds+lane):(u64)(mem+lane)]",
        lambda memory: [get(memory, 4 * (n + 128 if n % 2 else n)) for n in range(LANES)],
        whole=True,
        memory=some(41),
        shared=SHARED,
        before="lds[lane] = mem[lane + 128]; __syncthreads();",
        after="__syncthreads();",
        name="flat_load_dword of LDS and memory at once",
    ),
)


def _own(memory: bytearray) -> list[int]:
    return [get(memory, 4 * (n + 64 * (n % 8))) + n % 32 for n in range(LANES)]


def _sum(memory: bytearray, lane: int, at: int, value: int) -> int:
    """Of a lane's 32 dwords, one of them replaced."""
    total = 0
    for i in range(32):
        was = get(memory, 4 * (lane + 64 * (i % 8))) + i
        total += (value if i == at else was) * (i + 1)
    return total


OWN = PRIVATE + ' asm volatile("" :: "v"(own) : "memory");'
PRIVATES = (
    case(
        f"flat_load_dword {{d}}, {{p}}{WAIT}",
        "d=u32",
        "p=u64:[(u64)(own+lane%32)]",
        _own,
        whole=True,
        memory=some(42),
        shared=OWN,
        name="flat_load_dword of a lane's own memory",
    ),
    case(
        f"flat_store_dword {{p}}, {{a}} offset:8{WAIT}",
        "d=u32<k",
        "a=u32 k=u32:0 p=u64:[(u64)(own+lane%16)]",
        lambda memory, a: [_sum(memory, n, n % 16 + 2, int(a[n])) for n in range(LANES)],
        whole=True,
        memory=some(43),
        shared=OWN,
        after="for (int i = 0; i < 32; i++) d += own[i] * (i + 1);",
        name="flat_store_dword to a lane's own memory",
    ),
)


def _by_descriptor(name: str, words: int, at: int, inside: int) -> Case:
    kind = {1: "u32", 2: "u64", 4: "w4", 8: "w8"}[words]

    def expect(memory: bytearray) -> Any:
        nothing: Any = np.zeros(words, np.uint64) if words > 2 else 0
        return [loaded(memory, at, words) if at < inside else nothing] * LANES

    return case(
        f"s_buffer_load_{name} {{d}}, {{r}}, 0x{at:x}\ns_waitcnt lgkmcnt(0)",
        f"d=s.{kind}",
        descriptor(inside),
        expect,
        whole=True,
        rows=LANES,
        memory=some(44),
        name=f"s_buffer_load_{name} at {at} of {inside}",
    )


SCALARS = (
    _by_descriptor("dword", 1, 100, 1024),
    _by_descriptor("dword", 1, 1024, 1024),
    _by_descriptor("dwordx2", 2, 40, 1024),
    _by_descriptor("dwordx4", 4, 160, 1024),
    _by_descriptor("dwordx8", 8, 64, 1024),
    *(
        case(
            f"s_load_dword {{d}}, {{p}}, {text}\ns_waitcnt lgkmcnt(0)",
            "d=s.u32",
            "p=s.u64:[(u64)mem+256] o=s.u32:20",
            lambda memory, at=at: [get(memory, at)] * LANES,
            whole=True,
            rows=LANES,
            memory=some(45),
            name=f"s_load_dword {text}",
        )
        for text, at in (("-0x20", 224), ("{o} offset:0x24", 312))
    ),
)

FILLED = "\n".join(f"v_add_u32 v{40 + n}, {n}, {{a}}" for n in range(4))
REGISTERS = ("v40", "v41", "v42", "v43", "vcc", "scc", "memory")
INDEXED = (
    case(
        f"""{FILLED}
        s_set_gpr_idx_on {{i}}, gpr_idx(SRC0)
        v_mov_b32 {{d}}, v40
        s_set_gpr_idx_off""",
        "d=u32",
        "a=u32 c=s.u32 i=s.u32:[c&3]",
        lambda a, c: a + c % 4,
        rows=8 * LANES,
        clobbers=REGISTERS,
        name="s_set_gpr_idx_on for a source",
    ),
    case(
        f"""{FILLED}
        s_set_gpr_idx_on {{i}}, gpr_idx(DST)
        v_mov_b32 v40, {{b}}
        s_set_gpr_idx_off
        v_xor_b32 {{d}}, v40, v41
        v_xor_b32 {{e}}, v42, v43""",
        "d=u32 e=u32",
        "a=u32 b=u32 c=s.u32 i=s.u32:[c&3]",
        lambda a, b, c: _replaced(a, b, c % 4),
        rows=8 * LANES,
        clobbers=REGISTERS,
        name="s_set_gpr_idx_on for a destination",
    ),
)


def _replaced(a: int, b: int, at: int) -> tuple[int, int]:
    held = [a + n & 0xFFFFFFFF for n in range(4)]
    held[at] = b
    return held[0] ^ held[1], held[2] ^ held[3]


CASES = (*LDS, *PRIVATES, *SCALARS, *INDEXED)
