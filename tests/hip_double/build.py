"""Builds the HIP runtime double."""

import shutil
import subprocess
from pathlib import Path

from evaluators.cpu.toolchain import NATIVE

HERE = Path(__file__).parent


def build(root: Path, include: Path) -> None:
    """Into a folder as ROCM_PATH would name it. include: AMD's headers."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    assert compiler, "no C compiler (gcc or clang) on PATH: install one to run the tests"
    (root / "lib").mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [
            *(compiler, "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"),
            *("-pthread", "-D__HIP_PLATFORM_AMD__", f"-I{include}", f"-I{NATIVE}"),
            *("-o", str(root / "lib" / "libamdhip64.so"), *map(str, HERE.glob("*.c")), "-ldl"),
        ],
        check=True,
        timeout=60,
    )
