"""What a backend is: the Compiler, Device and Session protocols, and the registry by name."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import TracebackType
from typing import Any, Protocol, Self, cast

import numpy as np

from evaluators.device_info import (
    FURTHER_BACKENDS,
    BackendMissing,
    DeviceInfo,
    emulated,
    further_backends,
    known_backends,
)
from evaluators.kernel.plan import Defines, Plan
from evaluators.kernel.source import KernelSource
from evaluators.tasks.baselines import Baseline


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """One loadable module. symbols: name expression as in the plan -> symbol in the module."""

    data: bytes
    symbols: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A kernel compiled for every plan asked for; picklable, goes from compile task to device.

    resources: of launches on shapes that are shown to a kernel's author; hidden: on others. Of
        each, "advice" and "facts" are sentences: what to change, and what is so.
    held_out: whether it could be compiled for held-out shapes too. inspection_only: made to be
    looked at, by a compiler that only resembles the target's; a device refuses to run it.
    """

    kernel_id: str
    backend: str
    arch: str
    engine: str
    compiler: str
    binaries: Mapping[Defines, Binary]
    resources: tuple[Mapping[str, Any], ...] = ()  # one mapping a kernel and build
    log: str = ""
    seconds: float = 0.0
    inspection_only: bool = False
    hidden: tuple[Mapping[str, Any], ...] = ()
    held_out: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledBaseline(Compiled):
    """A baseline of a task in the place of a compiled kernel: a device opens it as one."""

    baseline: Baseline


def uncompiled(baseline: Baseline, info: DeviceInfo) -> CompiledBaseline:
    """Of any kind but a kernel, which is compiled."""
    return CompiledBaseline(
        kernel_id=baseline.id,
        backend=info.backend,
        arch=info.arch,
        engine=baseline.kind,
        compiler="",
        binaries={},
        baseline=baseline,
    )


ALIGNMENT = 256
"""Bytes to which a session's memory is aligned."""


class Compiler(Protocol):
    """Source to modules, in a child process without secrets. Needs no device."""

    def compile(self, kernel: KernelSource, plans: Sequence[Plan]) -> Compiled:
        """Compile once for each distinct set of defines in plans. Raises Rejected."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """A span of a session's memory. Slicing it gives a view, so that guards can surround it."""

    offset: int  # bytes from the session's base (cpu), or a device address (hip, cuda)
    nbytes: int
    read_only: bool = False  # for kernels; a fenced session on cpu ends one that writes to it

    def view(self, start: int, nbytes: int, *, read_only: bool = False) -> "Buffer":
        if start < 0 or nbytes < 0 or start + nbytes > self.nbytes:
            raise ValueError(f"view [{start}, {start + nbytes}) leaves a buffer of {self.nbytes}")
        return Buffer(self.offset + start, nbytes, read_only)


class Session(Protocol):
    """One compiled kernel loaded on one device, with memory of its own, until closed.

    On cpu a session is a fresh child process; on a GPU a freshly loaded module.
    """

    def alloc(self, nbytes: int) -> Buffer:
        """Memory aligned to ALIGNMENT, asked for before the first run.

        Raises Rejected(LAUNCH_ERROR) when there is none left.
        """

    def write(self, buffer: Buffer, array: np.ndarray[Any, Any]) -> None: ...

    def read(
        self, buffer: Buffer, dtype: np.dtype[Any], shape: tuple[int, ...]
    ) -> np.ndarray[Any, Any]:
        """A copy in host memory."""

    def elements(
        self, buffer: Buffer, dtype: np.dtype[Any], places: np.ndarray[Any, Any]
    ) -> np.ndarray[Any, Any]:
        """A copy of some elements, by their flat places."""

    def fill(self, buffer: Buffer, byte: int) -> None: ...

    def run(
        self, plan: Plan, buffers: Mapping[str, Buffer], *, deadline_s: float, prepare: bool = False
    ) -> float:
        """Every step in order (or the prepare steps), then wait; microseconds, roughly.

        Raises Rejected: LAUNCH_ERROR, FORBIDDEN, CRASHED, TIMEOUT. After one the session is dead.
        """

    def time(
        self, plan: Plan, bindings: Sequence[Mapping[str, Buffer]], *, deadline_s: float
    ) -> float:
        """Microseconds for one application of the plan to each binding in turn, all together."""

    def forget(self) -> None:
        """What kernels keep outside of buffers, in variables, is as after loading once more.

        Or, where a plan's prepare steps were run, as those left it; they too start from there.
        """

    def variables(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """A copy of what kernels keep outside of buffers, as far as the driver names it, in whole
        words of 8 bytes."""

    def set_variables(self, values: np.ndarray[Any, np.dtype[np.uint8]]) -> None:
        """Put back what variables() gave, or what became of it."""

    def ran_whole(self) -> bool:
        """Whether a kernel that an oracle compiled is known to have run all blocks of all launches
        since loading; it may run samples of them only."""

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class Counting(Protocol):
    """What a session of a device that is not timed does beside."""

    def counts(self) -> Mapping[str, Mapping[str, float]]:
        """Wavefront-instructions that were executed since it was opened, by kernel symbol and by
        kind: "mfma", "valu", "salu", "memory.global.load.16", "memory.lds", "barrier", ..."""

    def advice(self) -> Sequence[str]:
        """Sentences on them for whoever changes the kernel next, the worst first."""


class Device(Protocol):
    """One device (a GPU; on cpu one core), opened once and kept."""

    info: DeviceInfo

    def open(
        self,
        compiled: Compiled,
        *,
        memory_bytes: int,
        beside: Session | None = None,
        fenced: bool = False,
    ) -> Session:
        """Load a kernel, or a CompiledBaseline. memory_bytes bounds what its session can allocate.
        Raises Rejected: of a baseline, UNSUPPORTED where what it needs is not installed.

        beside: an open session of this device. Where the placement of pages changes times
        (cpu: by 10%), the same sequence of allocations gives the same memory as there, so
        that timing compares kernels and not pages; elsewhere it may be ignored.
        fenced: for checks. Where the device can (cpu), an access beyond a buffer of a run or
        beyond LDS is Rejected(WRONG), and LDS holds NaNs at first. Buffers must lie
        a page apart. Such a session does not time.
        """

    def close(self) -> None: ...


class Telemetry(Protocol):
    """Reads a device's clocks, power and temperature."""

    def __call__(self) -> Mapping[str, float]:
        """sm_mhz and memory_mhz, power_w, temperature_c, as far as the driver tells them."""


class Backend(Protocol):
    """The module evaluators/<name>/device.py."""

    private_process: bool
    """Whether a device is to be opened in a process of its own, which a kernel's fault ends."""

    def compiler(self, *, arch: str | None = None) -> Compiler:
        """Raises BackendMissing."""

    def oracle(
        self, kernel: KernelSource, info: DeviceInfo, *, sampled: bool = False
    ) -> Compiler | None:
        """Compiles a kernel so that blocks and threads run in other orders, for small shapes.

        Races are WRONG there, told with their line: a read of what another thread wrote with
        nothing between that orders the two. So are reads of LDS that no thread of the block
        wrote. sampled: of a launch only some blocks run, for large shapes; what they compute is
        not to be judged. None where there is no such way.
        """

    def device_count(self) -> int:
        """How many devices this process may use; 0 when the backend is missing."""

    def open_device(self, index: int) -> Device:
        """Raises BackendMissing."""

    def telemetry(self, info: DeviceInfo) -> Telemetry:
        """Of an open device of this process; where nothing is known, of no readings."""

    def warm(self) -> None:
        """Load what takes time and needs no device, in a process that is to open one later."""


def backend(name: str) -> Backend:
    """The backend of that name; the only place that loads one by name. Raises BackendMissing."""
    if name not in known_backends():
        raise BackendMissing(f"no backend {name!r}: choose one of {', '.join(known_backends())}")
    module = further_backends().get(name, f"evaluators.{name}.device")
    try:
        return cast(Backend, import_module(module))
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise
        raise BackendMissing(
            f"the backend {name} is to be the module {module}, which is not found: "
            f"mend {FURTHER_BACKENDS}, or add its folder to PYTHONPATH"
        ) from None


def times(name: str) -> bool:
    """Whether devices of the backend are timed; see DeviceInfo.timed. A backend that is registered
    says timed = False in its module where they are not. Raises BackendMissing."""
    return not emulated(name) and bool(getattr(backend(name), "timed", True))


def shown_alone(name: str) -> bool:
    """Whether a process that measures is shown one device of the backend and no other, by the
    vendor's variables: so with GPUs. Raises BackendMissing."""
    return backend(name).private_process and not emulated(name)


def register(name: str, module: str) -> None:
    """Add a backend by its module's name, for this process and those that it starts."""
    pairs = {**further_backends(), name: module}.items()
    os.environ[FURTHER_BACKENDS] = ",".join(f"{one}={where}" for one, where in pairs)
