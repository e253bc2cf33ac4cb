"""The hip backend on its double, with kernels that know where everything lies in memory.

Measuring processes load it in place of evaluators.hip.device; see on_gpu.replaced.
"""

import ctypes
import mmap

from evaluators.gpu.device import GpuDevice
from evaluators.hip.device import (
    compiler,
    device_count,
    oracle,
    private_process,
    telemetry,
    warm,
)
from evaluators.hip.device import open_device as open_hip
from tests.adversarial.gpu_memory.directory import MOST, Directory

__all__ = [
    "compiler",
    "device_count",
    "open_device",
    "oracle",
    "private_process",
    "telemetry",
    "warm",
]
ADDRESS = 0x6000_0000_0000
"""Of the directory, the same in every process: far from all that processes map by themselves."""
_NBYTES = 8 * (2 * MOST + 1)
_FIXED = 0x10


def open_device(index: int) -> GpuDevice:
    """See hip.device.open_device."""
    device = open_hip(index)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    access, flags = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    assert libc.mmap(ADDRESS, _NBYTES, access, flags | _FIXED, -1, 0) == ADDRESS
    Directory(device._driver, address=ADDRESS)
    return device
