"""What the oracle tells of accesses: by the address that it reads, and the access's line."""

import io
from collections.abc import Iterable

from elftools.elf.elffile import ELFFile

from evaluators.evaluation import Rejected, Status
from evaluators.kernel.tokens import KERNEL_FILE

LOST_UPDATE = 0x1D1A00000000
"""KS_LOST_UPDATE in ks/races.h; the access's place in the library is added to it."""

_TOLD = {
    LOST_UPDATE: (
        "a thread changes what another thread wrote, with no barrier and no atomic operation "
        "between: one of the two changes can be lost"
    ),
    0x1D1B00000000: "a thread reads LDS that another thread wrote, no barrier between",
    0x1D1C00000000: "a thread reads what another thread of its block wrote, no barrier between",
    0x1D1D00000000: "a thread reads what another block of the same launch wrote",
    0x1D2300000000: (
        "a thread reads what another block of the same launch wrote with no fence before the "
        "atomic operation that announced it: put __threadfence() between them"
    ),
    0x1D2400000000: (
        "a thread writes another value where another thread of the same launch writes, with no "
        "barrier between: which of the two stays is luck; let one thread write each place"
    ),
    0x1D2500000000: (
        "a thread reads a place to which two threads wrote different values, with no barrier "
        "between: which of the two it finds is luck; let one thread write each place"
    ),
    0x1D2700000000: (
        "a thread reads what another block of the same launch writes later: it must wait until "
        "that is there, however long it takes"
    ),
    0x1D1F00000000: (
        "a thread reads what its block wrote where another block of the same launch writes too: "
        "give each block memory of its own, such as LDS"
    ),
    0x1D2600000000: "a thread writes behind the end of a buffer, or before its start",
    0x1D2000000000: (
        "a thread reads LDS that no thread of its block has written (is a barrier missing? lanes "
        "run in no lockstep here)"
    ),
    0x1D2100000000: (
        "a pointer is not aligned as its type asks for (8 bytes for float2, 16 for float4): a GPU "
        "faults"
    ),
    0x1D1E00000000: (
        "a lane reads LDS that another lane of its wavefront wrote, no barrier between: lanes run "
        "in no lockstep here, put __syncwarp() or __syncthreads() between"
    ),
}
_ENOUGH = 0x1D2200000000
_LIBRARY_BYTES = 1 << 32


def race(address: int, libraries: Iterable[bytes]) -> Rejected | None:
    """The verdict on a race by the address that the oracle read; None when it tells of none."""
    kind = address & -_LIBRARY_BYTES
    if kind == _ENOUGH:
        return Rejected(Status.TIMEOUT, "a block made too many accesses: it may wait for another")
    told = _TOLD.get(kind)
    if told is None:
        return None
    place = address % _LIBRARY_BYTES - 1  # of the call: the address is the one it returns to
    line = next((found for data in libraries if (found := _line(data, place))), None)
    return Rejected(Status.WRONG, told, line=line, race=True)


def _line(library: bytes, place: int) -> int | None:
    """The kernel's line of the code at a place in its library."""
    elf = ELFFile(io.BytesIO(library))
    if not elf.has_dwarf_info():
        return None
    dwarf = elf.get_dwarf_info()
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        before = None
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if before is not None and before.address <= place < state.address:
                name = program.header.file_entry[before.file - 1].name.decode()
                return int(before.line) if name == KERNEL_FILE else None
            before = None if state.end_sequence else state
    return None
