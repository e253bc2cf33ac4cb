"""What is known of a device before anything runs on it, and how one is missing or at fault."""

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

BACKENDS = ("cpu", "cuda", "hip")
FURTHER_BACKENDS = "KERNEL_SCIENTIST_BACKENDS"
"""The variable that names further backends, as name=module, separated by commas. Processes that
a campaign starts inherit it."""
EMULATE = "KERNEL_SCIENTIST_EMULATE"
"""The variable that gives emulated devices in place of the backend hip's own, where it is 1. It is
inherited as that one is. On emulated devices kernels are checked and nothing is timed."""
EMULATED_ORDER = "KERNEL_SCIENTIST_EMULATED_ORDER"
"""The variable that says in which order emulated wavefronts take turns: 0 in order, each up to its
next barrier, else a seed of random turns; inherited as well."""
EMULATED_BACKENDS = ("hip",)


OPERATION_FLOPS: Mapping[str, float] = {
    "rsqrt": 2,
    "div": 4,
    "sqrt": 4,
    "exp": 12,
    "log": 12,
    "sin": 12,
    "cos": 12,
    "tanh": 12,
    "erf": 12,
    "pow": 24,
}
"""What an operation costs at least where multiply-adds make it, each worth two flops: an estimate
by one instruction for roots and reciprocals, with a product for quotients; for the others the
range's reduction (2), a cubic (3: the least that is right to 1e-4 for 2^x on [-1/2, 1/2]) and the
exponent (1)."""


def further_backends() -> dict[str, str]:
    """The modules of backends that are not of this package, by name."""
    pairs = (pair.split("=") for pair in os.environ.get(FURTHER_BACKENDS, "").split(","))
    return {pair[0].strip(): pair[1].strip() for pair in pairs if len(pair) == 2}


def known_backends() -> tuple[str, ...]:
    return (*BACKENDS, *(name for name in further_backends() if name not in BACKENDS))


def emulated(backend_name: str) -> bool:
    """Whether this process's devices of that backend are emulated ones."""
    return backend_name in EMULATED_BACKENDS and os.environ.get(EMULATE) == "1"


@contextmanager
def emulating(
    wanted: bool, backend_name: str, *, asked_by: str, order: int | None = None
) -> Iterator[None]:
    """Where it is wanted, devices of this process and of those it starts are emulated meanwhile.

    asked_by: what a person wrote; order: see EMULATED_ORDER. Raises BackendMissing for a backend
    without an emulator.
    """
    if wanted and backend_name not in EMULATED_BACKENDS:
        raise BackendMissing(
            f"{asked_by} goes with backend {' or '.join(EMULATED_BACKENDS)} only, not with "
            f"{backend_name}: no other device has an emulator"
        )
    before = {name: os.environ.get(name) for name in (EMULATE, EMULATED_ORDER)}
    if wanted:
        os.environ[EMULATE] = "1"
    if wanted and order is not None:
        os.environ[EMULATED_ORDER] = str(order)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


class Target(NamedTuple):
    """What a launch plan depends on: for which backend, and how many lanes a wavefront has."""

    backend: str
    wavefront: int


_WAVEFRONTS = {"cuda": 32}


def target_of(backend_name: str) -> Target:
    """Of the backend's devices."""
    return Target(backend_name, _WAVEFRONTS.get(backend_name, 64))


class BackendMissing(Exception):
    """This machine can't run the backend. One sentence: what is missing and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceInfo:
    """What is known of a device before anything runs on it.

    peak_flops: FLOP/s by arithmetic: a dtype's name, or "tf32" and "xf32", in which matrix cores
    multiply float32. special_per_s: operations (see OPERATION_FLOPS) of units of their own.
    peak_bytes_per_s: by memory level ("dram", "cache" or "L1" .. "L3"). level_bytes: what each of
    these holds, where that is not cache_bytes ("cache") or more than is ever asked for ("dram").
    peak_margin: a time is impossible only beyond this factor of the peaks.
    compute_units, partition: of a GPU that can be divided, and what it is divided into (SPX: the
    whole); 0 and "" elsewhere. pci_address: such as 0000:c1:00.0; "" on cpu. notes: further
    sentences for whoever writes kernels. timed: False of an emulated device: kernels are checked
    there on the host, and ordered by estimated costs (see Evaluation.costs); its sessions are
    Counting ones.
    """

    backend: str
    name: str
    arch: str  # gfx942, sm_90, x86-64
    engine: str  # what executes launches: "hip", "cuda", "cpu-fission"
    compiler: str  # "g++ 12.2.0", "hiprtc 7.2", "nvrtc 13.0"
    wavefront: int
    lds_bytes: int  # a block's limit, static + dynamic
    max_threads: int  # a block's limit
    cache_bytes: int  # last level; timing rotates over more than this
    scratch_bytes: int = 1 << 30  # that a kernel may ask for on one workload
    memory_bytes: int = 0  # of the device; 0: not known
    peak_flops: Mapping[str, float] = field(default_factory=dict)
    special_per_s: float = 0.0
    peak_bytes_per_s: Mapping[str, float] = field(default_factory=dict)
    level_bytes: Mapping[str, int] = field(default_factory=dict)
    peak_margin: float = 1.0
    compute_units: int = 0
    partition: str = ""
    pci_address: str = ""
    judges_on_device: bool = True  # inputs stay there and results are judged there; else: the host
    macros: tuple[str, ...] = ()  # NAME=VALUE, of a device for which this one watches kernels
    private_process: bool = True  # its sessions share a context, which a fault of one ends
    notes: tuple[str, ...] = ()
    timed: bool = True

    @property
    def device_class(self) -> str:
        """Times of different classes never meet in one population."""
        divided = f"{self.compute_units} CUs {self.partition}".strip()
        part = (divided,) if self.compute_units else ()
        return "/".join((self.backend, self.name, *part, self.arch, self.engine))

    @property
    def target(self) -> Target:
        return Target(self.backend, self.wavefront)

    @property
    def levels(self) -> tuple[tuple[str, float, float], ...]:
        """Name, bytes that it holds and bytes a second of each memory level, nearest first."""
        holds = {"cache": self.cache_bytes, **self.level_bytes}
        known = [(name, holds.get(name, math.inf), r) for name, r in self.peak_bytes_per_s.items()]
        return tuple(sorted(known, key=lambda level: level[1]))


class DeviceFault(RuntimeError):
    """The device or its driver failed, not the kernel: one sentence. Replace the process.

    code: the vendor's name of the error.
    """

    def __init__(self, sentence: str, *, code: str = "") -> None:
        super().__init__(sentence)
        self.code = code


class MemorySpoilt(DeviceFault):
    """The harness's own memory was changed while kernels ran: one of them wrote there."""
