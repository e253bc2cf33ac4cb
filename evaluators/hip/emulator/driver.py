"""EmulatorDriver: evaluators.gpu.driver.Driver whose device is the machine in native/."""

import bisect
import time
import zlib
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from evaluators.evaluation import Rejected, Status
from evaluators.gpu.driver import Params
from evaluators.gpu.resources import read_resources
from evaluators.hip.emulator import launch as abi
from evaluators.hip.emulator.code_object import CodeObject
from evaluators.hip.emulator.counts import Executed
from evaluators.hip.emulator.disassembly import disassemble
from evaluators.hip.emulator.faults import Area, rejection
from evaluators.hip.emulator.machine import DONE, FAILED, operations
from evaluators.hip.emulator.program import Program, read_program
from evaluators.hip.emulator.work import IN_ORDER, Event, Fill, Function, Module, Pending, start
from evaluators.kernel.plan import LaunchStep

SLICE = 200_000
"""Wavefront-instructions between two looks at the clock: some 20 ms."""
ALIGNMENT = 256


@dataclass(slots=True, weakref_slot=True, eq=False)
class EmulatorDriver:
    """All in order on one queue, which moves on while somebody waits for it.

    order: IN_ORDER, or where the random order in which wavefronts take turns starts from.
    """

    order: int
    compute_units: int
    _arrays: dict[int, np.ndarray[Any, Any]] = field(default_factory=dict)
    _starts: list[int] = field(default_factory=list)
    _modules: list[Module] = field(default_factory=list)
    _queue: deque["Pending | Event | Fill"] = field(default_factory=deque)
    _fence: tuple[Area, ...] | None = None
    _launches: Counter[str] = field(default_factory=Counter)

    def close(self) -> None:
        self.abandon()
        self._arrays.clear()
        self._starts.clear()
        self._modules.clear()

    def load(self, code: bytes) -> Module:
        resources = {one.symbol: one for one in read_resources(code)}
        module = Module(code=code, object=CodeObject(code), resources=resources)
        self._modules.append(module)
        return module

    def stream_handle(self) -> int:
        """It has one stream, which no library knows."""
        return 0

    def unload(self, module: Module) -> None:
        self._drain()
        self._modules = [one for one in self._modules if one is not module]

    def function(self, module: Module, symbol: str, lds_bytes: int) -> Function:
        descriptor = module.object.descriptor(symbol)
        program = _program(module.code, descriptor.accumulators)
        instructions = program.code.copy()
        instructions["address"] += np.uint64(module.object.base)
        return Function(
            module=module,
            symbol=symbol,
            descriptor=descriptor,
            program=program,
            instructions=instructions,
        )

    def variable(self, module: Module, symbol: str) -> tuple[int, int] | None:
        return module.object.variable(symbol)

    def malloc(self, nbytes: int) -> int:
        try:
            array = np.empty(nbytes + ALIGNMENT, np.uint8)
        except MemoryError:
            raise Rejected(
                Status.LAUNCH_ERROR, f"out of memory: this machine has no {nbytes:,} bytes left"
            ) from None
        address = -(-int(array.ctypes.data) // ALIGNMENT) * ALIGNMENT
        offset = address - int(array.ctypes.data)
        self._arrays[address] = array[offset : offset + nbytes]
        bisect.insort(self._starts, address)
        return address

    def free(self, address: int) -> None:
        self._drain()
        del self._arrays[address]
        self._starts.remove(address)

    def copy_in(self, address: int, array: np.ndarray[Any, Any]) -> None:
        self._drain()
        self._bytes(address, array.nbytes)[:] = array.reshape(-1).view(np.uint8)

    def copy_out(self, array: np.ndarray[Any, Any], address: int) -> None:
        self._drain()
        array.reshape(-1).view(np.uint8)[:] = self._bytes(address, array.nbytes)

    def fill(self, address: int, byte: int, nbytes: int) -> None:
        there = self._bytes(address, nbytes)
        if self._queue:
            self._queue.append(Fill(there, byte))
        else:
            there.fill(byte)

    def fence(self, areas: Sequence[Area] | None) -> None:
        """What launches from now on may access beside their own code; None: all allocations."""
        self._fence = None if areas is None else tuple(areas)

    def launch(self, function: Function, step: LaunchStep, params: Params) -> None:
        kernel = function.module.object.kernels[function.symbol]
        if 0 in step.grid or 0 in step.block:
            raise Rejected(Status.LAUNCH_ERROR, f"{step.entry}: a grid or block of 0")
        kernarg = abi.arguments(kernel, step, params, function.descriptor.kernarg_bytes)
        areas = self._fence
        if areas is None:
            areas = tuple(Area(start=a, nbytes=array.nbytes) for a, array in self._arrays.items())
        order = self._order_of(function, step)
        self._queue.append(
            Pending(function=function, step=step, kernarg=kernarg, areas=areas, order=order)
        )

    def _order_of(self, function: Function, step: LaunchStep) -> int:
        """The n-th launch of a kernel on a grid has the same each time, whatever comes between."""
        if self.order == IN_ORDER:
            return IN_ORDER
        launch = f"{function.symbol} {step.grid} {step.block}"
        self._launches[launch] += 1
        return 1 + zlib.crc32(f"{self.order} {launch} {self._launches[launch]}".encode())

    def resident_blocks(self, function: Function, step: LaunchStep) -> int:
        threads = step.block[0] * step.block[1] * step.block[2]
        found = function.module.resources[function.symbol].occupancy(threads, step.lds_bytes)
        return found.blocks_per_cu * self.compute_units if found else 0

    def event(self) -> Event:
        return Event()

    def release_event(self, event: Event) -> None:
        return

    def record(self, event: Event) -> None:
        event.done_s = None
        self._queue.append(event)
        self._pass()

    def finished(self, event: Event) -> bool:
        """Runs for a moment where it isn't."""
        if event.done_s is None:
            self._work()
        return event.done_s is not None

    def elapsed_us(self, start: Event, end: Event) -> float:
        """What the emulation took, which says nothing of a GPU."""
        assert start.done_s is not None and end.done_s is not None
        return max(1e-3, (end.done_s - start.done_s) * 1e6)

    def capture(self, enqueue: Callable[[], None]) -> None:
        return None

    def replay(self, graph: Any) -> None:
        raise AssertionError("nothing was captured")

    def release_graph(self, graph: Any) -> None:
        return

    def abandon(self) -> None:
        """Forget what was not run."""
        for work in self._queue:
            if isinstance(work, Pending) and work.run is not None:
                work.run.close()
        self._queue.clear()

    def _bytes(self, address: int, nbytes: int) -> np.ndarray[Any, Any]:
        at = bisect.bisect_right(self._starts, address) - 1
        if at >= 0:
            start = self._starts[at]
            array = self._arrays[start]
            if address + nbytes <= start + array.nbytes:
                return array[address - start : address - start + nbytes]
        for module in self._modules:
            found = module.object.bytes_at(address, nbytes)
            if found is not None:
                return found
        raise ValueError(f"no allocation has {nbytes} bytes at {address:#x}")

    def _drain(self) -> None:
        while self._queue:
            self._work()

    def _pass(self) -> None:
        """What takes no time, up to the next launch."""
        while self._queue and not isinstance(self._queue[0], Pending):
            work = self._queue.popleft()
            if isinstance(work, Event):
                work.done_s = time.perf_counter()
            elif isinstance(work, Fill):
                work.there.fill(work.byte)

    def _work(self) -> None:
        """A slice of the first launch. Raises Rejected, and forgets the rest."""
        self._pass()
        if not self._queue:
            return
        pending = self._queue[0]
        assert isinstance(pending, Pending)
        if pending.run is None:
            resident = self.resident_blocks(pending.function, pending.step)
            pending.run = start(pending, self._modules, resident)
        state = pending.run.go_on(SLICE)
        if state == FAILED:
            order = f" (order {self.order})" if self.order else ""
            fault = pending.run.fault()
            rejected = rejection(fault, pending.function.program, pending.areas, order)
            self.abandon()
            raise rejected
        if state == DONE:
            self._queue.popleft()
            self._count(pending)
            pending.run.close()
            self._pass()

    def _count(self, pending: Pending) -> None:
        assert pending.run is not None
        function = pending.function
        known = function.module.executed.setdefault(function.symbol, Executed(function.program))
        known.add(pending.run.hits, pending.run.extra_lines)


@lru_cache(maxsize=64)
def _program(code: bytes, accumulators: int) -> Program:
    return read_program(disassemble(code), operations(), accumulators)
