"""The machine's library: built once for a compiler and a version of its source, then loaded."""

import ctypes
import fcntl
import functools
import hashlib
import os
import platform
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from evaluators.cxx import CxxCompiler, cache_folder, cxx_compiler
from evaluators.device_info import BackendMissing

NATIVE = Path(__file__).parent / "native"
_FLAGS = (
    *("-std=gnu++20", "-O2", "-march=native", "-fPIC", "-fno-exceptions", "-fno-rtti"),
    # Each operation rounds as the instruction does.
    *("-ffp-contract=off", "-fno-fast-math", "-w", "-pipe"),
)
_DEADLINE_S = 600.0


@functools.cache
def library() -> ctypes.CDLL:
    """Raises BackendMissing: no C++ compiler, or one that can't build it."""
    return ctypes.CDLL(str(_built()))


def _built() -> Path:
    tools = cxx_compiler()
    sources = sorted(NATIVE.glob("*.cpp"))
    headers = sorted(NATIVE.glob("*.hpp"))
    told = " ".join((tools.name, platform.machine(), *platform.libc_ver(), *_FLAGS, _processor()))
    key = hashlib.sha256(told.encode() + b"".join(f.read_bytes() for f in (*sources, *headers)))
    path = cache_folder() / f"gfx942-{key.hexdigest()[:16]}.so"
    if path.exists():
        return path
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of many processes that begin at once one builds it
        if not path.exists():
            _build(tools, sources, path)
    return path


def _build(tools: CxxCompiler, sources: Sequence[Path], path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as name:
        folder = Path(name)
        objects = [folder / f"{source.stem}.o" for source in sources]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            commands = [
                [*tools.command, *_FLAGS, "-c", str(source), "-o", str(made)]
                for source, made in zip(sources, objects, strict=True)
            ]
            list(pool.map(functools.partial(_compile, tools, folder), commands))
        linked = folder / "machine.so"
        _compile(tools, folder, [*tools.command, "-shared", *map(str, objects), "-o", str(linked)])
        os.replace(linked, path)  # atomic: others may look for it meanwhile


def _processor() -> str:
    """A cache that several machines share must not give one the code of another."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def _compile(tools: CxxCompiler, folder: Path, command: list[str]) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env={"PATH": os.environ.get("PATH", "/usr/bin:/bin"), **tools.environment(folder)},
        capture_output=True,
        text=True,
        timeout=_DEADLINE_S,
        check=False,
    )
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if "error" in line] or ["no message"]
        raise BackendMissing(
            f"{tools.name} can't build the emulator ({said[0].strip()}): install g++ 11 or newer, "
            "or name another compiler with KERNEL_SCIENTIST_CXX"
        )
