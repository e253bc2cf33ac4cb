"""The emulated MI300X: gfx942's machine code on this machine's processor."""

import os
import secrets

from evaluators.device import Compiled, Session
from evaluators.device_info import BackendMissing, DeviceInfo
from evaluators.gpu.device import GpuDevice
from evaluators.gpu.session import GpuSession
from evaluators.hip.clang import amd_compiler
from evaluators.hip.emulator.disassembly import require_disassembler
from evaluators.hip.emulator.driver import EmulatorDriver
from evaluators.hip.emulator.machine import operations
from evaluators.hip.emulator.session import EmulatedSession
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.hip.products import PRODUCTS

ORDER_VARIABLE = "KERNEL_SCIENTIST_EMULATED_ORDER"
"""0: wavefronts run in order, each up to its next barrier; else a seed of their random turns."""


def emulated_count() -> int:
    """The cores that this process may use; 0 where the emulator can't be built or read code."""
    try:
        require_disassembler(HiprtcChild())
        operations()
    except BackendMissing:
        return 0
    return len(os.sched_getaffinity(0))


def open_emulated(index: int, *, order: int | None = None) -> "EmulatedDevice":
    """order: see ORDER_VARIABLE, which counts where it is None; by default a random seed.

    Raises BackendMissing: no C++ compiler, no disassembler, no such index.
    """
    require_disassembler(HiprtcChild())
    operations()
    count = len(os.sched_getaffinity(0))
    if not 0 <= index < count:
        raise BackendMissing(f"there is no emulated device {index}: {count} are there, from 0")
    if order is None:
        named = os.environ.get(ORDER_VARIABLE, "").strip()
        if named and not named.isdigit():
            raise BackendMissing(f"{ORDER_VARIABLE} is {named!r}: give it a number, 0 or more")
        order = int(named) if named else 1 + secrets.randbelow(1 << 20)
    return EmulatedDevice(order)


def emulated_info() -> DeviceInfo:
    """What is known of the device without opening it."""
    (product,) = (one for one in PRODUCTS if one.name == "AMD Instinct MI300X")
    peaks = product.peaks(product.compute_units)
    return DeviceInfo(
        backend="hip",
        name=f"{product.name}, emulated",
        arch=product.arch,
        engine="emulator",
        compiler=amd_compiler(),
        wavefront=64,
        lds_bytes=64 << 10,
        max_threads=1024,
        cache_bytes=peaks.cache_bytes,
        peak_flops=peaks.flops,
        peak_bytes_per_s=peaks.bytes_per_s,
        special_per_s=peaks.special_per_s,
        compute_units=product.compute_units,
        partition=product.partition(product.compute_units),
    )


class EmulatedDevice(GpuDevice):
    """order: see ORDER_VARIABLE."""

    def __init__(self, order: int) -> None:
        info = emulated_info()
        self._emulator = EmulatorDriver(order=order, compute_units=info.compute_units)
        super().__init__(info, self._emulator)
        self.order = order

    def open(
        self,
        compiled: Compiled,
        *,
        memory_bytes: int,
        beside: Session | None = None,
        fenced: bool = False,
    ) -> EmulatedSession:
        self.check(compiled)
        if not isinstance(beside, GpuSession | None):
            raise ValueError(f"beside must be a session on {self.info.backend}")
        return EmulatedSession(
            self._emulator,
            compiled,
            fenced=fenced,
            memory_bytes=memory_bytes,
            lds_bytes=self.info.lds_bytes,
            threads=self.info.max_threads,
            beside=beside,
        )
