"""CpuSession: one kernel in one fresh child, with memory that parent and child share."""

import mmap
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from types import TracebackType
from typing import Any, Self

import numpy as np

from evaluators.cpu.baseline import CpuBaselineSession
from evaluators.cpu.build import ORACLES
from evaluators.cpu.faults import Place, rejected
from evaluators.cpu.fence import GUARD_BYTES, Fence, fence_bytes
from evaluators.cpu.library_memory import memory_of
from evaluators.cpu.places import Places, room_for
from evaluators.cpu.races import race
from evaluators.cpu.run_child import SCRIPT_BYTES, Fault, RunChild
from evaluators.cpu.script import Script, Span
from evaluators.cpu.variables import Variables
from evaluators.device import Buffer, Compiled
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import LaunchStep, Plan, Step

_START_S = 30.0  # of processor time, for what happens before anything of the kernel runs

Bindings = Sequence[Mapping[str, Buffer]]


class CpuSession:
    """See device.Session. Every allocation ends at a page that the child may not touch.

    A fenced one gives each buffer of a run pages of its own (fence.Fence), plays one launch at a
    time, with LDS full of NaNs, and looks at what lies beyond LDS after each.
    """

    def __init__(
        self,
        compiled: Compiled,
        *,
        core: int,
        memory_bytes: int,
        beside: "CpuSession | CpuBaselineSession | None" = None,
        fenced: bool = False,
    ) -> None:
        """beside: a session whose pages this one shares, allocation by allocation.

        Caches find lines by physical address: with pages of their own, a kernel with strides of
        powers of two and itself differ by 10%.
        """
        self._packer = Script(compiled)
        self._timed = compiled.engine not in ORACLES
        self._buffers = Places(memory_bytes)
        self._hidden: list[tuple[int, int]] = []
        self._played: tuple[Plan, bool, tuple[Mapping[str, Buffer], ...]] | None = None
        self._records = 0
        self._runs = 0
        size = room_for(memory_bytes)
        whole = size + (fence_bytes(memory_bytes) if fenced else 0)
        binaries = list(compiled.binaries.values())
        self._libraries = [binary.data for binary in binaries]
        self._variables = Variables([memory_of(binary.data) for binary in binaries])
        self._file: int = os.memfd_create("arena") if beside is None else os.dup(beside.file)
        try:
            os.ftruncate(self._file, max(whole, os.fstat(self._file).st_size))
            self._arena = mmap.mmap(self._file, whole)
            self._fence = Fence(np.frombuffer(self._arena, np.uint8), size) if fenced else None
            self._child = RunChild(
                binaries,
                core=core,
                arena=self._file,
                arena_bytes=whole,
                data=self._variables.file,
                remaps=fenced,
            )
        except BaseException:
            os.close(self._file)
            self._variables.close()
            raise
        self._script = mmap.mmap(self._child.script, SCRIPT_BYTES)
        self._variables.remember()
        self._variables.hide_zones(self._child, _START_S)

    def alloc(self, nbytes: int) -> Buffer:
        if self._child.sealed and self._fence is None:
            raise ValueError("memory must be asked for before the first run")
        buffer, pages = self._buffers.take(nbytes)
        if self._fence is None:
            self._hidden.append(pages)
        return buffer

    @property
    def file(self) -> int:
        """Of its memory."""
        return self._file

    def write(self, buffer: Buffer, array: np.ndarray[Any, Any]) -> None:
        if array.nbytes != buffer.nbytes:
            raise ValueError(f"{array.nbytes} bytes don't fill a buffer of {buffer.nbytes}")
        self._bytes(buffer)[:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)

    def read(
        self, buffer: Buffer, dtype: np.dtype[Any], shape: tuple[int, ...]
    ) -> np.ndarray[Any, Any]:
        return self._bytes(buffer).copy().view(dtype).reshape(shape)

    def elements(
        self, buffer: Buffer, dtype: np.dtype[Any], places: np.ndarray[Any, Any]
    ) -> np.ndarray[Any, Any]:
        found: np.ndarray[Any, Any] = self._bytes(buffer).view(dtype)[places]
        return found

    def fill(self, buffer: Buffer, byte: int) -> None:
        self._bytes(buffer)[:] = byte

    def run(
        self, plan: Plan, buffers: Mapping[str, Buffer], *, deadline_s: float, prepare: bool = False
    ) -> float:
        if prepare:
            self.forget()
        if self._fence is None:
            taken_us = self._play(plan, (buffers,), deadline_s, prepare)
        else:
            taken_us = 0.0
            inside = self._fence.enter(buffers, plan.scratch, self._child, deadline_s)
            for step in plan.prepare if prepare else plan.steps:
                left_s = max(deadline_s - taken_us / 1e6, 0.001)
                taken_us += self._play_checked(plan, step, inside, left_s)
            self._fence.leave()
            self._runs += 1
        if prepare:
            self._variables.remember()
        return taken_us

    def time(self, plan: Plan, bindings: Bindings, *, deadline_s: float) -> float:
        """Processor microseconds of the child, by its own clock, read from here."""
        if self._fence is not None:
            raise ValueError("a fenced session does not time")
        return self._play(plan, bindings, deadline_s, False)

    def forget(self) -> None:
        self._variables.forget()

    def variables(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        return self._variables.values().copy()

    def set_variables(self, values: np.ndarray[Any, np.dtype[np.uint8]]) -> None:
        self._variables.values()[:] = values

    def ran_whole(self) -> bool:
        return self._variables.ran_whole()

    def close(self) -> None:
        if self._file < 0:
            return
        self._child.close()
        self._script.close()
        self._fence = None  # with its view of the arena
        with suppress(BufferError):  # a traceback may hold a view of it, with which it goes
            self._arena.close()
        self._variables.close()
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
            steps = plan.prepare if prepare else plan.steps
            self._write_script(
                record
                for buffers in bindings
                for step in steps
                for record in self._records_of(plan, step, buffers)
            )
            self._played = wanted
        try:
            while self._hidden:
                self._child.show(*self._hidden[-1], deadline_s)
                self._hidden.pop()
            return self._child.run(self._records, deadline_s)
        except Fault as fault:
            raise self._told(fault, self._places(bindings)) from None

    def _play_checked(
        self, plan: Plan, step: Step, inside: Mapping[str, Buffer], deadline_s: float
    ) -> float:
        """Microseconds of processor time. Raises Rejected(WRONG): beyond LDS, or a buffer."""
        child, variables = self._child, self._variables
        library = self._packer.library(plan.defines)
        lds_bytes = step.lds_bytes if isinstance(step, LaunchStep) else 0
        self._write_script(self._records_of(plan, step, inside, checked=True))
        try:
            variables.arm(child, library, lds_bytes, deadline_s)
            taken_us = child.run(self._records, deadline_s)
        except Fault as fault:
            places = chain(self._fence_places(), variables.places(child, lds_bytes))
            raise self._told(fault, places) from None
        variables.check(library, lds_bytes)
        return taken_us

    def _records_of(
        self, plan: Plan, step: Step, buffers: Mapping[str, Buffer], *, checked: bool = False
    ) -> Iterator[bytes]:
        if isinstance(step, LaunchStep):
            library = self._packer.library(plan.defines)
            spans = self._variables.spans(self._child, library, step.lds_bytes)
            lds = [span for span in spans if span[1]]
            if checked:
                outputs, margins = self._outputs(plan, buffers), self._margins()
                yield self._packer.spans(lds, outputs, margins, run=self._runs)
            elif lds and self._timed:
                yield self._packer.spans(lds, timed=True)
        yield self._packer.step(plan.defines, step, buffers)

    def _outputs(self, plan: Plan, buffers: Mapping[str, Buffer]) -> list[Span]:
        return [
            (self._child.arena + buffer.offset, buffer.nbytes)
            for name, buffer in buffers.items()
            if name not in plan.scratch and not buffer.read_only
        ]

    def _margins(self) -> list[Span]:
        return [] if self._fence is None else [*self._fence.margins(self._child)]

    def _told(self, fault: Fault, places: Iterable[Place]) -> Rejected:
        return race(fault.address, self._libraries) or rejected(fault, [*places])

    def _write_script(self, records: Iterable[bytes]) -> None:
        packed = bytearray()
        self._records = 0
        for record in records:
            packed += record
            self._records += 1
            if len(packed) > SCRIPT_BYTES:
                raise Rejected(
                    Status.LAUNCH_ERROR, f"{self._records:,} launches at once are too many for cpu"
                )
        self._script[: len(packed)] = bytes(packed)

    def _fence_places(self) -> Iterator[Place]:
        return iter(()) if self._fence is None else self._fence.places(self._child)

    def _places(self, bindings: Bindings) -> Iterator[Place]:
        for buffers in bindings:
            for name, buffer in buffers.items():
                yield Place(
                    name=name,
                    address=self._child.arena + buffer.offset,
                    nbytes=buffer.nbytes,
                    guard_bytes=GUARD_BYTES,
                    outside=Status.CRASHED,
                )
        yield from self._variables.places(self._child, None)
