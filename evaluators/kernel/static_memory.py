"""How much memory a module takes for its global variables, whichever compiler made it."""

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from evaluators.evaluation import Rejected, Status

MAX_STATIC_BYTES = 64 << 20
"""Of code and global variables together; more belongs into scratch buffers."""


def check_static_memory(elf: ELFFile) -> None:
    """Raises Rejected(LAUNCH_ERROR) when loading it would take more than MAX_STATIC_BYTES."""
    sections = sum(
        section["sh_size"]
        for section in elf.iter_sections()
        if section["sh_flags"] & SH_FLAGS.SHF_ALLOC
    )
    loaded = [s for s in elf.iter_segments() if s["p_type"] == "PT_LOAD"]
    last = max((s["p_vaddr"] + s["p_memsz"] for s in loaded), default=0)
    taken = max(sections, last - min((s["p_vaddr"] for s in loaded), default=0))
    if taken > MAX_STATIC_BYTES:
        raise Rejected(
            Status.LAUNCH_ERROR,
            f"the global variables take {taken:,} bytes of static memory, at most "
            f"{MAX_STATIC_BYTES:,} are allowed: use a scratch buffer",
        )
