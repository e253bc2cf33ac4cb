"""Reads what a cubin (NVIDIA's ELF) says of its kernels: registers, memory, parameters."""

import struct
from collections.abc import Iterator
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

# Attribute numbers of .nv.info as `cuobjdump -elf` names them (EIATTR_*).
_MAX_THREADS = 0x05
_FRAME_SIZE = 0x11
_KPARAM_INFO = 0x17
_REGCOUNT = 0x2F
_SIZED = 4  # the one form whose value follows the 4-byte entry
_RESERVED_SYMBOL = ".nv.reservedSmem.offset0"
_RESERVED_BYTES = 1 << 10  # what the system takes of a block's shared memory from sm_80 on


def cubin_kernels(elf: ELFFile) -> Iterator[dict[str, Any]]:
    """For each kernel: symbol, arch, registers, lds_bytes, scratch_bytes, max_threads, parameters.

    parameters: (offset, size) in bytes of each, in order.
    """
    flags = elf["e_flags"]
    new_layout = elf["e_ident"]["EI_ABIVERSION"] >= 8  # CUDA 13 moved the architecture up
    arch = f"sm_{flags >> 8 & 0xFF if new_layout else flags & 0xFF}"
    sections = {section.name: section for section in elf.iter_sections()}
    table = sections[".symtab"]
    assert isinstance(table, SymbolTableSection)
    symbols = [symbol.name for symbol in table.iter_symbols()]
    # Newer compilers count the system's reservation in the section's size.
    reserved = _RESERVED_BYTES if _RESERVED_SYMBOL in symbols else 0
    registers: dict[str, int] = {}
    frames: dict[str, int] = {}
    for attribute, value in _attributes(sections[".nv.info"].data()):
        if attribute in (_REGCOUNT, _FRAME_SIZE):
            index, number = struct.unpack("<II", value)
            (registers if attribute == _REGCOUNT else frames)[symbols[index]] = number
    for name, section in sections.items():
        symbol = name.removeprefix(".nv.info.")
        if symbol == name:
            continue
        shared = sections.get(f".nv.shared.{symbol}")
        yield {
            "symbol": symbol,
            "arch": arch,
            "registers": registers[symbol],
            "lds_bytes": 0 if shared is None else max(0, shared["sh_size"] - reserved),
            "scratch_bytes": frames.get(symbol, 0),
            **_limits(section.data()),
        }


def _limits(info: bytes) -> dict[str, Any]:
    parameters: dict[int, tuple[int, int]] = {}
    max_threads = None
    for attribute, value in _attributes(info):
        if attribute == _KPARAM_INFO:
            _, ordinal, offset, flags = struct.unpack("<IHHI", value)
            parameters[ordinal] = (offset, flags >> 18)
        elif attribute == _MAX_THREADS:
            x, y, z = struct.unpack("<III", value)
            max_threads = x * y * z
    ordered = tuple(parameters[ordinal] for ordinal in sorted(parameters))
    return {"max_threads": max_threads, "parameters": ordered}


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(attribute, value) entries: form, number, then two bytes of value or of its size."""
    at = 0
    while at + 4 <= len(data):
        form, attribute, size = struct.unpack_from("<BBH", data, at)
        at += 4
        length = size if form == _SIZED else 0
        yield attribute, data[at : at + length]
        at += length
