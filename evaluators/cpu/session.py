"""CpuSession: one kernel in one fresh child, with memory that parent and child share."""

import mmap
import os
import signal
import struct
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np

from evaluators.cpu.compiler import entry_key
from evaluators.cpu.emit import LDS_BYTES
from evaluators.cpu.library import SIGNATURE
from evaluators.cpu.races import race
from evaluators.cpu.run_child import SCRIPT_BYTES, Fault, RunChild
from evaluators.device import Buffer, Compiled
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import Defines, LaunchStep, MemsetStep, Plan, Step

MAX_THREADS = 1024
ALIGNMENT = 256
PAGE = mmap.PAGESIZE
GUARD_BYTES = 16 * PAGE
_GUARD_SPACE = 1 << 30  # address space for guards; no memory lies behind it

_RECORD = struct.Struct("=IIII6IQQ")
_LAUNCH, _FILL = 1, 2
_CODES = {"int32": ("i", "<iI"), "int64": ("l", "<q"), "float32": ("f", "<fI")}

Bindings = Sequence[Mapping[str, Buffer]]


class CpuSession:
    """See device.Session. Every allocation ends at a page that the child may not touch."""

    def __init__(
        self,
        compiled: Compiled,
        *,
        core: int,
        memory_bytes: int,
        beside: "CpuSession | None" = None,
    ) -> None:
        """beside: a session whose pages this one shares, allocation by allocation.

        Caches find lines by physical address: with pages of their own, a kernel with strides of
        powers of two and itself differ by 10%.
        """
        self._binaries = [binary.data for binary in compiled.binaries.values()]
        self._libraries = {defines: i for i, defines in enumerate(compiled.binaries)}
        self._entries = {
            defines: {key: i for i, key in enumerate(binary.symbols)}
            for defines, binary in compiled.binaries.items()
        }
        self._resources = {
            (tuple(sorted(r["defines"].items())), r["kernel"]): r for r in compiled.resources
        }
        self._left = memory_bytes
        self._next = 0
        self._unmapped: list[tuple[int, int]] = []
        self._played: tuple[Plan, bool, tuple[Mapping[str, Buffer], ...]] | None = None
        self._records = 0
        size = -(-memory_bytes // PAGE) * PAGE + _GUARD_SPACE
        self._file: int = os.memfd_create("arena") if beside is None else os.dup(beside._file)
        try:
            os.ftruncate(self._file, max(size, os.fstat(self._file).st_size))
            self._arena = mmap.mmap(self._file, size)
            self._child = RunChild(
                list(compiled.binaries.values()), core=core, arena=self._file, arena_bytes=size
            )
        except BaseException:
            os.close(self._file)
            raise
        self._script = mmap.mmap(self._child.script, SCRIPT_BYTES)

    def alloc(self, nbytes: int) -> Buffer:
        span = max(1, -(-nbytes // PAGE)) * PAGE
        start = self._next + GUARD_BYTES
        if nbytes > self._left or start + span + GUARD_BYTES > len(self._arena):
            raise Rejected(
                Status.LAUNCH_ERROR,
                f"out of memory: {nbytes:,} bytes asked for, {self._left:,} left",
            )
        self._left -= nbytes
        self._next = start + span
        self._unmapped.append((start, span))
        return Buffer(start + span - -(-nbytes // ALIGNMENT) * ALIGNMENT, nbytes)

    def write(self, buffer: Buffer, array: np.ndarray[Any, Any]) -> None:
        if array.nbytes != buffer.nbytes:
            raise ValueError(f"{array.nbytes} bytes don't fill a buffer of {buffer.nbytes}")
        self._bytes(buffer)[:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)

    def read(
        self, buffer: Buffer, dtype: np.dtype[Any], shape: tuple[int, ...]
    ) -> np.ndarray[Any, Any]:
        return self._bytes(buffer).copy().view(dtype).reshape(shape)

    def fill(self, buffer: Buffer, byte: int) -> None:
        self._bytes(buffer)[:] = byte

    def run(
        self, plan: Plan, buffers: Mapping[str, Buffer], *, deadline_s: float, prepare: bool = False
    ) -> None:
        self._play(plan, (buffers,), deadline_s, prepare)

    def time(self, plan: Plan, bindings: Bindings, *, deadline_s: float) -> float:
        """Processor microseconds of the child, by its own clock, read from here."""
        return self._play(plan, bindings, deadline_s, False)

    def close(self) -> None:
        if self._file < 0:
            return
        self._child.close()
        self._script.close()
        self._arena.close()
        os.close(self._file)
        self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _bytes(self, buffer: Buffer) -> np.ndarray[Any, np.dtype[np.uint8]]:
        return np.frombuffer(self._arena, np.uint8, buffer.nbytes, buffer.offset)

    def _play(self, plan: Plan, bindings: Bindings, deadline_s: float, prepare: bool) -> float:
        wanted = (plan, prepare, tuple(bindings))
        if self._played != wanted:
            self._played = None
            self._write_script(plan, bindings, prepare)
            self._played = wanted
        try:
            while self._unmapped:
                self._child.map(*self._unmapped[-1], deadline_s)
                self._unmapped.pop()
            return self._child.run(self._records, deadline_s)
        except Fault as fault:
            told = race(fault.address + fault.arena, self._binaries)
            raise told or Rejected(Status.CRASHED, _describe(fault, bindings)) from None

    def _write_script(self, plan: Plan, bindings: Bindings, prepare: bool) -> None:
        steps = plan.prepare if prepare else plan.steps
        packed = bytearray()
        for buffers in bindings:
            for step in steps:
                packed += self._record(plan.defines, step, buffers)
                if len(packed) > SCRIPT_BYTES:
                    raise Rejected(
                        Status.LAUNCH_ERROR, f"{len(steps)} launches are too many for cpu"
                    )
        self._script[: len(packed)] = bytes(packed)
        self._records = len(steps) * len(bindings)

    def _record(self, defines: Defines, step: Step, buffers: Mapping[str, Buffer]) -> bytes:
        if isinstance(step, MemsetStep):
            buffer = buffers[step.buffer]
            values = struct.pack("=QQQ", buffer.offset, buffer.nbytes, step.byte)
            head = (_FILL, _RECORD.size + len(values), 0, 0, *(0,) * 8)
            return _RECORD.pack(*head) + values
        key = entry_key(step.entry, step.block)
        resources = self._resources[defines, key]
        _check_launch(step, resources)
        pointers, values = 0, b""
        for i, arg in enumerate(step.args):
            if isinstance(arg, str):
                pointers |= 1 << i
                values += struct.pack("=Q", buffers[arg].offset)
            else:
                layout = _CODES[arg.type][1]
                values += struct.pack(layout, arg.value, *[0] * (len(layout) - 2))
        return (
            _RECORD.pack(
                _LAUNCH,
                _RECORD.size + len(values),
                self._libraries[defines],
                self._entries[defines][key],
                *step.grid,
                *step.block,
                step.lds_bytes,
                pointers,
            )
            + values
        )


def _check_launch(step: LaunchStep, resources: Mapping[str, Any]) -> None:
    """Raises Rejected(LAUNCH_ERROR): a block's threads, its LDS, its arguments."""
    threads = step.block[0] * step.block[1] * step.block[2]
    if threads > MAX_THREADS:
        raise Rejected(
            Status.LAUNCH_ERROR,
            f"{step.entry}: {threads} threads a block, at most {MAX_THREADS} are allowed",
        )
    static = resources["lds_bytes"]
    if static + step.lds_bytes > LDS_BYTES:
        raise Rejected(
            Status.LAUNCH_ERROR,
            f"{step.entry}: {static + step.lds_bytes} bytes of LDS ({static} static, "
            f"{step.lds_bytes} dynamic), at most {LDS_BYTES} are allowed",
        )
    takes: str = resources["signature"]
    given = "".join("p" if isinstance(arg, str) else _CODES[arg.type][0] for arg in step.args)
    if len(takes) != len(given):
        raise Rejected(
            Status.LAUNCH_ERROR,
            f"{step.entry} takes {len(takes)} arguments, the launch gives {len(given)}",
        )
    for i, (want, have) in enumerate(zip(takes, given, strict=True), start=1):
        if want != have:
            raise Rejected(
                Status.LAUNCH_ERROR,
                f"{step.entry}: argument {i} is {SIGNATURE[have]}, the kernel takes "
                f"{SIGNATURE[want]}",
            )


DIVERGED = 0x1D1700000000
"""KS_DIVERGED in ks/exchange.h: generated code reads this far plus the line of the kernel."""

MASK_NAMES, MASK_LACKS = 0x1D1800000000, 0x1D1900000000
"""KS_MASK_NAMES and KS_MASK_LACKS in ks/masks.h: this far plus MAX_LINES a lane plus the line."""

MAX_LINES = 1 << 24
MAX_LANES = 64


def _describe(fault: Fault, bindings: Bindings) -> str:
    """One sentence: the signal, what it means, and the buffer whose end or start was left."""
    name = signal.Signals(fault.signal).name
    if fault.signal == signal.SIGFPE:
        return f"{name}: an integer division by zero, or one that overflows"
    if fault.signal == signal.SIGILL:
        return f"{name}: a trap, or code that the compiler knows can't be reached"
    if fault.signal not in (signal.SIGSEGV, signal.SIGBUS):
        return f"{name}"
    access = {True: "a write", False: "a read", None: "an access"}[fault.writing]
    near: list[tuple[int, str]] = []
    for buffers in bindings:
        for buffer_name, buffer in buffers.items():
            past = fault.address - (buffer.offset + buffer.nbytes)
            before = buffer.offset - fault.address
            if past >= 0:
                near.append((past, f"{past} bytes past the end of {buffer_name}"))
            elif before > 0:
                near.append((before, f"{before} bytes before the start of {buffer_name}"))
    distance, where = min(near, default=(GUARD_BYTES, ""))
    if distance < GUARD_BYTES:
        return f"{name}: {access} {where}"
    address = fault.address + fault.arena
    if told := _disagreement(address):
        return told
    if 0 <= address < PAGE:
        return f"{name}: {access} through a null pointer"
    return f"{name}: {access} outside of every buffer (or the stack is exhausted)"


def _disagreement(address: int) -> str | None:
    """What generated code tells by reading an address: threads that disagree, and where."""
    if DIVERGED < address < DIVERGED + MAX_LINES:
        return (
            f"divergent barrier: the threads of a block disagree on whether to reach it "
            f"(line {address - DIVERGED})"
        )
    for base, wrong in (
        (MASK_NAMES, "names lane {}, which does not take part there with that mask"),
        (MASK_LACKS, "lacks lane {}, which takes part there"),
    ):
        lane, line = divmod(address - base, MAX_LINES)
        if 0 <= lane < MAX_LANES:
            return (
                f"the mask of a _sync operation {wrong.format(lane)} (line {line}): an MI300 traps "
                "on that; write the operation without mask, as in __shfl_down(x, d) or __ballot(p)"
            )
    return None
