"""Atomics on global, flat and buffer memory, each lane at its own place or all at one."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tests.evaluators.hip.emulator.case import LANES, Array, Case, case
from tests.evaluators.hip.emulator.integer_cases import sext
from tests.evaluators.hip.emulator.memory_cases import WAIT, get, put

Change = Callable[[int, int, int], int]  # old, data, bits -> new

CHANGES: dict[str, Change] = {
    "swap": lambda old, data, bits: data,
    "add": lambda old, data, bits: old + data,
    "sub": lambda old, data, bits: old - data,
    "smin": lambda old, data, bits: min(sext(old, bits), sext(data, bits)),
    "umin": lambda old, data, bits: min(old, data),
    "smax": lambda old, data, bits: max(sext(old, bits), sext(data, bits)),
    "umax": lambda old, data, bits: max(old, data),
    "and": lambda old, data, bits: old & data,
    "or": lambda old, data, bits: old | data,
    "xor": lambda old, data, bits: old ^ data,
    "inc": lambda old, data, bits: 0 if old >= data else old + 1,
    "dec": lambda old, data, bits: data if old == 0 or old > data else old - 1,
}


def _float_change(dtype: Any, f: Callable[[Any, Any], Any]) -> Change:
    """On every element of the dtype that the bits hold."""

    def change(old: int, data: int, bits: int) -> int:
        sides = [np.frombuffer(value.to_bytes(bits // 8, "little"), dtype) for value in (old, data)]
        return int.from_bytes(f(*sides).astype(dtype).tobytes(), "little")

    return change


FLOATS: dict[str, tuple[int, Any, Change]] = {
    "add_f32": (32, np.float32, _float_change(np.float32, np.add)),
    "add_f64": (64, np.float64, _float_change(np.float64, np.add)),
    "min_f64": (64, np.float64, _float_change(np.float64, np.minimum)),
    "max_f64": (64, np.float64, _float_change(np.float64, np.maximum)),
    "pk_add_f16": (32, np.float16, _float_change(np.float16, np.add)),
    "pk_add_bf16": (32, ml_dtypes.bfloat16, _float_change(ml_dtypes.bfloat16, np.add)),
}


def numbers(bits: int, seed: int, count: int = LANES) -> Array:
    """Near each other, near zero and at the ends, so that every comparison goes both ways."""
    random = np.random.default_rng(seed)
    top = (1 << bits) - 1
    edge = [0, 1, 2, top, top - 1, 1 << bits - 1, (1 << bits - 1) - 1, 5]
    made = random.choice(np.array(edge, np.uint64), count)
    some = random.integers(0, top, count, np.uint64, endpoint=True)
    return np.asarray(np.where(random.random(count) < 0.6, made, some))


def whole_numbers(bits: int, dtype: Any, seed: int, count: int = LANES) -> Array:
    """Bits of small whole numbers, whose sums are exact."""
    random = np.random.default_rng(seed)
    each = bits // (8 * np.dtype(dtype).itemsize)
    values = random.integers(-20, 21, (count, each)).astype(np.float32).astype(dtype)
    return values.view(f"u{bits // 8}").astype(np.uint64).reshape(count)


def as_memory(values: Array, bits: int) -> Array:
    return values.astype(f"u{bits // 8}").view(np.uint32).copy()


SPACES = {
    "global": ("{p}, {a}, off", "p=u64:[(u64)mem+8*lane]"),
    "flat": ("{p}, {a}", "p=u64:[(u64)mem+8*lane]"),
    "saddr": ("{p}, {a}, {s} offset:8", "p=u32:[8*lane] s=s.u64:[(u64)mem-8]"),
}


def atomic(
    space: str, name: str, bits: int, change: Change, start: Array, data: Array, *, back: bool
) -> Case:
    """back: whether it returns what was there. A lane's place is 8 bytes from the next one's."""
    where, operands = SPACES[space]
    prefix = "global" if space == "saddr" else space
    if back:
        where = f"{{d}}, {where}"
    kind = f"u{bits}"

    def expect(memory: bytearray, a: Array) -> list[int]:
        told = []
        for lane in range(LANES):
            old = get(memory, 8 * lane, bits // 8)
            put(memory, 8 * lane, change(old, int(a[lane]), bits), bits // 8)
            told.append(old if back else 7)
        return told

    memory = np.zeros(LANES, np.uint64)
    memory[:] = start
    text = f"{prefix}_atomic_{name} {where}" + (" sc0" if back else "")
    return case(
        text + WAIT,
        f"d={kind}<k",
        f"a={kind} k={kind}:7 {operands}",
        expect,
        whole=True,
        memory=memory.view(np.uint32).copy(),
        values={"a": data},
        name=f"{prefix}_atomic_{name}"
        + (" returning" if back else "")
        + (" saddr" * ("s=" in operands)),
    )


def _integers() -> list[Case]:
    made = []
    for number, (name, change) in enumerate(CHANGES.items()):
        for bits, suffix in ((32, ""), (64, "_x2")):
            start, data = numbers(bits, number), numbers(bits, 100 + number)
            for space in SPACES:
                for back in (False, True):
                    made.append(atomic(space, name + suffix, bits, change, start, data, back=back))
    return made


def _floats() -> list[Case]:
    made = []
    for name, (bits, dtype, change) in FLOATS.items():
        start, data = whole_numbers(bits, dtype, 1), whole_numbers(bits, dtype, 2)
        for space in ("global", "flat"):
            for back in (False, True):
                made.append(atomic(space, name, bits, change, start, data, back=back))
    return made


def _swap(bits: int, *, back: bool) -> Case:
    """The data's first half is the new value, the second what is compared."""
    start = numbers(bits, 50)
    new, other = numbers(bits, 51), numbers(bits, 52)
    compared = np.where(np.arange(LANES) % 2 == 0, start, other)
    size = bits // 8
    if bits == 32:
        data, kind = new | compared << np.uint64(32), "u64"
    else:
        parts = [
            v >> np.uint64(32 * n) & np.uint64(0xFFFFFFFF) for v in (new, compared) for n in (0, 1)
        ]
        data, kind = np.stack(parts, 1), "w4"

    def expect(memory: bytearray, a: Array) -> list[int]:
        del a
        told = []
        for lane in range(LANES):
            old = get(memory, 8 * lane, size)
            if old == int(compared[lane]):
                put(memory, 8 * lane, int(new[lane]), size)
            told.append(old if back else 7)
        return told

    suffix = "" if bits == 32 else "_x2"
    return case(
        f"global_atomic_cmpswap{suffix} {'{d}, ' if back else ''}{{p}}, {{a}}, off"
        f"{' sc0' if back else ''}{WAIT}",
        f"d=u{bits}<k",
        f"a={kind} k=u{bits}:7 p=u64:[(u64)mem+8*lane]",
        expect,
        whole=True,
        memory=start.view(np.uint32).copy(),
        values={"a": data},
        name=f"global_atomic_cmpswap{suffix}" + (" returning" if back else ""),
    )


def _together(name: str, change: Change) -> Case:
    """All lanes at one place: what they return, sorted, is what a sum in some order would be."""

    def expect(memory: bytearray, a: Array) -> list[int]:
        for value in a:
            put(memory, 0, change(get(memory, 0), int(value), 32))
        return [7] * LANES

    return case(
        f"global_atomic_{name} {{p}}, {{a}}, off{WAIT}",
        "d=u32<k",
        "a=u32 k=u32:7 p=u64:[(u64)mem]",
        expect,
        whole=True,
        rows=LANES,
        memory=np.array([41, 1], np.uint32),
        name=f"global_atomic_{name} of all lanes at one place",
    )


COUNTED = case(
    f"global_atomic_add {{d}}, {{p}}, {{a}}, off sc0{WAIT}",
    "d=u32",
    "a=u32 p=u64:[(u64)mem]",
    lambda memory, a: _counted(memory),
    whole=True,
    memory=np.zeros(LANES + 1, np.uint32),
    values={"a": np.ones(LANES, np.uint64)},
    after="""for (int i = 0; i < 64; i++) if (__shfl(d, i) == (u32)lane) { mem[1 + lane] = 1; }
    d = 0;""",
    name="global_atomic_add of all lanes at one place returns every count once",
)


def _counted(memory: bytearray) -> list[int]:
    put(memory, 0, LANES)
    for lane in range(LANES):
        put(memory, 4 + 4 * lane, 1)
    return [0] * LANES


CASES = (
    *_integers(),
    *_floats(),
    *(_swap(bits, back=back) for bits in (32, 64) for back in (False, True)),
    *(_together(name, CHANGES[name]) for name in ("add", "umax", "smin", "xor", "or")),
    COUNTED,
)
