"""Loads and stores: global, flat, scratch, scalar and through buffer descriptors."""

from typing import Any

import numpy as np

from tests.evaluators.hip.emulator.case import LANES, Array, Case, case
from tests.evaluators.hip.emulator.integer_cases import sext

DWORDS = 1024
WAIT = "\ns_waitcnt vmcnt(0) lgkmcnt(0)"
M16 = 0xFFFF


def some(seed: int = 0, dwords: int = DWORDS) -> Array:
    random = np.random.default_rng(seed)
    return random.integers(0, 1 << 32, dwords, np.uint64).astype(np.uint32)


def get(memory: bytearray, at: int, size: int = 4) -> int:
    return int.from_bytes(memory[at : at + size], "little")


def put(memory: bytearray, at: int, value: int, size: int = 4) -> None:
    memory[at : at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")


# name: bytes, signed, and the half of the register that it changes alone
NARROW = {
    "ubyte": (1, False, ""),
    "sbyte": (1, True, ""),
    "ushort": (2, False, ""),
    "sshort": (2, True, ""),
    "ubyte_d16": (1, False, "low"),
    "ubyte_d16_hi": (1, False, "high"),
    "sbyte_d16": (1, True, "low"),
    "sbyte_d16_hi": (1, True, "high"),
    "short_d16": (2, False, "low"),
    "short_d16_hi": (2, False, "high"),
}
WIDE = {"dword": 1, "dwordx2": 2, "dwordx3": 3, "dwordx4": 4}
STORES = {
    "byte": (1, 0),
    "short": (2, 0),
    "byte_d16_hi": (1, 16),
    "short_d16_hi": (2, 16),
}
KINDS = {1: "u32", 2: "u64", 3: "w3", 4: "w4"}


def narrowed(value: int, size: int, signed: bool, half: str, old: int) -> int:
    if signed:
        value = sext(value, 8 * size)
    if half == "low":
        return old & ~M16 | value & M16
    return old & M16 | (value & M16) << 16 if half else value


def loaded(memory: bytearray, at: int, words: int) -> Any:
    """So many dwords, as a result of that kind."""
    told = [get(memory, at + 4 * n) for n in range(words)]
    return np.array(told, np.uint64) if words > 2 else get(memory, at, 4 * words)


class Address:
    """How an access names its place: asm after the data, operands, and the byte of a lane."""

    def __init__(self, text: str, operands: str, base: int, step: int, flags: str = "") -> None:
        self.text, self.operands, self.flags = text, operands, flags
        self.base, self.step = base, step

    def at(self, lane: int) -> int:
        return self.base + self.step * lane


def addresses(space: str, step: int) -> dict[str, Address]:
    """Each lane step bytes from the one before."""
    if space == "flat":
        return {
            "": Address("{p}", f"p=u64:[(u64)mem+{step}*lane+64]", 64, step),
            " offset:4092": Address(
                "{p}", f"p=u64:[(u64)mem+{step}*lane-4092+64]", 64, step, " offset:4092"
            ),
        }
    return {
        " off": Address("{p}, off", f"p=u64:[(u64)mem+{step}*lane+64]", 64, step),
        " off offset:-64": Address(
            "{p}, off", f"p=u64:[(u64)mem+{step}*lane+128]", 64, step, " offset:-64"
        ),
        " saddr offset:16": Address(
            "{p}, {s}", f"p=u32:[{step}*lane+48] s=s.u64:[(u64)mem]", 64, step, " offset:16"
        ),
        " saddr offset:-4096": Address(
            "{p}, {s}",
            f"p=u32:[{step}*lane] s=s.u64:[(u64)mem+4096+64]",
            64,
            step,
            " offset:-4096",
        ),
    }


def load(space: str, name: str, how: str) -> Case:
    if name in NARROW:
        size, signed, half = NARROW[name]
        place = addresses(space, size)[how]

        def narrow(memory: bytearray, z: Array) -> list[int]:
            return [
                narrowed(get(memory, place.at(n), size), size, signed, half, int(z[n]))
                for n in range(LANES)
            ]

        outs, ins, expect = "d=u32<z", f"z=u32 {place.operands}", narrow
    else:
        words = WIDE[name]
        place = addresses(space, 4 * words)[how]

        def wide(memory: bytearray) -> Any:
            return [loaded(memory, place.at(n), words) for n in range(LANES)]

        outs, ins, expect = f"d={KINDS[words]}", place.operands, wide  # type: ignore[assignment]
    return case(
        f"{space}_load_{name} {{d}}, {place.text}{place.flags}{WAIT}",
        outs,
        ins,
        expect,
        whole=True,
        memory=some(),
        name=f"{space}_load_{name}{how}",
    )


def store(space: str, name: str, how: str) -> Case:
    if name in STORES:
        size, shift = STORES[name]
        words, step = 1, 2 * size  # what lies between is to stay
    else:
        words = WIDE[name]
        size, shift, step = 4, 0, 4 * words
    place = addresses(space, step)[how]

    def expect(memory: bytearray, a: Array) -> list[int]:
        for lane in range(LANES):
            for w in range(words):
                value = int(a[lane][w]) if words > 2 else int(a[lane]) >> 32 * w
                put(memory, place.at(lane) + 4 * w, value >> shift, size)
        return [0] * LANES

    return case(
        f"{space}_store_{name} " + place.text.replace("{p}", "{p}, {a}") + place.flags + WAIT,
        "d=u32<k",
        f"a={KINDS[words]} k=u32:0 {place.operands}",
        expect,
        whole=True,
        memory=some(1),
        name=f"{space}_store_{name}{how}",
    )


def _spaces() -> list[Case]:
    made = []
    for space in ("global", "flat"):
        hows = list(addresses(space, 4))
        for number, name in enumerate([*NARROW, *WIDE]):
            chosen = hows if name == "dword" else [hows[number % len(hows)]]
            made += [load(space, name, how) for how in chosen]
        for number, name in enumerate([*STORES, *WIDE]):
            chosen = hows if name == "dword" else [hows[number % len(hows)]]
            made += [store(space, name, how) for how in chosen]
    return made


SCALAR_LOADS = tuple(
    case(
        f"s_load_{name} {{d}}, {{p}}, {text}\ns_waitcnt lgkmcnt(0)",
        f"d=s.{kind}",
        "a=s.u32 p=s.u64:[(u64)mem] o=s.u32:[(a&63)*4]",
        lambda memory, a, words=words, base=base: (
            [loaded(memory, base if base >= 0 else int(a[0]) % 64 * 4, words)] * LANES
        ),
        whole=True,
        memory=some(3),
        name=f"s_load_{name} {text}",
    )
    for name, words, kind in (
        ("dword", 1, "u32"),
        ("dwordx2", 2, "u64"),
        ("dwordx4", 4, "w4"),
        ("dwordx8", 8, "w8"),
        ("dwordx16", 16, "w16"),
    )
    for text, base in (("0x40", 0x40), ("{o}", -1))
)


def _only(memory: bytearray, a: Array, z: Array, e: Array) -> list[int]:
    made = [get(memory, 4 * n) if e[n] else int(z[n]) for n in range(LANES)]
    for lane in np.flatnonzero(e):
        put(memory, 2048 + 4 * int(lane), int(a[lane]))
    return made


OFF = case(
    f"""s_mov_b64 {{t}}, exec
    s_mov_b64 exec, {{e}}
    global_load_dword {{d}}, {{p}}, off
    global_store_dword {{p}}, {{a}}, off offset:2048{WAIT}
    s_mov_b64 exec, {{t}}""",
    "d=u32<z t=s.u64?",
    "a=u32 z=u32 e=mask p=u64:[(u64)mem+4*lane]",
    _only,
    whole=True,
    memory=some(4),
    name="global_load_dword and global_store_dword, some lanes off",
)


TO_LDS = case(
    """s_mov_b32 m0, {m}
    s_nop 4
    global_load_lds_dword {p}, off offset:8
    s_waitcnt vmcnt(0)""",
    "d=u32<k",
    "a=u32 k=u32:0 m=s.u32:[(u32)__builtin_amdgcn_readfirstlane((u32)(u64)"
    "(__attribute__((address_space(3)))u32*)lds)+64] p=u64:[(u64)mem+4*(lane^5)]",
    lambda memory, a: [get(memory, 8 + 4 * (n ^ 5)) for n in range(LANES)],
    whole=True,
    memory=some(5),
    before="__syncthreads();",
    after="__syncthreads(); d = lds[(64+8)/4+lane];",
    shared="__shared__ u32 lds[256];",
    name="global_load_lds_dword: M0, the instruction's offset, and 4 bytes a lane",
)

PRIVATE = "u32 own[32]; for (int i = 0; i < 32; i++) own[i] = mem[lane + 64 * (i % 8)] + i;"
OWN = "(u32)(__attribute__((address_space(5)))u32*)own"


def private(asm: str, expect: Any, base: str) -> Case:
    """On a lane's own 32 dwords; d is what is loaded, e the sum of all afterwards."""

    def told(memory: bytearray, a: Array) -> tuple[list[int], list[int]]:
        loads, sums = [], []
        for lane in range(LANES):
            own = bytearray(128)
            for i in range(32):
                put(own, 4 * i, get(memory, 4 * (lane + 64 * (i % 8))) + i)
            loads.append(expect(own, int(a[lane])))
            sums.append(sum(get(own, 4 * i) * (i + 1) for i in range(32)))
        return loads, sums

    return case(
        f"{asm}{WAIT}",
        "d=u32<k e=u32<l",
        f"a=u32 k=u32:7 l=u32:0 {base}",
        told,
        whole=True,
        memory=some(6),
        shared=PRIVATE + ' asm volatile("" :: "v"(own) : "memory");',
        after="for (int i = 0; i < 32; i++) e += own[i] * (i + 1);",
    )


def _stored(own: bytearray, at: int, value: int, size: int = 4) -> int:
    put(own, at, value, size)
    return 7


IN_VGPR, IN_SGPR = f"p=u32:[{OWN}]", f"p=s.u32:[__builtin_amdgcn_readfirstlane({OWN})]"
SCRATCH = (
    private("scratch_load_dword {d}, {p}, off offset:20", lambda own, a: get(own, 20), IN_VGPR),
    private("scratch_load_ushort {d}, {p}, off offset:6", lambda own, a: get(own, 6, 2), IN_VGPR),
    private("scratch_load_sbyte {d}, {p}, off offset:3", lambda own, a: sext(own[3], 8), IN_VGPR),
    private("scratch_load_dword {d}, off, {p} offset:124", lambda own, a: get(own, 124), IN_SGPR),
    private(
        "scratch_store_dword {p}, {a}, off offset:40",
        lambda own, a: _stored(own, 40, a),
        IN_VGPR,
    ),
    private(
        "scratch_store_short {p}, {a}, off offset:42",
        lambda own, a: _stored(own, 42, a, 2),
        IN_VGPR,
    ),
    private(
        "scratch_store_byte_d16_hi {p}, {a}, off offset:1",
        lambda own, a: _stored(own, 1, a >> 16, 1),
        IN_VGPR,
    ),
    private(
        "scratch_store_dword off, {a}, {p} offset:8", lambda own, a: _stored(own, 8, a), IN_SGPR
    ),
)

CASES = (*_spaces(), *SCALAR_LOADS, OFF, TO_LDS, *SCRATCH)
