"""Access through a buffer descriptor, whose bounds are checked."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.evaluators.hip.emulator.case import LANES, Array, Case, case
from tests.evaluators.hip.emulator.memory_cases import (
    KINDS,
    NARROW,
    STORES,
    WAIT,
    WIDE,
    get,
    loaded,
    narrowed,
    put,
    some,
)

FORMAT = 0x00027000  # a 32-bit format, no swizzle


def descriptor(records: int, stride: int = 0) -> str:
    """Of the buffer's memory, as an operand."""
    first = "__builtin_amdgcn_readfirstlane"
    words = (
        f"(u32){first}((u32)(u64)mem)",
        f"(u32){first}((u32)((u64)mem>>32)&0xffff)|{stride << 16}u",
        f"{records}u",
        f"{FORMAT}u",
    )
    return f"r=s.w4:[(w4){{{','.join(words)}}}]"


def _reading(name: str, *, inside: int) -> Case:
    """offen: offsets are bytes; beyond the records 0 is read."""
    if name in NARROW:
        size, signed, half = NARROW[name]

        def expect(memory: bytearray, z: Array) -> list[Any]:
            made = []
            for lane in range(LANES):
                at = size * lane + 8
                value = get(memory, at, size) if at + size <= inside else 0
                made.append(narrowed(value, size, signed, half, int(z[lane])))
            return made

        outs, ins, step = "d=u32<z", "z=u32", size
    else:
        words = WIDE[name]
        step = 4 * words

        def expect(memory: bytearray, z: Array) -> list[Any]:
            del z
            nothing: Any = np.zeros(words, np.uint64) if words > 2 else 0
            return [
                loaded(memory, step * n + 8, words) if step * (n + 1) + 8 <= inside else nothing
                for n in range(LANES)
            ]

        outs, ins = f"d={KINDS[words]}", "z=u32"
    return case(
        f"buffer_load_{name} {{d}}, {{p}}, {{r}}, 0 offen offset:8{WAIT}",
        outs,
        f"{ins} p=u32:[{step}*lane] {descriptor(inside)}",
        expect,
        whole=True,
        memory=some(20),
        name=f"buffer_load_{name}, {inside} bytes",
    )


def _writing(name: str, *, inside: int) -> Case:
    size, shift = STORES.get(name, (4, 0))
    words = WIDE.get(name, 1)
    step = 4 * words if name in WIDE else 2 * size

    def expect(memory: bytearray, a: Array) -> list[int]:
        for lane in range(LANES):
            if step * lane + 8 + size * words > inside:
                continue
            for w in range(words):
                value = int(a[lane][w]) if words > 2 else int(a[lane]) >> 32 * w
                put(memory, step * lane + 8 + 4 * w, value >> shift, size)
        return [0] * LANES

    return case(
        f"buffer_store_{name} {{a}}, {{p}}, {{r}}, 0 offen offset:8{WAIT}",
        "d=u32<k",
        f"a={KINDS[words]} k=u32:0 p=u32:[{step}*lane] {descriptor(inside)}",
        expect,
        whole=True,
        memory=some(21),
        name=f"buffer_store_{name}, {inside} bytes",
    )


Place = Callable[[int], int | None]  # lane -> byte, None where out of bounds


def _placed(mode: str, operands: str, place: Place, name: str, vaddr: str = "{p}, ") -> Case:
    def expect(memory: bytearray) -> list[int]:
        places = map(place, range(LANES))
        return [0 if at is None else get(memory, at) for at in places]

    return case(
        f"buffer_load_dword {{d}}, {vaddr}{{r}}, {mode}{WAIT}",
        "d=u32",
        operands,
        expect,
        whole=True,
        rows=LANES,
        memory=some(22),
        name=f"buffer_load_dword {name}",
    )


PLACES = (
    _placed("0 offset:40", descriptor(1 << 12), lambda n: 40, "of one place", "off, "),
    _placed(
        "{s} offset:12",
        f"s=s.u32:100 {descriptor(1 << 12)}",
        lambda n: 112,
        "with an offset in an SGPR",
        "off, ",
    ),
    _placed(
        "{s} offen offset:12",
        f"s=s.u32:100 p=u32:[4*lane] {descriptor(1 << 12)}",
        lambda n: 112 + 4 * n,
        "with three offsets",
    ),
    _placed(
        "0 idxen",
        f"p=u32:[lane] {descriptor(40, 12)}",
        lambda n: 12 * n if n < 40 else None,
        "of 40 records of 12 bytes",
    ),
    _placed(
        "0 idxen offset:8",
        f"p=u32:[63-lane] {descriptor(40, 12)}",
        lambda n: 12 * (63 - n) + 8 if 63 - n < 40 else None,
        "of a record's last dword",
    ),
    _placed(
        "0 idxen offen offset:4",
        f"p=u64:[(u64)lane|(u64)((lane&1)*4)<<32] {descriptor(50, 16)}",
        lambda n: 16 * n + n % 2 * 4 + 4 if n < 50 else None,
        "by index and offset",
    ),
    _placed(
        "{s} idxen",
        f"s=s.u32:20 p=u32:[lane] {descriptor(64, 16)}",
        lambda n: 16 * n + 20,
        "by index, with an offset in an SGPR",
    ),
    _placed(
        "0 offen",
        f"p=u32:[lane<60?4*lane:0xffff0000u+4*lane] {descriptor(1 << 12)}",
        lambda n: 4 * n if n < 60 else None,
        "with offsets that are far out",
    ),
)


def _atomic(*, back: bool) -> Case:
    """Of lanes beyond the records, 0 comes back and nothing is changed."""
    inside = 4 * 50

    def expect(memory: bytearray, a: Array) -> list[int]:
        told = []
        for lane in range(LANES):
            old = get(memory, 4 * lane) if lane < 50 else 0
            if lane < 50:
                put(memory, 4 * lane, old + int(a[lane]))
            told.append(old if back else int(a[lane]))
        return told

    return case(
        f"buffer_atomic_add {{d}}, {{p}}, {{r}}, 0 offen{' sc0' if back else ''}{WAIT}",
        "d=u32<a",
        f"a=u32 p=u32:[4*lane] {descriptor(inside)}",
        expect,
        whole=True,
        memory=some(23),
        name="buffer_atomic_add" + (" returning" if back else ""),
    )


CASES = (
    *(_reading(name, inside=1 << 12) for name in (*NARROW, *WIDE)),
    *(_reading(name, inside=40) for name in ("ubyte", "sshort", "short_d16_hi", "dword")),
    *(_reading(name, inside=8 + 16 * 20) for name in ("dwordx2", "dwordx4")),
    *(_writing(name, inside=1 << 12) for name in (*STORES, *WIDE)),
    *(_writing(name, inside=40) for name in ("byte", "short", "dword")),
    *(_writing(name, inside=8 + 16 * 20) for name in ("dwordx2", "dwordx4")),
    *PLACES,
    _atomic(back=False),
    _atomic(back=True),
)
