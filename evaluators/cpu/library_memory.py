"""Where a kernel's library keeps what it writes: its variables, and those of them in LDS."""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from evaluators.cpu.library import symbols_of
from evaluators.cpu.toolchain import PAGE

ZONE_BYTES = 8192
"""KS_ZONE in native/launch.h: on either side of each variable in LDS."""

LDS_PREFIX = "ks_lds_"
"""A variable's zones and itself are one object, named by this, its line and its own name."""

LEFT_OUT = "ks_left_out"
"""An oracle's 32-bit word, not zero once a launch left a block out (ks/sample.h)."""

_LDS = re.compile(rf"(?P<length>\d*)(?P<name>{LDS_PREFIX}(?P<line>\d+)_\w+)")
_WRITABLE = 2  # PF_W


@dataclass(frozen=True, slots=True, kw_only=True)
class LdsVariable:
    """address: of its first byte, from the library's base; zones lie before and behind it."""

    name: str
    line: int
    address: int
    nbytes: int

    @property
    def dynamic(self) -> bool:
        return self.line == 0

    def __str__(self) -> str:
        return "the dynamic LDS" if self.dynamic else f"the LDS array {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryMemory:
    """The pages that a library may write: start and bytes; filled: those that its file gives.

    left_out: the address of LEFT_OUT, where the library has it.
    """

    start: int
    filled: int
    nbytes: int
    lds: tuple[LdsVariable, ...]
    left_out: int | None = None

    @property
    def dynamic_lds(self) -> LdsVariable | None:
        return next((variable for variable in self.lds if variable.dynamic), None)


@lru_cache(maxsize=64)
def memory_of(data: bytes) -> LibraryMemory:
    """data: a library that check_library let pass. Raises RuntimeError: it is none."""
    try:
        return _memory(ELFFile(io.BytesIO(data)))
    except ELFError as error:
        raise RuntimeError(f"a kernel's library can't be read: {error}") from None


def _memory(elf: ELFFile) -> LibraryMemory:
    segments = list(elf.iter_segments())
    fixed_end = max(
        (s["p_vaddr"] + s["p_memsz"] for s in segments if s["p_type"] == "PT_GNU_RELRO"), default=0
    )
    found = []
    for segment in segments:
        if segment["p_type"] == "PT_LOAD" and segment["p_flags"] & _WRITABLE:
            address, end = segment["p_vaddr"], segment["p_vaddr"] + segment["p_memsz"]
            start = max(address, min(fixed_end, end)) // PAGE * PAGE
            if start < end and end > fixed_end:
                filled = max(0, address + segment["p_filesz"] - start)
                found.append((start, filled, -(-(end - start) // PAGE) * PAGE))
    if len(found) > 1:
        raise RuntimeError(f"a library of {len(found)} writable segments, not of one")
    start, filled, nbytes = found[0] if found else (0, 0, 0)
    left_out = (s["st_value"] for s in symbols_of(elf, ".symtab") if s.name == LEFT_OUT)
    return LibraryMemory(
        start=start,
        filled=filled,
        nbytes=nbytes,
        lds=tuple(_lds(elf)),
        left_out=next(left_out, None),
    )


def lds_name(symbol: str) -> tuple[str, int] | None:
    """The name and the line of the variable in LDS that a symbol, mangled or not, stands for."""
    if not (found := _LDS.search(symbol)):
        return None
    whole = found["name"]
    # Digits ahead may be the end of another number; the length is right where it fits.
    for k in range(len(found["length"])):
        if int(found["length"][k:]) <= len(whole):
            whole = whole[: int(found["length"][k:])]
            break
    name = whole.removeprefix(f"{LDS_PREFIX}{found['line']}_")
    return name, int(found["line"])


def without_zones(symbol: str, nbytes: int) -> int:
    """Of an object, what the kernel itself declared. A compiler may have left the zones out."""
    zoned = LDS_PREFIX in symbol and nbytes > 2 * ZONE_BYTES
    return nbytes - 2 * ZONE_BYTES if zoned else nbytes


def _lds(elf: ELFFile) -> Iterator[LdsVariable]:
    for symbol in symbols_of(elf, ".symtab"):
        nbytes = symbol["st_size"] - 2 * ZONE_BYTES
        named = lds_name(symbol.name)
        if named and symbol["st_info"]["type"] == "STT_OBJECT" and nbytes > 0:
            address = symbol["st_value"] + ZONE_BYTES
            yield LdsVariable(name=named[0], line=named[1], address=address, nbytes=nbytes)
