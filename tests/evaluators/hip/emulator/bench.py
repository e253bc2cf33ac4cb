"""Compiles many instructions' kernels into one code object, runs them, and compares."""

from collections.abc import Sequence
from importlib import import_module
from types import TracebackType
from typing import Any, Self

import numpy as np

from evaluators.acceptance.launching import DEADLINE_S, launch, plan
from evaluators.device import Binary, Buffer, Compiled, Session
from evaluators.hip.hiprtc import HiprtcChild
from tests.evaluators.hip.emulator.case import LANES, Array, Case, Operand, source
from tests.evaluators.hip.emulator.floats import FORMATS, Format, ulps
from tests.evaluators.hip.emulator.values import inputs, whole_waves

ARCH = "gfx942"
BUFFER_BYTES = 1 << 20
MEMORY_BYTES = 8 << 20
SHOWN = 3


class Bench:
    """One group's code object on the emulated device; compiled when first used."""

    def __init__(self, child: HiprtcChild, cases: Sequence[Case]) -> None:
        self._cases = tuple(cases)
        made = child.compile(source(self._cases), arch=ARCH)
        symbols = {f"k{at}": f"k{at}" for at in range(len(self._cases))}
        self.mnemonics = made.mnemonics
        self._compiled = Compiled(
            kernel_id="instructions",
            backend="hip",
            arch=ARCH,
            engine="hip",
            compiler=child.version,
            binaries={(): Binary(data=made.code, symbols=symbols)},
        )
        self._device: Any = None
        self._session: Session | None = None
        self._buffers: dict[str, Buffer] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end_session()
        if self._device is not None:
            self._device.close()

    def check(self, one: Case) -> None:
        """Raises AssertionError with the first rows that differ."""
        at = self._cases.index(one)
        rows = one.rows or {1: 96}.get(one.lanes, LANES if one.memory is not None else 4 * LANES)
        columns = columns_of(one, rows, seed=at)
        rows = len(columns[0]) if columns else rows
        found, memory = self._run(f"k{at}", one, columns, rows)
        after = bytearray(one.memory.tobytes()) if one.memory is not None else None
        said = differences(one, columns, found, expected(one, columns, rows, after))
        if after is not None and memory != bytes(after):
            said += memory_differences(memory, bytes(after))
        assert not said, f"{one.asm.strip()}: {len(said)} differ\n" + "\n".join(said[:SHOWN])

    def _run(
        self, symbol: str, one: Case, columns: Sequence[Array], rows: int
    ) -> tuple[list[Array], bytes]:
        session = self._open()
        buffers = self._buffers
        words = [dwords(o, column) for o, column in zip(one.given, columns, strict=True)]
        packed = np.concatenate(words) if words else np.zeros((1, rows), np.uint32)
        session.write(buffers["in"].view(0, packed.nbytes), packed)
        count = sum(operand.words for operand in one.results)
        result = buffers["out"].view(0, 4 * max(count, 1) * rows)
        session.fill(result, 0xCC)
        memory = np.zeros(64, np.uint32) if one.memory is None else one.memory
        session.write(buffers["mem"].view(0, memory.nbytes), memory)
        step = launch(
            symbol,
            ["in", "out", "mem", rows],
            grid=(rows // one.lanes, 1, 1),
            block=(one.lanes, 1, 1),
        )
        try:
            session.run(plan(step), buffers, deadline_s=DEADLINE_S)
        except BaseException:
            self._end_session()
            raise
        out = session.read(result, np.dtype(np.uint32), (max(count, 1), rows))
        left = session.read(buffers["mem"].view(0, memory.nbytes), memory.dtype, memory.shape)
        found, word = [], 0
        for operand in one.results:
            found.append(joined(operand, out[word : word + operand.words]))
            word += operand.words
        return found, left.tobytes()

    def _open(self) -> Session:
        if self._session is None:
            if self._device is None:
                self._device = import_module("evaluators.hip.emulator.device").open_emulated(0)
            session: Session = self._device.open(self._compiled, memory_bytes=MEMORY_BYTES)
            self._session = session
            self._buffers = {name: session.alloc(BUFFER_BYTES) for name in ("in", "out", "mem")}
        return self._session

    def _end_session(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None


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
    kinds = [operand.kind for operand in one.given]
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
