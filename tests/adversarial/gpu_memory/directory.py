"""Where everything lies in a GPU's memory, as a kernel finds it that scans: told to it for sure."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluators.device import Buffer
from evaluators.gpu.driver import Driver

MOST = 256


class Directory:
    """Keeps a list of a driver's live allocations where kernels read it.

    address: there lie a count and then pairs of base address and bytes, in 8-byte words.
    """

    def __init__(self, driver: Driver, *, address: int = 0) -> None:
        """address: memory of this process that kernels can read too, as on the HIP double; by
        default memory of the device.
        """
        self._driver = driver
        self._host = bool(address)
        self.address = address or driver.malloc(8 * (2 * MOST + 1))
        self.live: dict[int, int] = {}
        self._malloc, self._free = driver.malloc, driver.free
        driver.malloc = self._taken  # type: ignore[method-assign]
        driver.free = self._given_back  # type: ignore[method-assign]
        self._tell()

    def words_outside(self, buffers: Sequence[Buffer]) -> "np.ndarray[Any, np.dtype[np.uint64]]":
        """What all allocations hold now that hold none of the buffers."""
        found = [np.empty(0, np.uint64)]
        for address, nbytes in self.live.items():
            if not any(address <= buffer.offset < address + nbytes for buffer in buffers):
                found.append(np.empty(nbytes // 8, np.uint64))
                self._driver.copy_out(found[-1], address)
        return np.concatenate(found)

    def _taken(self, nbytes: int) -> int:
        address = self._malloc(nbytes)
        self.live[address] = nbytes
        self._tell()
        return address

    def _given_back(self, address: int) -> None:
        del self.live[address]
        self._tell()
        self._free(address)

    def _tell(self) -> None:
        pairs = [number for pair in self.live.items() for number in pair]
        table = np.array([len(self.live), *pairs], np.uint64)
        if self._host:
            ctypes.memmove(self.address, table.ctypes.data, table.nbytes)
        else:
            self._driver.copy_in(self.address, table)
