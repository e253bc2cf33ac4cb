"""A loaded module's variables: what they hold after loading, or prepare, and its restoration."""

import functools
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from evaluators.gpu.driver import Driver

_WRITTEN = SH_FLAGS.SHF_WRITE | SH_FLAGS.SHF_ALLOC

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


@functools.lru_cache(maxsize=64)  # an anchor comes with every kernel
def writable_variables(code: bytes) -> tuple[str, ...]:
    """Symbols of what kernels of a cubin or code object may write: __device__ and static ones."""
    return tuple(dict.fromkeys(_symbols(ELFFile(io.BytesIO(code)))))


def _symbols(elf: ELFFile) -> Iterator[str]:
    for table in elf.iter_sections():
        if not isinstance(table, SymbolTableSection):
            continue
        for symbol in table.iter_symbols():
            index = symbol["st_shndx"]
            if symbol["st_info"]["type"] != "STT_OBJECT" or not isinstance(index, int):
                continue
            section = elf.get_section(index)
            in_memory = section["sh_flags"] & _WRITTEN == _WRITTEN
            if in_memory and symbol["st_size"] and not section.name.startswith(".nv.shared"):
                yield symbol.name


@dataclass(slots=True, kw_only=True)
class Variables:
    """Of one module. places: (address, bytes) of each. complete: the driver names all of them."""

    driver: Driver
    places: tuple[tuple[int, int], ...]
    complete: bool
    kept: list[Bytes] = field(default_factory=list)

    @classmethod
    def of(cls, driver: Driver, module: Any, code: bytes) -> "Variables":
        found = [driver.variable(module, name) for name in writable_variables(code)]
        places = tuple(place for place in found if place is not None)
        made = cls(driver=driver, places=places, complete=len(places) == len(found))
        made.remember()
        return made

    def remember(self) -> None:
        """What they hold now is what restore() brings back."""
        self.kept = []
        for address, nbytes in self.places:
            self.kept.append(np.empty(nbytes, np.uint8))
            self.driver.copy_out(self.kept[-1], address)

    def restore(self) -> None:
        for (address, nbytes), data in zip(self.places, self.kept, strict=True):
            if data.any():
                self.driver.copy_in(address, data)
            else:
                self.driver.fill(address, 0, nbytes)


def values_of(modules: Iterable[Variables]) -> Bytes:
    """Copies of all that the driver names, each padded to words of 8 bytes."""
    found = [np.empty(0, np.uint8)]
    for module in modules:
        for address, nbytes in module.places:
            found.append(np.zeros(_padded(nbytes), np.uint8))
            module.driver.copy_out(found[-1][:nbytes], address)
    return np.concatenate(found)


def set_values(modules: Iterable[Variables], values: Bytes) -> None:
    """values: what values_of() gave for the same modules, or what became of it."""
    at = 0
    for module in modules:
        for address, nbytes in module.places:
            module.driver.copy_in(address, values[at : at + nbytes])
            at += _padded(nbytes)


def _padded(nbytes: int) -> int:
    return -(-nbytes // 8) * 8
