"""The run child's executable: built once for a compiler, and what its filter must know."""

import functools
import hashlib
import os
import platform
import re
import tempfile
from pathlib import Path

from evaluators.cpu.toolchain import NATIVE, READ_ONLY_TABLES, Toolchain, toolchain
from evaluators.cxx import cache_folder
from evaluators.device_info import BackendMissing
from evaluators.sandbox.run import run_confined


@functools.cache
def runner() -> Path:
    """The run child's executable, built once for a compiler and a version of its source."""
    tools = toolchain()
    sources = [NATIVE / name for name in ("runner.c", "rights.h", "stack.h", "launch.h")]
    built_for = " ".join((tools.name, platform.machine(), *platform.libc_ver()))
    key = hashlib.sha256(built_for.encode() + b"".join(s.read_bytes() for s in sources))
    path = cache_folder() / f"runner-{key.hexdigest()[:16]}"
    if path.exists():
        return path
    with tempfile.TemporaryDirectory(dir=path.parent) as name:
        folder = Path(name)
        built = folder / "runner"
        done = run_confined(
            [
                *_c_compiler(tools),
                *("-x", "c", "-O2", "-w", str(sources[0]), "-o", str(built)),
                *("-x", "none", *READ_ONLY_TABLES, "-Wl,--no-as-needed", "-lm", "-ldl"),
            ],
            cwd=folder,
            env=tools.environment(folder),
            deadline_s=300,  # Zig builds its libc the first time
            memory_bytes=toolchain().memory_bytes,
            reads=tools.reads,
            writes=tools.writes,
        )
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
            raise BackendMissing(f"{tools.name} can't build the cpu backend's run child: {said[0]}")
        os.replace(built, path)  # atomic: two processes may build it at once
    return path


def _c_compiler(tools: Toolchain) -> tuple[str, ...]:
    return (*tools.command[:-1], "cc") if tools.family == "zig c++" else tools.command


@functools.cache
def system_calls() -> dict[int, str]:
    """Names of Linux's system calls by number, read from the compiler's own headers."""
    with tempfile.TemporaryDirectory() as folder:
        done = run_confined(
            [*_c_compiler(toolchain()), "-E", "-dM", "-x", "c", "-include", "sys/syscall.h", "-"],
            cwd=Path(folder),
            env=toolchain().environment(Path(folder)),
            deadline_s=60,
            memory_bytes=toolchain().memory_bytes,
            writes=toolchain().writes,
        )
    found = re.findall(r"^#define __NR_(\w+) (\d+)$", done.stdout.decode(errors="replace"), re.M)
    return {int(number): name for name, number in found}
