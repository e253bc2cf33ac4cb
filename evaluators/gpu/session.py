"""A session on a GPU: buffers, launches, deadlines and timing over a vendor's Driver."""

import ctypes
import functools
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from weakref import WeakSet

import numpy as np

from evaluators.device import Buffer, Compiled
from evaluators.device_info import DeviceFault
from evaluators.evaluation import Rejected, Status
from evaluators.gpu.driver import Driver, argument_value, check_launch
from evaluators.gpu.resources import Resources, read_resources
from evaluators.gpu.variables import Variables, set_values, values_of
from evaluators.kernel.plan import Defines, LaunchStep, MemsetStep, Plan, Step

_GRAPHS_KEPT = 16
HARMLESS = (Status.LAUNCH_ERROR, Status.UNSUPPORTED)
"""Nothing was launched: refused, or, of a baseline, what it needs is not installed."""
LOST: WeakSet[Driver] = WeakSet()
"""Drivers of which a session met a fault: a call that waits for the device may never return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A loaded binary. kernels: by symbol."""

    handle: Any
    kernels: Mapping[str, Resources]
    variables: Variables


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A kernel of a loaded module."""

    function: Any
    resources: Resources


@functools.lru_cache(maxsize=64)  # an anchor comes with every kernel
def _kernels(code: bytes) -> Mapping[str, Resources]:
    return {kernel.symbol: kernel for kernel in read_resources(code)}


class GpuSession:
    """One compiled kernel on one GPU; see evaluators.device.Session."""

    def __init__(
        self,
        driver: Driver,
        compiled: Compiled,
        *,
        memory_bytes: int,
        lds_bytes: int,
        threads: int,
        beside: "GpuSession | None" = None,
        has_bytes: int = 0,
    ) -> None:
        """has_bytes: the device's memory, if it is known. beside: a session to be closed after this
        one, whose memory this one uses too.

        Placement biases times: a kernel of 4 us beside itself, elsewhere, differed by 3% (H200).
        """
        self._driver = driver
        self._compiled = compiled
        self._left_bytes, self._has_bytes = memory_bytes, has_bytes
        self._lds_bytes = lds_bytes
        self._threads = threads
        self._modules: dict[Defines, Module] = {}
        self._entries: dict[tuple[Defines, str], Entry] = {}
        self._addresses: list[int] = []  # to be freed
        self._places: list[Buffer] = []  # in the order in which they were asked for
        self._offered = list(beside._places) if beside is not None else []
        self._graphs: dict[tuple[Any, ...], tuple[Plan, Any]] = {}
        self._events = (driver.event(), driver.event())
        self._dead = False
        self._prepared = False  # prepare steps were run

    def alloc(self, nbytes: int) -> Buffer:
        if nbytes > self._left_bytes:
            raise Rejected(
                Status.LAUNCH_ERROR,
                f"out of memory: {nbytes:,} bytes asked for, {self._left_bytes:,} left",
            )
        self._left_bytes -= nbytes
        if self._offered and self._offered[0].nbytes == nbytes:
            self._places.append(self._offered.pop(0))
            return self._places[-1]
        self._offered = []  # the sequences part here
        # Both vendors align to 256 bytes or more by themselves.
        self._addresses.append(self._allocated(max(nbytes, 1)))
        self._places.append(Buffer(self._addresses[-1], nbytes))
        return self._places[-1]

    def _allocated(self, nbytes: int) -> int:
        """What fits the device and is not there is lacking for others' sake, no kernel's fault."""
        try:
            return self._driver.malloc(nbytes)
        except Rejected as rejected:
            if nbytes > self._has_bytes:
                raise
            raise DeviceFault(
                f"{rejected.reason}: {nbytes / 2**30:.2f} GiB were asked for, so other processes "
                "hold what there is"
            ) from None

    def write(self, buffer: Buffer, array: np.ndarray[Any, Any]) -> None:
        if array.nbytes != buffer.nbytes:
            raise ValueError(f"{array.nbytes} bytes don't fill a buffer of {buffer.nbytes}")
        self._driver.copy_in(buffer.offset, np.ascontiguousarray(array))

    def read(
        self, buffer: Buffer, dtype: np.dtype[Any], shape: tuple[int, ...]
    ) -> np.ndarray[Any, Any]:
        array = np.empty(shape, dtype)
        if array.nbytes != buffer.nbytes:
            raise ValueError(f"{array.nbytes} bytes are read of a buffer of {buffer.nbytes}")
        self._driver.copy_out(array, buffer.offset)
        return array

    def elements(
        self, buffer: Buffer, dtype: np.dtype[Any], places: np.ndarray[Any, Any]
    ) -> np.ndarray[Any, Any]:
        whole = self.read(buffer, dtype, (buffer.nbytes // dtype.itemsize,))
        found: np.ndarray[Any, Any] = whole[places]
        return found

    def fill(self, buffer: Buffer, byte: int) -> None:
        self._driver.fill(buffer.offset, byte, buffer.nbytes)

    def run(
        self, plan: Plan, buffers: Mapping[str, Buffer], *, deadline_s: float, prepare: bool = False
    ) -> float:
        if prepare:
            self.forget()
        with self._until_fault():
            started = time.perf_counter()
            self._enqueue(plan, plan.prepare if prepare else plan.steps, buffers)
            self._wait(deadline_s)
            taken_us = (time.perf_counter() - started) * 1e6
            if prepare:
                self._prepared = True
                for module in self._modules.values():
                    module.variables.remember()
            return taken_us

    def time(
        self, plan: Plan, bindings: Sequence[Mapping[str, Buffer]], *, deadline_s: float
    ) -> float:
        start, end = self._events
        with self._until_fault():
            graph = self._graph(plan, bindings)
            self._driver.record(start)
            if graph is not None:
                self._driver.replay(graph)
            else:
                for buffers in bindings:
                    self._enqueue(plan, plan.steps, buffers)
            self._wait(deadline_s)
            return self._driver.elapsed_us(start, end)

    def forget(self) -> None:
        """See device.Session. Variables that the driver does not name need the module anew.

        Where prepare steps were run they are left alone: those steps may have set them.
        """
        with self._until_fault():
            for defines, module in list(self._modules.items()):
                if module.variables.complete or self._prepared:
                    module.variables.restore()
                else:
                    self._unload(defines)

    def variables(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        with self._until_fault():
            return values_of(module.variables for module in self._modules.values())

    def set_variables(self, values: np.ndarray[Any, np.dtype[np.uint8]]) -> None:
        with self._until_fault():
            set_values((module.variables for module in self._modules.values()), values)

    def ran_whole(self) -> bool:
        return False

    def _unload(self, defines: Defines) -> None:
        """The next launch loads it again, and captures its graphs."""
        for _, graph in self._graphs.values():
            self._driver.release_graph(graph)
        self._graphs = {}
        self._entries = {key: entry for key, entry in self._entries.items() if key[0] != defines}
        self._driver.unload(self._modules.pop(defines).handle)

    def close(self) -> None:
        """Give everything back. After a fault nothing can be: the process must be replaced."""
        if not self._usable:
            return
        self._dead = True
        for _, graph in self._graphs.values():
            self._driver.release_graph(graph)
        for event in self._events:
            self._driver.release_event(event)
        for address in self._addresses:
            self._driver.free(address)
        for module in self._modules.values():
            self._driver.unload(module.handle)

    @property
    def _usable(self) -> bool:
        return not self._dead and self._driver not in LOST

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _until_fault(self) -> Iterator[None]:
        """A refused launch leaves the device usable; after anything else nothing is."""
        if self._dead:
            raise ValueError("this session ended with a fault or was closed: open another")
        try:
            yield
        except (Rejected, DeviceFault) as error:
            self._dead = getattr(error, "status", None) not in HARMLESS
            if self._dead:
                LOST.add(self._driver)
            raise

    def _module(self, defines: Defines) -> Module:
        if defines not in self._modules:
            code = self._compiled.binaries[defines].data
            kernels = _kernels(code)
            handle = self._driver.load(code)
            variables = Variables.of(self._driver, handle, code)
            self._modules[defines] = Module(handle=handle, kernels=kernels, variables=variables)
        return self._modules[defines]

    def _entry(self, defines: Defines, name: str) -> Entry:
        key = (defines, name)
        if key not in self._entries:
            module = self._module(defines)
            symbol = self._compiled.binaries[defines].symbols[name]
            resources = module.kernels[symbol]
            room = self._lds_bytes - resources.lds_bytes
            function = self._driver.function(module.handle, symbol, room)
            self._entries[key] = Entry(function=function, resources=resources)
        return self._entries[key]

    def _enqueue(self, plan: Plan, steps: Sequence[Step], buffers: Mapping[str, Buffer]) -> None:
        for step in steps:
            if isinstance(step, MemsetStep):
                buffer = buffers[step.buffer]
                self._driver.fill(buffer.offset, step.byte, buffer.nbytes)
                continue
            entry = self._entry(plan.defines, step.entry)
            check_launch(step, entry.resources, lds_bytes=self._lds_bytes, threads=self._threads)
            if step.cooperative:
                self._check_cooperative(entry, step)
            # The driver copies the values before launch() returns.
            values = [argument_value(argument, buffers) for argument in step.args]
            addresses = [ctypes.addressof(value) for value in values]
            self._driver.launch(entry.function, step, (ctypes.c_void_p * len(values))(*addresses))

    def _check_cooperative(self, entry: Entry, step: LaunchStep) -> None:
        blocks = step.grid[0] * step.grid[1] * step.grid[2]
        resident = self._driver.resident_blocks(entry.function, step)
        if blocks > resident:
            raise Rejected(
                Status.LAUNCH_ERROR,
                f"{step.entry}: a cooperative launch of {blocks} blocks, "
                f"the device holds {resident} at once",
            )

    def _wait(self, deadline_s: float) -> None:
        end = self._events[1]
        self._driver.record(end)
        give_up = time.monotonic() + deadline_s
        pause_s = 0.0  # short kernels are waited for without sleeping
        while not self._driver.finished(end):
            left_s = give_up - time.monotonic()
            if left_s <= 0:
                raise Rejected(Status.TIMEOUT, f"the launches took longer than {deadline_s:g} s")
            time.sleep(min(pause_s, left_s))
            pause_s = min(pause_s + 1e-5, 1e-3)

    def _graph(self, plan: Plan, bindings: Sequence[Mapping[str, Buffer]]) -> Any:
        """What time() replays, captured when first needed; None where it can't be captured."""
        if any(launch.cooperative for launch in plan.launches):
            return None

        def enqueue_all() -> None:
            for buffers in bindings:
                self._enqueue(plan, plan.steps, buffers)

        places = tuple(tuple((k, b[k].offset) for k in sorted(b)) for b in bindings)
        key = (id(plan), places)
        if key not in self._graphs:
            for launch in plan.launches:
                self._entry(plan.defines, launch.entry)  # modules can't be loaded during a capture
            graph = self._driver.capture(enqueue_all)
            if graph is None:
                return None
            if len(self._graphs) >= _GRAPHS_KEPT:
                self._driver.release_graph(self._graphs.pop(next(iter(self._graphs)))[1])
            self._graphs[key] = (plan, graph)  # with the plan, so that its id stays its own
        return self._graphs[key][1]
