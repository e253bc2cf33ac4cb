"""The hip backend: AMD GPUs through hip-python."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from evaluators.device_info import BackendMissing, DeviceFault, DeviceInfo, emulated
from evaluators.evaluation import Rejected
from evaluators.gpu.compiler import GpuCompiler
from evaluators.gpu.device import GpuDevice, scratch_of
from evaluators.gpu.driver import Params
from evaluators.gpu.peaks import Peaks
from evaluators.hip.clang import AmdChild, amd_child, amd_compiler
from evaluators.hip.products import pci_id_of, recognise
from evaluators.hip.rocm import WHAT_TO_DO
from evaluators.hip.runtime import Runtime
from evaluators.hip.telemetry import telemetry
from evaluators.kernel.plan import LaunchStep
from evaluators.kernel.source import KernelSource

__all__ = [
    "compiler",
    "device_count",
    "open_device",
    "oracle",
    "private_process",
    "telemetry",
    "warm",
]

DEFAULT_ARCH = "gfx942"
LDS_BYTES = 64 << 10  # a block's limit on every CDNA before gfx950


NOTE = (
    "This device is emulated, and nothing is timed: kernels are checked on small shapes, and "
    "ordered by estimated costs (issue cycles a SIMD, by executed instructions, their widths, the "
    "cache lines that they touch, and occupancy). Write for the real device, whose caches and "
    "banks of LDS no cost tells of."
)
private_process = True


def oracle(kernel: KernelSource, info: DeviceInfo, *, sampled: bool = False) -> None:
    """A GPU's own threads run in no order to begin with."""


def compiler(*, arch: str | None = None, child: AmdChild | None = None) -> GpuCompiler:
    """For arch, else for this machine's first GPU, else for gfx942. Raises BackendMissing."""
    if arch is None:
        real = not emulated("hip") and device_count()
        arch = _first_arch() if real else DEFAULT_ARCH
    return GpuCompiler(
        backend="hip",
        arch=arch,
        child=child or amd_child(),
        wavefront=64,
        lds_bytes=LDS_BYTES,
    )


def _first_arch() -> str:
    with closing(open_device(0)) as device:
        return device.info.arch


def device_count() -> int:
    """AMD GPUs that this process may use (HIP_VISIBLE_DEVICES); 0 without a runtime. Or emulated
    ones (see device_info.EMULATE)."""
    if emulated("hip"):
        from evaluators.hip.emulator.device import emulated_count

        return emulated_count()
    try:
        return Runtime().device_count()
    except (BackendMissing, DeviceFault):
        return 0


def warm() -> None:
    """Loads the runtime, but makes no context."""
    device_count()


def open_device(index: int) -> GpuDevice:
    """Raises BackendMissing: no library, no GPU, no such index, versions that don't fit.

    Or an emulated one (see device_info.EMULATE).
    """
    return _open_emulated(index) if emulated("hip") else _open_real(index)


def _open_emulated(index: int) -> GpuDevice:
    from evaluators.hip.emulator.device import open_emulated

    device = open_emulated(index)
    device.info = replace(device.info, timed=False, notes=(*device.info.notes, NOTE))
    return device


def _open_real(index: int) -> "HipDevice":
    runtime = Runtime()
    runtime.check_version()
    count = runtime.device_count()
    if count == 0:
        raise BackendMissing(
            f"the HIP runtime {runtime.version()} finds no AMD GPU: check /dev/kfd, "
            "the group render, and HIP_, CUDA_ and ROCR_VISIBLE_DEVICES"
        )
    if not 0 <= index < count:
        raise BackendMissing(f"there is no HIP device {index}: {count} are visible, from 0")
    return HipDevice(runtime, index)


def _decoded(text: bytes | str) -> str:
    return text.rstrip(b"\0").decode() if isinstance(text, bytes) else text


def _info(properties: Any) -> DeviceInfo:
    """properties: hipDeviceProp_t. An AMD GPU that no table knows keeps its marketing name."""
    arch = _decoded(properties.gcnArchName).split(":")[0]
    units = int(properties.multiProcessorCount)
    place = (int(properties.pciDomainID), int(properties.pciBusID), int(properties.pciDeviceID))
    address = "{:04x}:{:02x}:{:02x}.0".format(*place)
    memory_bytes = int(properties.totalGlobalMem)
    product = recognise(
        arch, compute_units=units, memory_bytes=memory_bytes, pci_id=pci_id_of(address)
    )
    peaks = product.peaks(units) if product else Peaks(cache_bytes=int(properties.l2CacheSize))
    return DeviceInfo(
        backend="hip",
        name=product.name if product else _decoded(properties.name),
        arch=arch,
        engine="hip",
        compiler=amd_compiler(),
        wavefront=int(properties.warpSize),
        lds_bytes=int(properties.sharedMemPerBlock),
        max_threads=int(properties.maxThreadsPerBlock),
        cache_bytes=peaks.cache_bytes,
        scratch_bytes=scratch_of(memory_bytes),
        memory_bytes=memory_bytes,
        peak_flops=peaks.flops,
        peak_bytes_per_s=peaks.bytes_per_s,
        special_per_s=peaks.special_per_s,
        compute_units=units,
        partition=product.partition(units) if product else "",
        pci_address=address,
    )


class HipDevice(GpuDevice):
    """One AMD GPU."""

    what_to_do = WHAT_TO_DO

    def __init__(self, runtime: Runtime, index: int) -> None:
        runtime.call("hipSetDevice", index)
        info = _info(runtime.properties(index))
        super().__init__(info, HipDriver(runtime, compute_units=info.compute_units))


class HipDriver:
    """evaluators.gpu.driver.Driver over hip-python."""

    def __init__(self, runtime: Runtime, *, compute_units: int) -> None:
        self._call = runtime.call
        self._runtime = runtime
        self._kinds = runtime.hip.hipMemcpyKind
        self._compute_units = compute_units
        # Not the default stream, which can't be captured into a graph.
        self._stream = self._call("hipStreamCreate")

    def close(self) -> None:
        self._call("hipStreamDestroy", self._stream)

    def stream_handle(self) -> int:
        return int(self._stream)

    def load(self, code: bytes) -> Any:
        return self._call("hipModuleLoadData", code)

    def unload(self, module: Any) -> None:
        self._call("hipModuleUnload", module)

    def function(self, module: Any, symbol: str, lds_bytes: int) -> Any:
        return self._call("hipModuleGetFunction", module, symbol.encode())

    def variable(self, module: Any, symbol: str) -> tuple[int, int] | None:
        try:
            address, nbytes = self._call("hipModuleGetGlobal", module, symbol.encode())
        except Rejected:  # not found
            return None
        return int(address), int(nbytes)

    def malloc(self, nbytes: int) -> int:
        return int(self._call("hipMalloc", nbytes))

    def free(self, address: int) -> None:
        self._call("hipFree", address)

    def copy_in(self, address: int, array: np.ndarray[Any, Any]) -> None:
        self._copy(address, array.ctypes.data, array.nbytes, self._kinds.hipMemcpyHostToDevice)

    def copy_out(self, array: np.ndarray[Any, Any], address: int) -> None:
        self._copy(array.ctypes.data, address, array.nbytes, self._kinds.hipMemcpyDeviceToHost)

    def _copy(self, to: int, source: int, nbytes: int, kind: Any) -> None:
        if nbytes:
            self._call("hipMemcpyAsync", to, source, nbytes, kind, self._stream)
            self._call("hipStreamSynchronize", self._stream)

    def fill(self, address: int, byte: int, nbytes: int) -> None:
        if nbytes:
            self._call("hipMemsetAsync", address, byte, nbytes, self._stream)

    def launch(self, function: Any, step: LaunchStep, params: Params) -> None:
        where = (function, *step.grid, *step.block, step.lds_bytes, self._stream, params)
        if step.cooperative:
            self._call("hipModuleLaunchCooperativeKernel", *where)
        else:
            self._call("hipModuleLaunchKernel", *where, None)

    def resident_blocks(self, function: Any, step: LaunchStep) -> int:
        threads = step.block[0] * step.block[1] * step.block[2]
        each = self._call(
            "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", function, threads, step.lds_bytes
        )
        return int(each) * self._compute_units

    def event(self) -> Any:
        return self._call("hipEventCreate")

    def release_event(self, event: Any) -> None:
        self._call("hipEventDestroy", event)

    def record(self, event: Any) -> None:
        self._call("hipEventRecord", event, self._stream)

    def finished(self, event: Any) -> bool:
        return self._runtime.ready("hipEventQuery", event)

    def elapsed_us(self, start: Any, end: Any) -> float:
        return float(self._call("hipEventElapsedTime", start, end)) * 1e3

    def capture(self, enqueue: Callable[[], None]) -> Any:
        mode = self._runtime.hip.hipStreamCaptureMode.hipStreamCaptureModeThreadLocal
        try:
            self._call("hipStreamBeginCapture", self._stream, mode)
        except DeviceFault as fault:
            if fault.code == "hipErrorNotSupported":
                return None
            raise
        try:
            enqueue()
        except BaseException:
            self._drop(self._runtime.hip.hipStreamEndCapture(self._stream)[1])
            raise
        graph = self._call("hipStreamEndCapture", self._stream)
        try:
            return self._call("hipGraphInstantiateWithFlags", graph, 0)
        finally:
            self._drop(graph)

    def _drop(self, graph: Any) -> None:
        if graph is not None:
            self._call("hipGraphDestroy", graph)

    def replay(self, graph: Any) -> None:
        self._call("hipGraphLaunch", graph, self._stream)

    def release_graph(self, graph: Any) -> None:
        self._call("hipGraphExecDestroy", graph)
