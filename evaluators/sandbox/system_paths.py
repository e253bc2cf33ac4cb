"""Where this machine keeps what its programs need, and no one's data."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

_FOLDERS = ("bin", "lib", "lib32", "lib64", "libx32", "libexec", "include")
_PREFIXES = ("/usr", "/usr/local", "/", "/nix/store", "/gnu/store")
_SYSTEM_FILES = (
    *("/etc/ld.so.cache", "/etc/alternatives", "/dev/urandom", "/dev/zero"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/sys/vm", "/sys/devices/system/cpu"),
)


@cache
def system_paths(*commands: Path) -> tuple[Path, ...]:
    """What programs of this machine need: programs, libraries and headers, and no one's data.

    commands: programs that may lie elsewhere, with what was installed beside them.
    """
    prefixes = [Path(prefix) for prefix in _PREFIXES]
    for command in commands:
        prefixes += [command.parent.parent, command.resolve().parent.parent]
    paths = [path for prefix in dict.fromkeys(prefixes) for path in _installed(prefix)]
    return (*dict.fromkeys(paths), *map(Path, _SYSTEM_FILES))


def _installed(prefix: Path) -> Iterator[Path]:
    if len(prefix.parts) == 3 and prefix.name == "store":
        yield prefix
    yield from (prefix / folder for folder in _FOLDERS)
    yield from prefix.glob("*-linux-gnu*")  # a toolchain's for another machine
    yield prefix / "pyvenv.cfg"
