"""The cuda backend: NVIDIA GPUs through cuda-bindings."""

import ctypes
from collections.abc import Callable
from contextlib import closing
from functools import cache
from typing import Any

import numpy as np

from evaluators.cuda.nvrtc import NvrtcChild
from evaluators.cuda.runtime import Runtime
from evaluators.cuda.telemetry import telemetry
from evaluators.device_info import BackendMissing, DeviceFault, DeviceInfo
from evaluators.evaluation import Rejected
from evaluators.gpu.compiler import GpuCompiler
from evaluators.gpu.device import GpuDevice, scratch_of
from evaluators.gpu.driver import Params
from evaluators.gpu.peaks import peaks_of
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

DEFAULT_ARCH = "sm_90"
# Shared memory a block may have, by architecture, static and dynamic together (CUDA C++
# Programming Guide, table "Technical Specifications per Compute Capability").
_LDS_BYTES = {
    "sm_80": 163 << 10,
    "sm_86": 99 << 10,
    "sm_87": 163 << 10,
    "sm_89": 99 << 10,
    "sm_90": 227 << 10,
    "sm_100": 227 << 10,
    "sm_120": 99 << 10,
}


private_process = True


def oracle(kernel: KernelSource, info: DeviceInfo, *, sampled: bool = False) -> None:
    """A GPU's own threads run in no order to begin with."""


def compiler(*, arch: str | None = None) -> GpuCompiler:
    """For arch, else for this machine's first GPU, else for sm_90. Raises BackendMissing."""
    if arch is None:
        arch = _first_arch() if device_count() else DEFAULT_ARCH
    return GpuCompiler(
        backend="cuda",
        arch=arch,
        child=NvrtcChild(),
        wavefront=32,
        lds_bytes=_LDS_BYTES.get(arch, 48 << 10),
    )


def _first_arch() -> str:
    with closing(open_device(0)) as device:
        return device.info.arch


def device_count() -> int:
    """NVIDIA GPUs that this process may use (CUDA_VISIBLE_DEVICES); 0 without a driver."""
    try:
        return Runtime().device_count()
    except (BackendMissing, DeviceFault):
        return 0


def warm() -> None:
    """Loads the driver, but makes no context; asks the compiler who it is."""
    device_count()
    compiler_version()


@cache
def compiler_version() -> str:
    """Such as "nvrtc 13.0"; part of what times are compared within."""
    try:
        with NvrtcChild() as child:
            return child.version
    except BackendMissing:
        return "nvrtc"


def open_device(index: int) -> "CudaDevice":
    """Raises BackendMissing: no library, no driver, no GPU, no such index."""
    runtime = Runtime()
    count = runtime.device_count()
    if count == 0:
        raise BackendMissing("the CUDA driver finds no NVIDIA GPU: check CUDA_VISIBLE_DEVICES")
    if not 0 <= index < count:
        raise BackendMissing(f"there is no CUDA device {index}: {count} are visible, from 0")
    return CudaDevice(runtime, index)


class CudaDevice(GpuDevice):
    """One NVIDIA GPU in its primary context."""

    def __init__(self, runtime: Runtime, index: int) -> None:
        self._runtime = runtime
        self._device = runtime.call("cuDeviceGet", index)
        context = runtime.call("cuDevicePrimaryCtxRetain", self._device)
        runtime.call("cuCtxSetCurrent", context)
        driver = CudaDriver(runtime, multiprocessors=self._attribute("MULTIPROCESSOR_COUNT"))
        super().__init__(self._described(), driver)

    def _described(self) -> DeviceInfo:
        found = self._runtime.call("cuDeviceGetName", 256, self._device)
        name = found.split(b"\0")[0].decode()
        peaks = peaks_of(name, cache_bytes=self._attribute("L2_CACHE_SIZE"))
        major = self._attribute("COMPUTE_CAPABILITY_MAJOR")
        memory_bytes = int(self._runtime.call("cuDeviceTotalMem", self._device))
        return DeviceInfo(
            backend="cuda",
            name=name,
            arch=f"sm_{major}{self._attribute('COMPUTE_CAPABILITY_MINOR')}",
            engine="cuda",
            compiler=compiler_version(),
            wavefront=self._attribute("WARP_SIZE"),
            lds_bytes=self._attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
            max_threads=self._attribute("MAX_THREADS_PER_BLOCK"),
            cache_bytes=peaks.cache_bytes,
            scratch_bytes=scratch_of(memory_bytes),
            memory_bytes=memory_bytes,
            peak_flops=peaks.flops,
            peak_bytes_per_s=peaks.bytes_per_s,
            special_per_s=peaks.special_per_s,
            pci_address=self._pci_address(),
        )

    def _pci_address(self) -> str:
        place = map(self._attribute, ("PCI_DOMAIN_ID", "PCI_BUS_ID", "PCI_DEVICE_ID"))
        return "{:04x}:{:02x}:{:02x}.0".format(*place)

    def _attribute(self, name: str) -> int:
        attribute = getattr(self._runtime.cuda.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(self._runtime.call("cuDeviceGetAttribute", attribute, self._device))

    def close(self) -> None:
        super().close()
        self._runtime.call("cuDevicePrimaryCtxRelease", self._device)


class CudaDriver:
    """evaluators.gpu.driver.Driver over cuda-bindings."""

    def __init__(self, runtime: Runtime, *, multiprocessors: int) -> None:
        self._runtime = runtime
        self._call = runtime.call
        self._cuda = runtime.cuda
        self._multiprocessors = multiprocessors
        # Not the default stream, which can't be captured into a graph.
        flags = runtime.cuda.CUstream_flags.CU_STREAM_NON_BLOCKING
        self._stream = self._call("cuStreamCreate", flags)

    def close(self) -> None:
        self._call("cuStreamDestroy", self._stream)

    def stream_handle(self) -> int:
        return int(self._stream)

    def load(self, code: bytes) -> Any:
        return self._call("cuModuleLoadData", code)

    def unload(self, module: Any) -> None:
        self._call("cuModuleUnload", module)

    def function(self, module: Any, symbol: str, lds_bytes: int) -> Any:
        function = self._call("cuModuleGetFunction", module, symbol.encode())
        # Above 48 KiB dynamic shared memory must be asked for.
        attribute = self._cuda.CUfunction_attribute
        name = attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        self._call("cuFuncSetAttribute", function, name, lds_bytes)
        return function

    def variable(self, module: Any, symbol: str) -> tuple[int, int] | None:
        try:
            address, nbytes = self._call("cuModuleGetGlobal", module, symbol.encode())
        except Rejected:  # not found
            return None
        return int(address), int(nbytes)

    def malloc(self, nbytes: int) -> int:
        return int(self._call("cuMemAlloc", nbytes))

    def free(self, address: int) -> None:
        self._call("cuMemFree", address)

    def copy_in(self, address: int, array: np.ndarray[Any, Any]) -> None:
        if array.nbytes:
            self._call("cuMemcpyHtoDAsync", address, array.ctypes.data, array.nbytes, self._stream)
            self._call("cuStreamSynchronize", self._stream)

    def copy_out(self, array: np.ndarray[Any, Any], address: int) -> None:
        if array.nbytes:
            self._call("cuMemcpyDtoHAsync", array.ctypes.data, address, array.nbytes, self._stream)
            self._call("cuStreamSynchronize", self._stream)

    def fill(self, address: int, byte: int, nbytes: int) -> None:
        if nbytes:
            self._call("cuMemsetD8Async", address, byte, nbytes, self._stream)

    def launch(self, function: Any, step: LaunchStep, params: Params) -> None:
        where = (function, *step.grid, *step.block, step.lds_bytes, self._stream)
        address = ctypes.addressof(params)
        if step.cooperative:
            self._call("cuLaunchCooperativeKernel", *where, address)
        else:
            self._call("cuLaunchKernel", *where, address, 0)

    def resident_blocks(self, function: Any, step: LaunchStep) -> int:
        threads = step.block[0] * step.block[1] * step.block[2]
        each = self._call(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor", function, threads, step.lds_bytes
        )
        return int(each) * self._multiprocessors

    def event(self) -> Any:
        return self._call("cuEventCreate", self._cuda.CUevent_flags.CU_EVENT_DEFAULT)

    def release_event(self, event: Any) -> None:
        self._call("cuEventDestroy", event)

    def record(self, event: Any) -> None:
        self._call("cuEventRecord", event, self._stream)

    def finished(self, event: Any) -> bool:
        (status,) = self._cuda.cuEventQuery(event)
        if status == self._cuda.CUresult.CUDA_ERROR_NOT_READY:
            return False
        if status != self._cuda.CUresult.CUDA_SUCCESS:
            raise self._runtime.failure("cuEventQuery", status)
        return True

    def elapsed_us(self, start: Any, end: Any) -> float:
        return float(self._call("cuEventElapsedTime", start, end)) * 1e3

    def capture(self, enqueue: Callable[[], None]) -> Any:
        mode = self._cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        self._call("cuStreamBeginCapture", self._stream, mode)
        try:
            enqueue()
        except BaseException:
            self._drop(self._cuda.cuStreamEndCapture(self._stream)[1])
            raise
        graph = self._call("cuStreamEndCapture", self._stream)
        try:
            made = self._call("cuGraphInstantiate", graph, 0)
            self._call("cuGraphUpload", made, self._stream)  # else its first launch pays for it
            return made
        finally:
            self._drop(graph)

    def _drop(self, graph: Any) -> None:
        if graph is not None:
            self._call("cuGraphDestroy", graph)

    def replay(self, graph: Any) -> None:
        self._call("cuGraphLaunch", graph, self._stream)

    def release_graph(self, graph: Any) -> None:
        self._call("cuGraphExecDestroy", graph)
