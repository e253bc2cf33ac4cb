"""Buffers copied to pages of their own for a run, with pages round them that nobody may touch."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaluators.cpu.faults import Place
from evaluators.cpu.run_child import RunChild
from evaluators.cpu.script import Span
from evaluators.cpu.toolchain import PAGE
from evaluators.device import ALIGNMENT, Buffer
from evaluators.evaluation import Status

GUARD_BYTES = 16 * PAGE
MOST_BUFFERS = 256

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


def fence_bytes(memory_bytes: int) -> int:
    """Address space for the copies of buffers of so many bytes together."""
    return memory_bytes // PAGE * PAGE + MOST_BUFFERS * (GUARD_BYTES + 2 * PAGE)


@dataclass(slots=True, kw_only=True)
class _Copy:
    """name: one that the buffer has. start, nbytes: its pages in the arena."""

    name: str
    buffer: Buffer
    start: int
    nbytes: int
    at_end: bool
    entered: list[Bytes] = field(default_factory=list)  # what lay round it in its pages

    @property
    def shift(self) -> int:
        """From the start of the pages to the buffer's. Its end is exact to ALIGNMENT."""
        used = -(-self.buffer.nbytes // ALIGNMENT) * ALIGNMENT
        return self.nbytes - used if self.at_end else 0

    def around(self) -> tuple[slice, slice]:
        """Of the pages, what is not the buffer."""
        return slice(0, self.shift), slice(self.shift + self.buffer.nbytes, self.nbytes)

    @property
    def inside(self) -> Buffer:
        return Buffer(self.start + self.shift, self.buffer.nbytes)


class Fence:
    """Copies in turn at the start and at the end of their pages, so that both sides are exact.

    The rest of a buffer's pages holds what lies round the buffer itself, and goes back there
    after the run: who compares guards finds in them what the kernel did to the copy's. So
    buffers must lie a page apart.
    """

    def __init__(self, arena: Bytes, start: int) -> None:
        """start: of the part of the arena that the copies may have; all behind it is theirs."""
        self._arena = arena
        self._start = start
        self._end = start
        self._copies: dict[Buffer, _Copy] = {}
        self._layouts = 0

    def enter(
        self,
        buffers: Mapping[str, Buffer],
        kept: Collection[str],
        child: RunChild,
        deadline_s: float,
    ) -> dict[str, Buffer]:
        """Copy in; the copies by name. kept: names whose addresses stay while buffers do."""
        if set(buffers.values()) != set(self._copies):
            self._lay_out(buffers, child, deadline_s)
        for name, buffer in buffers.items():
            copy = self._copies[buffer]
            copy.at_end ^= copy.name == name and name not in kept
        for copy in self._copies.values():
            pages, there = self._pages(copy)
            pages[:] = there
            copy.entered = [pages[part].copy() for part in copy.around()]
        return {name: self._copies[buffer].inside for name, buffer in buffers.items()}

    def leave(self) -> None:
        """Copy back what the run made; of what lies round a buffer only what has changed."""
        for copy in self._copies.values():
            pages, there = self._pages(copy)
            own = slice(copy.shift, copy.shift + copy.buffer.nbytes)
            there[own] = pages[own]
            for part, entered in zip(copy.around(), copy.entered, strict=True):
                changed = pages[part] != entered
                there[part][changed] = pages[part][changed]

    def places(self, child: RunChild) -> Iterator[Place]:
        for copy in self._copies.values():
            yield Place(
                name=copy.name,
                address=child.arena + copy.inside.offset,
                nbytes=copy.buffer.nbytes,
                guard_bytes=GUARD_BYTES,
                outside=Status.WRONG,
                read_only=copy.buffer.read_only,
            )

    def margins(self, child: RunChild) -> Iterator[Span]:
        """What lies round the buffers that kernels may write to, in the same pages."""
        for copy in self._copies.values():
            for part in () if copy.buffer.read_only else copy.around():
                if part.start < part.stop:
                    yield child.arena + copy.start + part.start, part.stop - part.start

    def _lay_out(self, buffers: Mapping[str, Buffer], child: RunChild, deadline_s: float) -> None:
        if self._end > self._start:
            child.hide(child.arena + self._start, self._end - self._start, deadline_s)
        self._copies, self._end = {}, self._start
        self._layouts += 1
        for name, buffer in buffers.items():
            if buffer in self._copies:
                continue
            nbytes = max(1, -(-buffer.nbytes // PAGE)) * PAGE
            start = self._end + GUARD_BYTES
            self._end = start + nbytes
            self._copies[buffer] = _Copy(
                name=name,
                buffer=buffer,
                start=start,
                nbytes=nbytes,
                at_end=self._layouts % 2 == 0,
            )
            child.show(start, nbytes, deadline_s, read_only=buffer.read_only)

    def _pages(self, copy: _Copy) -> tuple[Bytes, Bytes]:
        """The copy's pages, and as many bytes round the buffer itself."""
        start = copy.buffer.offset - copy.shift
        there = self._arena[start : start + copy.nbytes]
        return self._arena[copy.start : copy.start + copy.nbytes], there
