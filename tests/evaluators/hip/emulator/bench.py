"""Compiles instructions' kernels, many a code object, runs them, and compares."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np
import pytest

from evaluators.acceptance.launching import DEADLINE_S, launch, plan
from evaluators.device import Binary, Buffer, Compiled, Session
from evaluators.evaluation import Rejected
from evaluators.hip.emulator.device import EmulatedDevice, open_emulated
from evaluators.hip.hiprtc import HiprtcChild
from tests.evaluators.hip.emulator.case import LANES, Array, Case, source
from tests.evaluators.hip.emulator.compare import (
    columns_of,
    differences,
    dwords,
    expected,
    joined,
    memory_differences,
)
from tests.evaluators.hip.emulator.refused import REFUSED

ARCH = "gfx942"
BUFFER_BYTES = 1 << 20
MEMORY_BYTES = 8 << 20
KERNELS = 40
"""Of a code object: small ones are read sooner, and one that is not understood hides fewer."""
SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A session on the code object of some cases."""

    session: Session
    symbols: Mapping[str, str]  # by the case's name
    buffers: Mapping[str, Buffer]


class Bench:
    """The emulated device, with the code object in use; cases that are neighbours share one."""

    def __init__(self, child: HiprtcChild, cases: Sequence[Case]) -> None:
        self._child = child
        self._cases = tuple(cases)
        self._places = {one.name: at for at, one in enumerate(self._cases)}
        assert len(self._places) == len(self._cases), "two cases have one name"
        self._device: EmulatedDevice | None = None
        self._opened: Opened | None = None
        self._compiled: dict[int, Compiled] = {}

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
        rows = one.rows or {1: 96}.get(one.lanes, LANES if one.memory is not None else 4 * LANES)
        columns = columns_of(one, rows, seed=zlib.crc32(one.name.encode()))
        rows = len(columns[0]) if columns else rows
        if one.name in REFUSED:
            with pytest.raises(Rejected, match="the emulator does not know"):
                self._run(one, columns, rows)
            return
        found, memory = self._run(one, columns, rows)
        after = bytearray(one.memory.tobytes()) if one.memory is not None else None
        said = differences(one, columns, found, expected(one, columns, rows, after))
        if after is not None and memory != bytes(after):
            said += memory_differences(memory, bytes(after))
        assert not said, f"{one.asm.strip()}: {len(said)} differ\n" + "\n".join(said[:SHOWN])

    def _run(self, one: Case, columns: Sequence[Array], rows: int) -> tuple[list[Array], bytes]:
        opened = self._open(one)
        session, buffers = opened.session, opened.buffers
        words = [dwords(o, column) for o, column in zip(one.given, columns, strict=True)]
        packed = np.concatenate(words) if words else np.zeros((1, rows), np.uint32)
        session.write(buffers["in"].view(0, packed.nbytes), packed)
        count = max(1, sum(operand.words for operand in one.results))
        result = buffers["out"].view(0, 4 * count * rows)
        session.fill(result, 0xCC)
        memory = np.zeros(64, np.uint32) if one.memory is None else one.memory
        left = buffers["mem"].view(0, memory.nbytes)
        session.write(left, memory)
        step = launch(
            opened.symbols[one.name],
            ["in", "out", "mem", rows],
            grid=(rows // one.lanes, 1, 1),
            block=(one.lanes, 1, 1),
        )
        try:
            session.run(plan(step), buffers, deadline_s=DEADLINE_S)
        except BaseException:
            self._end_session()
            raise
        out = session.read(result, np.dtype(np.uint32), (count, rows))
        found, word = [], 0
        for operand in one.results:
            found.append(joined(operand, out[word : word + operand.words]))
            word += operand.words
        return found, session.read(left, memory.dtype, memory.shape).tobytes()

    def _open(self, one: Case) -> Opened:
        if self._opened is not None and one.name in self._opened.symbols:
            return self._opened
        self._end_session()
        if self._device is None:
            self._device = open_emulated(0)
        first = self._places[one.name] // KERNELS * KERNELS
        cases = self._cases[first : first + KERNELS]
        symbols = {case.name: f"k{at}" for at, case in enumerate(cases)}
        if first not in self._compiled:
            self._compiled[first] = self._compile(cases, tuple(symbols.values()))
        session: Session = self._device.open(self._compiled[first], memory_bytes=MEMORY_BYTES)
        buffers = {name: session.alloc(BUFFER_BYTES) for name in ("in", "out", "mem")}
        self._opened = Opened(session=session, symbols=symbols, buffers=buffers)
        return self._opened

    def _compile(self, cases: tuple[Case, ...], symbols: tuple[str, ...]) -> Compiled:
        made = self._child.compile(source(cases), arch=ARCH)
        return Compiled(
            kernel_id="instructions",
            backend="hip",
            arch=ARCH,
            engine="hip",
            compiler=self._child.version,
            binaries={(): Binary(data=made.code, symbols={s: s for s in symbols})},
        )

    def _end_session(self) -> None:
        if self._opened is not None:
            self._opened.session.close()
            self._opened = None
