"""A session's view of what the child's libraries write: their variables, and LDS with its zones."""

import mmap
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from evaluators.cpu.faults import Place
from evaluators.cpu.library_memory import ZONE_BYTES, LdsVariable, LibraryMemory
from evaluators.cpu.run_child import STACK_BYTES, RunChild
from evaluators.cpu.toolchain import PAGE
from evaluators.evaluation import Rejected, Status

WORD_BYTES = 4
POISON = 0xFF  # NaNs of every float type, -1 of every integer

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


class Variables:
    """The writable pages of every library and the stack, in a file that both processes map.

    So they are restored without a line of the child's code, and a store beyond a variable in LDS
    is seen from here: in a zone on either side lie bytes to compare, and a page that is hidden.
    """

    def __init__(self, memories: Sequence[LibraryMemory]) -> None:
        self._memories = memories
        self._starts = [sum(m.nbytes for m in memories[:i]) for i in range(len(memories))]
        self._nbytes = sum(memory.nbytes for memory in memories) + STACK_BYTES
        self.file: int = os.memfd_create("variables")
        os.ftruncate(self.file, self._nbytes)
        self._map = mmap.mmap(self.file, self._nbytes)
        self._kept: list[tuple[int, bytes]] = []
        self._shown: dict[int, int] = {}  # bytes of dynamic LDS that the child sees, by library
        self._armed: dict[int, int] = {}  # for a launch with so much of it, by library

    def close(self) -> None:
        with suppress(BufferError):  # as of the session's own memory
            self._map.close()
        os.close(self.file)

    def remember(self) -> None:
        """What is there now is what forget() restores."""
        self._kept = [(start, bytes(self._view(start, end))) for start, end in self._written()]

    def forget(self) -> None:
        self._armed = {}
        for start, end in self._written():
            self._view(start, end)[:] = 0
        for start, data in self._kept:
            self._view(start, start + len(data))[:] = np.frombuffer(data, np.uint8)

    def values(self) -> Bytes:
        """All of them, without the stack, as they are now."""
        return self._view(0, self._nbytes - STACK_BYTES)

    def hide_zones(self, child: RunChild, deadline_s: float) -> None:
        """Let every access to the page inside of a zone fault."""
        for library, memory in enumerate(self._memories):
            for variable in memory.lds:
                for zone in (variable.address - ZONE_BYTES, variable.address + variable.nbytes):
                    first = -(-zone // PAGE) * PAGE
                    last = (zone + ZONE_BYTES) // PAGE * PAGE
                    if first < last:
                        child.hide(child.bases[library] + first, last - first, deadline_s)

    def arm(self, child: RunChild, library: int, lds_bytes: int, deadline_s: float) -> None:
        """Before a launch with so many bytes of dynamic LDS: poison and hide what lies beyond."""
        if self._armed.get(library) == lds_bytes:
            return
        self._armed[library] = lds_bytes
        for variable in self._memories[library].lds:
            for zone in self._zones(library, variable, lds_bytes):
                zone[:] = POISON
            if variable.dynamic:
                self._show_dynamic(child, library, variable, lds_bytes, deadline_s)

    def _show_dynamic(
        self,
        child: RunChild,
        library: int,
        variable: LdsVariable,
        lds_bytes: int,
        deadline_s: float,
    ) -> None:
        wanted = -(-lds_bytes // PAGE) * PAGE
        shown = self._shown.get(library, variable.nbytes)
        address, nbytes = child.bases[library] + variable.address, abs(wanted - shown)
        if wanted < shown:
            child.hide(address + wanted, nbytes, deadline_s)
        elif wanted > shown:
            offset = self._place(library, variable.address) + shown
            child.show_data(address + shown, nbytes, offset, deadline_s)
        self._shown[library] = wanted

    def check(self, library: int, lds_bytes: int) -> None:
        """After that launch. Raises Rejected(WRONG): a store beyond a variable in LDS."""
        for variable in self._memories[library].lds:
            before, behind = self._zones(library, variable, lds_bytes)
            side = "past the end of" if (behind != POISON).any() else "before the start of"
            if (before != POISON).any() or (behind != POISON).any():
                raise Rejected(Status.WRONG, f"wrote {side} {variable}{_where(variable)}")

    def ran_whole(self) -> bool:
        """Whether every library tells that no launch of its left a block out."""
        for library, memory in enumerate(self._memories):
            if memory.left_out is None:
                return False
            place = self._place(library, memory.left_out)
            if self._view(place, place + WORD_BYTES).any():
                return False
        return True

    def spans(self, child: RunChild, library: int, lds_bytes: int) -> list[tuple[int, int]]:
        """(address, bytes) of what a block of that launch has of LDS."""
        return [
            (child.bases[library] + v.address, lds_bytes if v.dynamic else v.nbytes)
            for v in self._memories[library].lds
        ]

    def places(self, child: RunChild, lds_bytes: int | None) -> Iterator[Place]:
        """lds_bytes: of the launch, where what lies beyond them is hidden."""
        for base, memory in zip(child.bases, self._memories, strict=True):
            for variable in memory.lds:
                nbytes = variable.nbytes
                if variable.dynamic and lds_bytes is not None:
                    nbytes = lds_bytes
                yield Place(
                    name=str(variable),
                    address=base + variable.address,
                    nbytes=nbytes,
                    guard_bytes=variable.nbytes - nbytes + ZONE_BYTES,
                    outside=Status.WRONG,
                    where=_where(variable),
                )

    def _zones(self, library: int, variable: LdsVariable, lds_bytes: int) -> tuple[Bytes, Bytes]:
        """Before and behind; behind dynamic LDS also what the launch did not ask for."""
        start = self._place(library, variable.address)
        used = lds_bytes if variable.dynamic else variable.nbytes
        before = self._view(start - ZONE_BYTES, start)
        return before, self._view(start + used, start + variable.nbytes + ZONE_BYTES)

    def _place(self, library: int, address: int) -> int:
        return self._starts[library] + address - self._memories[library].start

    def _view(self, start: int, end: int) -> Bytes:
        return np.frombuffer(self._map, np.uint8, end - start, start)

    def _written(self) -> Iterator[tuple[int, int]]:
        """Where the file has pages at all: most of a large array may have none."""
        end = 0
        while end < self._nbytes:
            try:
                start = os.lseek(self.file, end, os.SEEK_DATA)
            except OSError:  # no data from there on
                return
            end = os.lseek(self.file, start, os.SEEK_HOLE)
            yield start, end


def _where(variable: LdsVariable) -> str:
    return "" if variable.dynamic else f" (line {variable.line})"
