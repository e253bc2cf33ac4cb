"""sgemm's baselines that are calls of a vendor's library."""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path


def cublas(a: int, b: int, c: int, M: int, N: int, K: int, stream: int) -> Callable[[], None]:
    """Row-major c = a b is column-major c' = b' a', which is what cuBLAS computes."""
    library, handle = _cublas()
    one, zero = ctypes.c_float(1.0), ctypes.c_float(0.0)
    _check(library.cublasSetStream_v2(handle, ctypes.c_void_p(stream)))
    scale, none = ctypes.byref(one), ctypes.byref(zero)
    first, second, result = map(ctypes.c_void_p, (b, a, c))

    def call() -> None:
        _check(
            library.cublasSgemm_v2(
                handle, 0, 0, N, M, K, scale, first, N, second, K, none, result, N
            )
        )

    return call


@cache
def _cublas() -> tuple[ctypes.CDLL, ctypes.c_void_p]:
    """Raises OSError: cuBLAS is not installed."""
    for file in _files():
        with suppress(OSError):
            library = ctypes.CDLL(file)
            handle = ctypes.c_void_p()
            _check(library.cublasCreate_v2(ctypes.byref(handle)))
            return library, handle
    raise OSError("libcublas.so is not found: add its folder to LD_LIBRARY_PATH")


def _files() -> Iterator[str]:
    """Where the loader looks, then in NVIDIA's packages for Python, which torch brings."""
    yield from (f"libcublas.so.{version}" for version in (13, 12, 11))
    packages = find_spec("nvidia")
    for folder in packages.submodule_search_locations or () if packages else ():
        yield from map(str, sorted(Path(folder).glob("*/lib/libcublas.so.*")))


def _check(status: int) -> None:
    if status != 0:
        raise RuntimeError(f"cuBLAS returned status {status}")
