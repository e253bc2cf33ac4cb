"""Blocks and barriers without the harness: loops written by hand, for cpu and for cuda."""

import ctypes
import os
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evaluators.cpu.toolchain import toolchain
from evaluators.cuda.nvrtc import NvrtcChild
from evaluators.cuda.runtime import Runtime

BLOCKS, THREADS = 65536, 256
CPU_BLOCKS = 16384
COUNT, CPU_COUNT = 2000, 500
LAUNCHES = 50

CPU_SOURCE = """
extern "C" void empty(int *out, int blocks, int threads) {
    for (int block = 0; block < blocks; ++block)
        for (int thread = 0; thread < threads; ++thread)
            if (thread == 0) out[block & 1023] = block;
}
extern "C" void exchange(float *__restrict__ data, float *__restrict__ lds, int count) {
    for (int i = 0; i < count; ++i) {
        for (int thread = 0; thread < THREADS; ++thread) lds[thread] = data[thread];
        for (int thread = 0; thread < THREADS; ++thread) data[thread] = lds[thread ^ 1] + 1.0f;
    }
}
"""

CUDA_SOURCE = """
extern "C" __global__ void empty(int *out) {
    if (threadIdx.x == 0) out[blockIdx.x & 1023] = blockIdx.x;
}
extern "C" __global__ void barriers(int *out, int count) {
    for (int i = 0; i < count; ++i) __syncthreads();
    if (threadIdx.x == 0) out[0] = count;
}
"""


class Bare(ABC):
    """Loops of one backend. barrier: the shipped probe that they are compared with."""

    barrier: str

    @abstractmethod
    def block_ns(self) -> float:
        """Nanoseconds that a further block of THREADS threads adds, which writes one number."""

    @abstractmethod
    def barrier_ns(self) -> float:
        """Nanoseconds of one barrier of THREADS threads; on cpu of an exchange through LDS."""

    @abstractmethod
    def close(self) -> None:
        """Give back what it holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class BareCpu(Bare):
    """C++ on one core, called through ctypes."""

    barrier = "exchange"

    def __init__(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder) / "bare.cpp", Path(folder) / "bare.so"
            source.write_text(CPU_SOURCE)
            tools = toolchain()
            flags = (*tools.code_flags, f"-DTHREADS={THREADS}", "-shared", "-fPIC")
            command = [*tools.command, *flags, "-o", str(library), str(source)]
            subprocess.run(command, check=True, timeout=60)
            self._library = ctypes.CDLL(str(library))
        self._out = (ctypes.c_int * 1024)()
        self._data = (ctypes.c_float * THREADS)()
        self._lds = (ctypes.c_float * THREADS)()
        self._cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(self._cores)})  # where the device's kernels run

    def block_ns(self) -> float:
        taken = _processor_ns(lambda: self._library.empty(self._out, CPU_BLOCKS, THREADS))
        return taken / CPU_BLOCKS

    def barrier_ns(self) -> float:
        taken = _processor_ns(lambda: self._library.exchange(self._data, self._lds, CPU_COUNT))
        return taken / CPU_COUNT

    def close(self) -> None:
        os.sched_setaffinity(0, self._cores)


def _processor_ns(call: Callable[[], Any]) -> float:
    """Of one call, over LAUNCHES of them."""
    call()
    started = time.thread_time_ns()
    for _ in range(LAUNCHES):
        call()
    return (time.thread_time_ns() - started) / LAUNCHES


class BareCuda(Bare):
    """Launches by the driver's own functions, in the context of a device that is open."""

    barrier = "barrier"

    def __init__(self, arch: str) -> None:
        self._runtime = Runtime()
        self._call = self._runtime.call
        with NvrtcChild() as child:
            code = child.compile(CUDA_SOURCE, arch=arch).code
        self._module = self._call("cuModuleLoadData", code)
        self._out = self._call("cuMemAlloc", 4096)
        self._stream = self._call("cuStreamCreate", 0)
        self._events = [self._call("cuEventCreate", 0) for _ in range(2)]

    def block_ns(self) -> float:
        out = ctypes.c_uint64(int(self._out))
        many, one = (self._launch_ns("empty", blocks, [out]) for blocks in (BLOCKS, 1))
        return (many - one) / (BLOCKS - 1)

    def barrier_ns(self) -> float:
        out = ctypes.c_uint64(int(self._out))
        with_, without = (
            self._launch_ns("barriers", 1, [out, ctypes.c_int(count)]) for count in (COUNT, 0)
        )
        return (with_ - without) / COUNT

    def _launch_ns(self, name: str, blocks: int, values: list[Any]) -> float:
        """Of one launch, over LAUNCHES of them after one to warm up."""
        function = self._call("cuModuleGetFunction", self._module, name.encode())
        addresses = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        where = (function, blocks, 1, 1, THREADS, 1, 1, 0, self._stream)
        start, end = self._events

        def launch() -> None:
            self._call("cuLaunchKernel", *where, ctypes.addressof(addresses), 0)

        launch()
        self._call("cuEventRecord", start, self._stream)
        for _ in range(LAUNCHES):
            launch()
        self._call("cuEventRecord", end, self._stream)
        self._call("cuEventSynchronize", end)
        return float(self._call("cuEventElapsedTime", start, end)) * 1e6 / LAUNCHES

    def close(self) -> None:
        self._call("cuMemFree", self._out)
        self._call("cuModuleUnload", self._module)


def bare_of(backend_name: str, arch: str) -> Bare | None:
    """None where no loop is written."""
    if backend_name == "cpu":
        return BareCpu()
    return BareCuda(arch) if backend_name == "cuda" else None
