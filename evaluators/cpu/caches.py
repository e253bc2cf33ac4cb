"""A core's caches, as Linux tells of them."""

from pathlib import Path

SYSFS = "/sys/devices/system/cpu/cpu{core}/cache"
UNTOLD = {"L1": 32 << 10, "L2": 512 << 10, "L3": 32 << 20}
"""Where nothing is told, as in some containers and virtual machines."""
_UNITS = {"K": 10, "M": 20, "G": 30}


def caches(core: int = 0, folder: Path | None = None) -> dict[str, int]:
    """Bytes of each level that holds data, nearest first."""
    found: dict[str, int] = {}
    for index in sorted((folder or Path(SYSFS.format(core=core))).glob("index*")):
        try:
            level, kind, size = (
                (index / name).read_text().strip() for name in ("level", "type", "size")
            )
        except OSError:
            continue
        number, unit = size[:-1], size[-1:]
        if kind != "Instruction" and number.isdigit() and unit in _UNITS and int(number):
            found[f"L{level}"] = int(number) << _UNITS[unit]
    return dict(sorted(found.items())) or UNTOLD
