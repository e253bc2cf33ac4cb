"""How much memory a module takes for its global variables, whichever compiler made it."""

import io

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from evaluators.evaluation import Rejected, Status

MAX_STATIC_BYTES = 256 << 20
"""Of a module's code and global variables together; more belongs into scratch buffers."""


def check_static_memory(elf: ELFFile, *, ours: int = 0) -> None:
    """Raises Rejected(LAUNCH_ERROR) when loading it would take more than MAX_STATIC_BYTES.

    ours: bytes that we added to it ourselves, beside the kernel's.
    """
    refuse_more_than(MAX_STATIC_BYTES, _loaded_bytes(elf) - ours)


def static_bytes(module: bytes) -> int:
    """What loading the ELF file takes."""
    return _loaded_bytes(ELFFile(io.BytesIO(module)))


def refuse_more_than(limit: int, taken: int) -> None:
    """Raises Rejected(LAUNCH_ERROR). Both in bytes."""
    if taken > limit:
        raise Rejected(
            Status.LAUNCH_ERROR,
            f"the global variables take {taken:,} bytes of static memory, at most {limit:,} are "
            "allowed: use a scratch buffer",
        )


def _loaded_bytes(elf: ELFFile) -> int:
    """From the first to the last byte of its segments, and all of its sections, if that is more."""
    sections = sum(
        section["sh_size"]
        for section in elf.iter_sections()
        if section["sh_flags"] & SH_FLAGS.SHF_ALLOC
    )
    loaded = [s for s in elf.iter_segments() if s["p_type"] == "PT_LOAD"]
    first = min((s["p_vaddr"] for s in loaded), default=0)
    last = max((s["p_vaddr"] + s["p_memsz"] for s in loaded), default=0)
    return max(sections, last - first)
