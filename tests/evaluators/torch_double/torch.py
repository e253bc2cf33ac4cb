"""A stand-in for torch on cpu, of numpy: only the names that a baseline's expression needs here."""

from types import SimpleNamespace
from typing import Any

import numpy as np

__version__ = "0 (a stand-in of numpy)"
float32, int32 = np.float32, np.int32
version = SimpleNamespace(hip=None, cuda=None)
backends = SimpleNamespace(cudnn=SimpleNamespace(), cuda=SimpleNamespace(matmul=SimpleNamespace()))


class Tensor:
    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def shape(self) -> Any:
        return self.array.shape

    def data_ptr(self) -> int:
        return int(self.array.ctypes.data)

    def view(self, dtype: Any) -> "Tensor":
        return Tensor(self.array.view(dtype))

    def copy_(self, other: "Tensor") -> "Tensor":
        self.array[...] = other.array
        return self

    def mul_(self, factor: float) -> "Tensor":
        self.array *= factor
        return self

    def __rmul__(self, factor: float) -> "Tensor":
        return Tensor(self.array * np.asarray(factor, self.array.dtype))

    def __add__(self, other: "Tensor") -> "Tensor":
        return Tensor(self.array + other.array)


def from_numpy(array: Any) -> Tensor:
    return Tensor(array)


def set_num_threads(count: int) -> None:
    """One thread is all that numpy has here."""
