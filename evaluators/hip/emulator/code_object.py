"""A code object in memory: its segments, relocations, variables and kernel descriptors."""

import io
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from evaluators.evaluation import Rejected, Status
from evaluators.gpu.resources import amdgpu_metadata

PAGE = 4096
_ABS32_LO, _ABS32_HI, _ABS64, _ABS32, _RELATIVE64 = 1, 2, 3, 6, 13


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """A kernel's 64 bytes: what the hardware sets up before its first instruction.

    Source: LLVM, User Guide for AMDGPU Backend, "Kernel Descriptor". user: which user SGPRs there
    are, in order. lds_bytes, scratch_bytes: static. vectors: registers of a lane, a0 at
    accumulators. mode: the register MODE at first. preloaded: words of arguments in SGPRs.
    """

    entry: int
    lds_bytes: int
    scratch_bytes: int
    dynamic_stack: bool
    kernarg_bytes: int
    vectors: int
    accumulators: int
    mode: int
    user: tuple[str, ...]
    user_scalars: int
    workgroup_ids: int  # bits: x, y, z
    preload_offset: int
    preloaded: int


_USER = (
    ("private_segment_buffer", 4),
    ("dispatch_ptr", 2),
    ("queue_ptr", 2),
    ("kernarg_segment_ptr", 2),
    ("dispatch_id", 2),
    ("flat_scratch_init", 2),
    ("private_segment_size", 1),
)
USER_SCALARS: Mapping[str, int] = dict(_USER)


def read_descriptor(data: bytes, address: int) -> Descriptor:
    """data: the 64 bytes at that address."""
    lds, scratch, kernarg = struct.unpack_from("<III", data, 0)
    (entry,) = struct.unpack_from("<q", data, 16)
    rsrc3, rsrc1, rsrc2, properties, preload = struct.unpack_from("<IIIHH", data, 44)
    user = tuple(name for bit, (name, _) in enumerate(_USER) if properties >> bit & 1)
    preloaded = preload & 0x7F
    return Descriptor(
        # Code that has its arguments preloaded begins after 256 bytes that load them.
        entry=address + entry + (256 if preloaded else 0),
        lds_bytes=lds,
        scratch_bytes=scratch,
        dynamic_stack=bool(properties >> 11 & 1),
        kernarg_bytes=kernarg,
        vectors=8 * ((rsrc1 & 0x3F) + 1),
        accumulators=4 * ((rsrc3 & 0x3F) + 1),
        # Rounding, denormals, DX10_CLAMP, IEEE, FP16_OVFL, as in the register MODE.
        mode=(rsrc1 >> 12 & 0xFF)
        | (rsrc1 >> 21 & 1) << 8
        | (rsrc1 >> 23 & 1) << 9
        | (rsrc1 >> 26 & 1) << 23,
        user=user,
        user_scalars=rsrc2 >> 1 & 0x1F,
        workgroup_ids=rsrc2 >> 7 & 7,
        preload_offset=preload >> 7,
        preloaded=preloaded,
    )


class CodeObject:
    """One loaded into memory of its own. base: what is added to the file's addresses."""

    def __init__(self, code: bytes) -> None:
        """Raises Rejected(LAUNCH_ERROR): no code object for gfx942."""
        metadata = amdgpu_metadata(code)
        target = str(metadata["amdhsa.target"])
        if "gfx942" not in target:
            raise Rejected(Status.LAUNCH_ERROR, f"the emulator runs gfx942, the code is {target}")
        self.kernels: Mapping[str, Any] = {k[".name"]: k for k in metadata["amdhsa.kernels"]}
        elf = ELFFile(io.BytesIO(code))
        loads = [s for s in elf.iter_segments() if s["p_type"] == "PT_LOAD"]
        self.nbytes = max(s["p_vaddr"] + s["p_memsz"] for s in loads)
        self._memory = np.zeros(self.nbytes + PAGE, np.uint8)
        self.base = -(-self._memory.ctypes.data // PAGE) * PAGE
        for segment in loads:
            self._put(segment["p_vaddr"], segment.data())
        tables = [s for s in elf.iter_sections() if isinstance(s, SymbolTableSection)]
        self.symbols = {
            symbol.name: (symbol["st_value"], symbol["st_size"])
            for table in reversed(tables)
            for symbol in table.iter_symbols()
            if symbol.name and symbol["st_shndx"] != "SHN_UNDEF"
        }
        for section in elf.iter_sections():
            if isinstance(section, RelocationSection) and section.is_RELA():
                self._relocate(elf, section)

    def descriptor(self, kernel: str) -> Descriptor:
        """Addresses in it are the file's."""
        address, _ = self.symbols[f"{kernel}.kd"]
        return read_descriptor(self._get(address, 64), address)

    def variable(self, name: str) -> tuple[int, int] | None:
        if name not in self.symbols:
            return None
        address, nbytes = self.symbols[name]
        return self.base + address, nbytes

    def bytes_at(self, address: int, nbytes: int) -> np.ndarray[Any, Any] | None:
        """A view of its memory at an address of this process; None where that isn't its own."""
        start = address - int(self._memory.ctypes.data)
        inside = self.base <= address and address + nbytes <= self.base + self.nbytes
        return self._memory[start : start + nbytes] if inside else None

    def _put(self, address: int, data: bytes) -> None:
        start = self.base - self._memory.ctypes.data + address
        self._memory[start : start + len(data)] = np.frombuffer(data, np.uint8)

    def _get(self, address: int, nbytes: int) -> bytes:
        start = self.base - self._memory.ctypes.data + address
        return self._memory[start : start + nbytes].tobytes()

    def _relocate(self, elf: ELFFile, section: RelocationSection) -> None:
        """Raises Rejected(UNSUPPORTED): a relocation of an unknown kind."""
        symbols = elf.get_section(section["sh_link"])
        for one in section.iter_relocations():
            kind, addend = one["r_info_type"], one["r_addend"]
            value = addend + self.base
            if kind != _RELATIVE64:
                assert isinstance(symbols, SymbolTableSection)
                value += symbols.get_symbol(one["r_info_sym"])["st_value"]
            if kind in (_ABS64, _RELATIVE64):
                self._put(one["r_offset"], struct.pack("<Q", value))
            elif kind in (_ABS32, _ABS32_LO):
                self._put(one["r_offset"], struct.pack("<I", value & 0xFFFFFFFF))
            elif kind == _ABS32_HI:
                self._put(one["r_offset"], struct.pack("<I", value >> 32))
            else:
                raise Rejected(
                    Status.UNSUPPORTED, f"the emulator does not know the relocation {kind}"
                )
