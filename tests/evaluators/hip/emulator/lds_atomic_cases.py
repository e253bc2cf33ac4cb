"""Atomics on LDS, with and without what was there, and its counters."""

from collections.abc import Callable

import numpy as np

from tests.evaluators.hip.emulator.atomic_cases import (
    CHANGES,
    FLOATS,
    Change,
    numbers,
    whole_numbers,
)
from tests.evaluators.hip.emulator.case import LANES, Array, Case
from tests.evaluators.hip.emulator.lds_cases import BASE, at, lds
from tests.evaluators.hip.emulator.memory_cases import get, put, some

NAMES = {  # ds_NAME_TYPE: which change
    **{f"{name}_u": name for name in ("add", "sub", "inc", "dec")},
    "min_i": "smin",
    "max_i": "smax",
    "min_u": "umin",
    "max_u": "umax",
    **{f"{name}_b": name for name in ("and", "or", "xor")},
}


def _atomic(name: str, bits: int, change: Change, start: Array, data: Array, *, back: bool) -> Case:
    """Of 64 lanes, each at its own 8 bytes."""
    kind = f"u{bits}"

    def expect(memory: bytearray, a: Array) -> list[int]:
        told = []
        for lane in range(LANES):
            old = get(memory, 8 * lane, bits // 8)
            put(memory, 8 * lane, change(old, int(a[lane]), bits), bits // 8)
            told.append(old if back else 7)
        return told

    memory = some(8)
    memory[: 2 * LANES] = start.astype(np.uint64).view(np.uint32)
    return lds(
        f"ds_{name} " + ("{d}, " if back else "") + "{p}, {a}",
        f"d={kind}<k",
        f"a={kind} k={kind}:7 {at(8)}",
        expect,
        memory=memory,
        values={"a": data},
    )


def _atomics() -> list[Case]:
    made = []
    for number, (text, name) in enumerate(NAMES.items()):
        operation, letter = text.split("_")
        for bits in (32, 64):
            start, data = numbers(bits, number), numbers(bits, 100 + number)
            for back in (False, True):
                full = f"{operation}_{'rtn_' if back else ''}{letter}{bits}"
                made.append(_atomic(full, bits, CHANGES[name], start, data, back=back))
    for bits in (32, 64):
        start, data = numbers(bits, 60), numbers(bits, 61)
        made.append(_atomic(f"wrxchg_rtn_b{bits}", bits, CHANGES["swap"], start, data, back=True))
        for back in (False, True):
            full = f"rsub_{'rtn_' if back else ''}u{bits}"
            change = lambda old, new, n: new - old  # noqa: E731
            made.append(_atomic(full, bits, change, start, data, back=back))
    return made


def _float_atomics() -> list[Case]:
    made = []
    for name in ("add_f32", "add_f64", "min_f64", "max_f64", "pk_add_f16", "pk_add_bf16"):
        bits, dtype, change = FLOATS[name]
        start, data = whole_numbers(bits, dtype, 1), whole_numbers(bits, dtype, 2)
        operation, kind = name.rsplit("_", 1)
        for back in (False, True):
            full = f"{operation}_{'rtn_' if back else ''}{kind}"
            made.append(_atomic(full, bits, change, start, data, back=back))
    return made


def _three(name: str, bits: int, change: Callable[[int, int, int], int], *, back: bool) -> Case:
    """With two operands: of the old value, and of both. Half of the old ones equal the first."""
    kind, size = f"u{bits}", bits // 8
    start, second = numbers(bits, 70), numbers(bits, 71)
    first = np.where(np.arange(LANES) % 2 == 0, start, numbers(bits, 72))

    def expect(memory: bytearray, a: Array, b: Array) -> list[int]:
        told = []
        for lane in range(LANES):
            old = get(memory, 8 * lane, size)
            put(memory, 8 * lane, change(old, int(a[lane]), int(b[lane])), size)
            told.append(old if back else 7)
        return told

    memory = some(9)
    memory[: 2 * LANES] = start.view(np.uint32)
    return lds(
        f"ds_{name} " + ("{d}, " if back else "") + "{p}, {a}, {b}",
        f"d={kind}<k",
        f"a={kind} b={kind} k={kind}:7 {at(8)}",
        expect,
        memory=memory,
        values={"a": first, "b": second},
    )


def _compared(old: int, first: int, second: int) -> int:
    return second if old == first else old


def _masked(old: int, first: int, second: int) -> int:
    return old & ~first | second


THREES = tuple(
    _three(f"{name}_{'rtn_' if back else ''}b{bits}", bits, f, back=back)
    for name, f in (("cmpst", _compared), ("mskor", _masked))
    for bits in (32, 64)
    for back in (False, True)
)


def _counter(name: str, sign: int) -> Case:
    """M0 holds the base; d is the count before, and all lanes that are on count."""

    def expect(memory: bytearray) -> list[int]:
        old = get(memory, 16)
        put(memory, 16, old + sign * LANES)
        return [old] * LANES

    return lds(
        f"s_mov_b32 m0, {{m}}\ns_nop 4\nds_{name} {{d}} offset:16",
        "d=u32",
        f"m=s.u32:[__builtin_amdgcn_readfirstlane({BASE})]",
        expect,
        name=f"ds_{name}",
    )


CASES = (
    *_atomics(),
    *_float_atomics(),
    *THREES,
    _counter("append", 1),
    _counter("consume", -1),
)
