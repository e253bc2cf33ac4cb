"""C++ symbols as people write them, by the C++ runtime of this machine."""

import ctypes
from functools import cache


@cache
def _runtime() -> ctypes.CDLL | None:
    """The library with the demangler that every C++ ABI must have, where there is one."""
    for name in ("libstdc++.so.6", "libc++abi.so.1"):
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        library.__cxa_demangle.restype = ctypes.c_void_p
        library.free.argtypes = [ctypes.c_void_p]
        return library
    return None


def demangled(symbol: str) -> str:
    """Such as "void gemm<64>(float const*, int)"; "" where nothing can tell.

    Source: Itanium C++ ABI, section 3.4, __cxa_demangle.
    """
    library = _runtime()
    if library is None:
        return ""
    status = ctypes.c_int()
    text = library.__cxa_demangle(symbol.encode(), None, None, ctypes.byref(status))
    if not text:
        return ""
    try:
        return ctypes.string_at(text).decode()
    finally:
        library.free(text)
