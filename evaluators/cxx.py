"""The C++ compiler of this machine, and the folder where what it built is kept."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from evaluators.device_info import BackendMissing

COMPILER_VARIABLE = "KERNEL_SCIENTIST_CXX"
CACHE_VARIABLE = "KERNEL_SCIENTIST_CACHE"


@dataclass(frozen=True, slots=True, kw_only=True)
class CxxCompiler:
    """A C++ compiler that works. name: as times are tagged, "g++ 12.2.0"."""

    command: tuple[str, ...]
    family: str  # "g++", "clang++" or "zig c++"
    version: str

    @property
    def name(self) -> str:
        return f"{self.family} {self.version}"

    @property
    def memory_bytes(self) -> int:
        """Address space for a compile child; Zig reserves much, and uses little of it."""
        return (8 if self.family == "zig c++" else 3) << 30

    @property
    def writes(self) -> tuple[Path, ...]:
        """What it keeps from one compilation to the next."""
        return (_made(cache_folder() / "zig"),) if self.family == "zig c++" else ()

    def environment(self, folder: Path) -> dict[str, str]:
        """What the compiler needs beside PATH; its temporary files go to folder."""
        variables = {"TMPDIR": str(folder), "HOME": str(folder), "LC_ALL": "C"}
        if self.family == "zig c++":
            variables["ZIG_GLOBAL_CACHE_DIR"] = str(*self.writes)
            variables["ZIG_LOCAL_CACHE_DIR"] = str(folder / "zig")
        return variables


def cxx_compiler() -> CxxCompiler:
    """The compiler named by KERNEL_SCIENTIST_CXX, else g++, clang++ or the package ziglang's.

    Raises BackendMissing when there is none.
    """
    wanted = os.environ.get(COMPILER_VARIABLE, "").strip()
    if wanted:
        command = tuple(shlex.split(wanted))
        if shutil.which(command[0]) is None:
            raise BackendMissing(
                f"{COMPILER_VARIABLE} names {command[0]!r}, which is not on PATH: name a C++ "
                "compiler that is, or unset it"
            )
        return _describe(command)
    for name in ("g++", "clang++"):
        if shutil.which(name):
            return _describe((name,))
    if importlib.util.find_spec("ziglang"):
        return _describe((sys.executable, "-m", "ziglang", "c++"))
    raise BackendMissing("no C++ compiler: install g++ or clang++, or the Python package ziglang")


def _describe(command: tuple[str, ...]) -> CxxCompiler:
    try:
        said = subprocess.run(
            [*command, "--version"],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env={**os.environ, "LC_ALL": "C"},
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise BackendMissing(
            f"the C++ compiler {shlex.join(command)} does not run: {error}"
        ) from None
    found = re.search(r"\d+\.\d+(?:\.\d+)?", said.splitlines()[0] if said else "")
    clang = "clang" in said
    family = (
        "zig c++" if "ziglang" in command or "zig" in command[0] else "clang++" if clang else "g++"
    )
    return CxxCompiler(command=command, family=family, version=found.group() if found else "?")


def cache_folder() -> Path:
    """Where built tools and calibrations are kept; made when it is not there."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return _made(Path(named))
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.path.isabs(base):
        raise BackendMissing(
            f"the cache folder {base} has no full path, as of a user without a home: name another "
            f"one with {CACHE_VARIABLE}"
        )
    return _made(Path(base) / "kernel-scientist")


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BackendMissing(
            f"the cache folder {folder} can't be made ({error.strerror}): name another one with "
            f"{CACHE_VARIABLE}"
        ) from None
    return folder
