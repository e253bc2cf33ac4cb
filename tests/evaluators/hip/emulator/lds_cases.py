"""Instructions on LDS: reads and writes of every width, pairs and halves."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.evaluators.hip.emulator.case import LANES, Array, Case, case
from tests.evaluators.hip.emulator.memory_cases import (
    DWORDS,
    KINDS,
    STORES,
    get,
    loaded,
    narrowed,
    put,
    some,
)

SHARED = f"__shared__ __attribute__((aligned(16))) u32 lds[{DWORDS}];"
ALL = f'_Pragma("unroll 1") for (int i = lane; i < {DWORDS}; i += 64)'
IN = f"{ALL} lds[i] = mem[i]; __syncthreads();"
OUT = f"__syncthreads(); {ALL} mem[i] = lds[i];"
BASE = "(u32)(u64)(__attribute__((address_space(3)))u32*)lds"
DONE = "\ns_waitcnt lgkmcnt(0)"


def lds(asm: str, outs: str, ins: str, expect: Callable[..., Any], **more: Any) -> Case:
    """LDS begins as the buffer, which becomes what LDS then holds."""
    return case(
        asm + DONE,
        outs,
        ins,
        expect,
        **{"whole": True, "memory": some(7), "name": asm.split("\n", 1)[0], **more},
        shared=SHARED,
        before=IN,
        after=OUT,
    )


def at(step: int, more: int = 0) -> str:
    return f"p=u32:[{BASE}+{step}*lane+{more}]"


NARROW = {
    "u8": (1, False, ""),
    "i8": (1, True, ""),
    "u16": (2, False, ""),
    "i16": (2, True, ""),
    "u8_d16": (1, False, "low"),
    "u8_d16_hi": (1, False, "high"),
    "i8_d16": (1, True, "low"),
    "i8_d16_hi": (1, True, "high"),
    "u16_d16": (2, False, "low"),
    "u16_d16_hi": (2, False, "high"),
}
WIDE = {"b32": 1, "b64": 2, "b96": 3, "b128": 4}
WRITES = {"b8": "byte", "b16": "short", "b8_d16_hi": "byte_d16_hi", "b16_d16_hi": "short_d16_hi"}


def _read_narrow(name: str, size: int, signed: bool, half: str) -> Case:
    return lds(
        f"ds_read_{name} {{d}}, {{p}} offset:{size}",
        "d=u32<z",
        f"z=u32 {at(size)}",
        lambda memory, z: [
            narrowed(get(memory, size * (n + 1), size), size, signed, half, int(z[n]))
            for n in range(LANES)
        ],
    )


def _read(name: str, words: int) -> Case:
    step = 16 if words > 2 else 4 * words
    return lds(
        f"ds_read_{name} {{d}}, {{p}} offset:16",
        f"d={KINDS[words]}",
        f"{at(step)}",
        lambda memory: [loaded(memory, step * n + 16, words) for n in range(LANES)],
    )


def _write_narrow(name: str, size: int, shift: int) -> Case:
    def expect(memory: bytearray, a: Array) -> list[int]:
        for lane in range(LANES):
            put(memory, 2 * size * lane + 5 * size, int(a[lane]) >> shift, size)
        return [0] * LANES

    return lds(
        f"ds_write_{name} {{p}}, {{a}} offset:{5 * size}",
        "d=u32<k",
        f"a=u32 k=u32:0 {at(2 * size)}",
        expect,
    )


def _write(name: str, words: int) -> Case:
    step = 16 if words > 2 else 8 * words

    def expect(memory: bytearray, a: Array) -> list[int]:
        for lane in range(LANES):
            for w in range(words):
                value = int(a[lane][w]) if words > 2 else int(a[lane]) >> 32 * w
                put(memory, step * lane + 32 + 4 * w, value)
        return [0] * LANES

    return lds(
        f"ds_write_{name} {{p}}, {{a}} offset:32",
        "d=u32<k",
        f"a={KINDS[words]} k=u32:0 {at(step)}",
        expect,
    )


def _read_two(name: str, words: int, unit: int) -> Case:
    offsets = (1, 2) if unit > 8 else (3, 5)
    return lds(
        f"ds_read{name} {{d}}, {{p}} offset0:{offsets[0]} offset1:{offsets[1]}",
        f"d={KINDS[2 * words]}",
        f"{at(4 * words)}",
        lambda memory: [
            _both([loaded(memory, 4 * words * n + o * unit, words) for o in offsets], words)
            for n in range(LANES)
        ],
    )


def _both(parts: list[int], words: int) -> Any:
    if words == 1:
        return parts[0] | parts[1] << 32
    return np.array([p >> 32 * n & 0xFFFFFFFF for p in parts for n in (0, 1)], np.uint64)


def _write_two(name: str, words: int, unit: int) -> Case:
    """Places do not overlap: lanes lie apart, or the two lie beyond all lanes of one another."""
    step, offsets = (8 * words, (0, 1)) if unit <= 8 else (4 * words, (0, 2))

    def expect(memory: bytearray, a: Array, b: Array) -> list[int]:
        for lane in range(LANES):
            for offset, value in zip(offsets, (a, b), strict=True):
                put(memory, step * lane + offset * unit, int(value[lane]), 4 * words)
        return [0] * LANES

    kind = KINDS[words]
    return lds(
        f"ds_write{name} {{p}}, {{a}}, {{b}} offset0:{offsets[0]} offset1:{offsets[1]}",
        "d=u32<k",
        f"a={kind} b={kind} k=u32:0 {at(step)}",
        expect,
    )


HALF_OFF = 0x0FF0_33CC_5A5A_8001


def _partly() -> Case:
    """Lanes that are off neither read nor write."""

    def expect(memory: bytearray, a: Array, z: Array) -> list[int]:
        on = [HALF_OFF >> n & 1 for n in range(LANES)]
        made = [get(memory, 4 * n) if on[n] else int(z[n]) for n in range(LANES)]
        for lane in np.flatnonzero(on):
            put(memory, 1024 + 4 * int(lane), int(a[lane]))
            put(memory, 2048, get(memory, 2048) + int(a[lane]))
        return made

    return lds(
        """s_mov_b64 {t}, exec
        s_mov_b64 exec, {e}
        ds_read_b32 {d}, {p}
        ds_write_b32 {p}, {a} offset:1024
        ds_add_u32 {q}, {a} offset:2048
        s_waitcnt lgkmcnt(0)
        s_mov_b64 exec, {t}""",
        "d=u32<z t=s.u64?",
        f"a=u32 z=u32 {at(4)} q=u32:[{BASE}] e=s.u64:0x{HALF_OFF:x}ull",
        expect,
        name="ds_read_b32, ds_write_b32 and ds_add_u32, some lanes off",
    )


PLAIN = (
    *(_read_narrow(name, *one) for name, one in NARROW.items()),
    *(_read(name, words) for name, words in WIDE.items()),
    *(_write_narrow(name, *STORES[of]) for name, of in WRITES.items()),
    *(_write(name, words) for name, words in WIDE.items()),
    _read_two("2_b32", 1, 4),
    _read_two("2_b64", 2, 8),
    _read_two("2st64_b32", 1, 256),
    _read_two("2st64_b64", 2, 512),
    _write_two("2_b32", 1, 4),
    _write_two("2_b64", 2, 8),
    _write_two("2st64_b32", 1, 256),
    _write_two("2st64_b64", 2, 512),
    _partly(),
)

CASES = PLAIN
