"""What a case expects of every row, and where a device's results differ."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.evaluators.hip.emulator.case import Array, Case, Operand
from tests.evaluators.hip.emulator.floats import FORMATS, Format, ulps
from tests.evaluators.hip.emulator.values import inputs, whole_waves


def columns_of(one: Case, rows: int, seed: int) -> list[Array]:
    """Bits of each input, (rows,) or (rows, words)."""
    if one.values:
        rows = len(next(iter(one.values.values())))
    made = inputs(one.given, rows, seed)
    told = one.values or {}
    columns = [told.get(o.name, column) for o, column in zip(one.given, made, strict=True)]
    scalar = [o.where in ("s", "scc") and o.kind != "mask" for o in one.given]
    return [
        whole_waves(column, one.lanes) if same else column
        for column, same in zip(columns, scalar, strict=True)
    ]


def dwords(operand: Operand, column: Array) -> Array:
    """(words, rows)."""
    if operand.kind.startswith("w"):
        return column.T.astype(np.uint32)
    column = column.astype(np.uint64)
    parts = [column >> np.uint64(32 * n) for n in range(operand.words)]
    return np.stack(parts).astype(np.uint32)


def joined(operand: Operand, words: Array) -> Array:
    if operand.kind.startswith("w"):
        return words.T
    parts = [words[n].astype(np.uint64) << np.uint64(32 * n) for n in range(len(words))]
    return np.asarray(np.bitwise_or.reduce(parts))


def meant(kind: str, bits: Any) -> Any:
    """A row's bits as its kind says: an int, a float, or a tuple of dwords."""
    if kind.startswith("w"):
        return tuple(map(int, bits))
    if kind.endswith("x2"):
        form = FORMATS[kind[:-2]]
        mask = (1 << form.bits) - 1
        return form.decode(int(bits) & mask), form.decode(int(bits) >> form.bits & mask)
    if kind == "scc":
        return int(bits != 0)
    width = {"mask": 1}.get(kind) or int(kind.lstrip("uifb"))
    value = int(bits) & ((1 << width) - 1)
    if kind in FORMATS:
        return FORMATS[kind].decode(value)
    return value - (1 << width) if kind[0] == "i" and value >> width - 1 else value


def expected(
    one: Case, columns: Sequence[Array], rows: int, memory: bytearray | None
) -> list[list[Any]]:
    """By output, a value a row: bits, or a float to be rounded; None where it is not known."""
    first = () if memory is None else (memory,)
    if one.whole:
        waves = []
        for start in range(0, rows, one.lanes):
            here = [column[start : start + one.lanes] for column in columns]
            waves.append(_tuple(one.expect(*first, *here)))
        return [[v for wave in waves for v in wave[n]] for n in range(len(one.results))]
    kinds = ["scc" if o.where == "scc" else o.kind for o in one.given]
    told = []
    for row in range(rows):
        values = [meant(kind, column[row]) for kind, column in zip(kinds, columns, strict=True)]
        told.append(_tuple(one.expect(*first, *values)))
    return [[values[n] for values in told] for n in range(len(one.results))]


def _tuple(told: Any) -> tuple[Any, ...]:
    return told if isinstance(told, tuple) else (told,)


def differences(
    one: Case, columns: Sequence[Array], found: Sequence[Array], wanted: Sequence[Sequence[Any]]
) -> list[str]:
    said = []
    for operand, here, there in zip(one.results, found, wanted, strict=True):
        for row, (got, want) in enumerate(zip(here, there, strict=True)):
            if want is not None and not same(operand, got, want, one):
                given = ", ".join(
                    f"{o.name}={shown(column[row])}"
                    for o, column in zip(one.given, columns, strict=True)
                )
                said.append(
                    f"  row {row} {given}: {operand.name} is {shown(got)}, "
                    f"expected {shown(_bits(operand, want))}"
                )
    return said


def _bits(operand: Operand, want: Any) -> Any:
    if operand.kind.startswith("w"):
        return np.asarray(want, np.uint64)
    if operand.kind.endswith("x2") and isinstance(want, tuple):
        form = FORMATS[operand.kind[:-2]]
        low, high = (form.encode(v) if isinstance(v, float) else v for v in want)
        return low | high << form.bits
    if isinstance(want, float):
        return FORMATS[operand.kind].encode(want)
    return int(want) & ((1 << (1 if operand.kind == "mask" else 32 * operand.words)) - 1)


def same(operand: Operand, got: Any, want: Any, one: Case) -> bool:
    want = _bits(operand, want)
    if operand.kind.startswith("w"):
        return bool((np.asarray(got, np.uint64) == want).all())
    got = int(got)
    if operand.kind.endswith("x2"):
        form = FORMATS[operand.kind[:-2]]
        mask = (1 << form.bits) - 1
        parts = zip((got & mask, got >> form.bits), (want & mask, want >> form.bits), strict=True)
        return all(_same_float(here, there, form, one.ulp) for here, there in parts)
    if one.low_only:
        got, want = got & 0xFFFF, want & 0xFFFF
    elif operand.kind in ("u16", "i16"):
        want &= 0xFFFF
    if operand.kind not in FORMATS:
        return bool(got == want)
    return _same_float(got, want, FORMATS[operand.kind], one.ulp)


def _same_float(got: int, want: int, form: Format, ulp: int) -> bool:
    """A NaN is as good as another."""
    if got == want:
        return True
    if got >> form.bits or form.is_nan(got) or form.is_nan(want):
        return not got >> form.bits and form.is_nan(got) and form.is_nan(want)
    return ulps(got, want, form) <= ulp


def shown(bits: Any) -> str:
    if isinstance(bits, np.ndarray):
        return "[" + " ".join(f"{int(word):08x}" for word in bits) + "]"
    return f"0x{int(bits):x}"


def memory_differences(found: bytes, wanted: bytes) -> list[str]:
    here, there = (np.frombuffer(one, np.uint32) for one in (found, wanted))
    return [
        f"  dword {at} of memory is 0x{here[at]:08x}, expected 0x{there[at]:08x}"
        for at in np.flatnonzero(here != there)
    ]
