"""load_inline() by g++, with the HIP host API that records launches in place of HIP's."""

import ctypes
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

EXPORT = Path(__file__).parents[3]
INCLUDE = EXPORT.parents[2] / "evaluators" / "include"


def load_inline(
    name: str,
    cpp_sources: Sequence[str],
    cuda_sources: Sequence[str],
    functions: Sequence[str],
    extra_cuda_cflags: Sequence[str],
) -> SimpleNamespace:
    """Declarations and definitions stand in one file here, so they must agree."""
    assert os.environ["PYTORCH_ROCM_ARCH"] == "gfx942"
    assert "--offload-arch=gfx942" in extra_cuda_cflags
    Path(f"{name}.cpp").write_text("\n".join([*cpp_sources, *cuda_sources]))
    command = ["g++", "-std=c++20", "-w", "-O0", "-fPIC", "-D__HIP_PLATFORM_AMD__"]
    folders = (EXPORT / "recorder", INCLUDE, INCLUDE / "cpu")
    command += [*(f"-I{folder}" for folder in folders), "-c", f"{name}.cpp"]
    subprocess.run(command, check=True)
    # No kernel ever runs, so nothing need be where dynamic LDS would be.
    missing = [f"-Wl,--defsym={symbol}=0" for symbol in _undefined(name)]
    subprocess.run(["g++", "-shared", *missing, "-o", f"{name}.so", f"{name}.o"], check=True)
    library = ctypes.CDLL(f"./{name}.so")
    return SimpleNamespace(**{one: _called(library[one]) for one in functions})


def _undefined(name: str) -> list[str]:
    """What of the kernel's own namespace is declared only."""
    said = subprocess.run(["nm", "-u", f"{name}.o"], check=True, capture_output=True, text=True)
    symbols = [line.split()[-1] for line in said.stdout.splitlines()]
    return [symbol for symbol in symbols if symbol.startswith(f"_ZN{len(name)}{name}")]


def _called(function: Any) -> Callable[..., int]:
    def call(*given: float) -> int:
        function.argtypes = [
            ctypes.c_int64 if isinstance(one, int) else ctypes.c_double for one in given
        ]
        function.restype = ctypes.c_int64
        return int(function(*given))

    return call
