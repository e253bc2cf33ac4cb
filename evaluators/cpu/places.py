"""Where a session's allocations lie in its memory: each ends at a page that nobody may touch."""

from evaluators.cpu.fence import GUARD_BYTES
from evaluators.cpu.toolchain import PAGE
from evaluators.device import ALIGNMENT, Buffer
from evaluators.evaluation import Rejected, Status

GUARD_SPACE = 1 << 30
"""Address space for guards; no memory lies behind it."""


def room_for(memory_bytes: int) -> int:
    return -(-memory_bytes // PAGE) * PAGE + GUARD_SPACE


class Places:
    """The same sequence of allocations gives the same places."""

    def __init__(self, memory_bytes: int) -> None:
        self._left = memory_bytes
        self._next = 0
        self._room = room_for(memory_bytes)

    def take(self, nbytes: int) -> tuple[Buffer, tuple[int, int]]:
        """The buffer, and the first byte and the bytes of the pages that hold it.

        Raises Rejected(LAUNCH_ERROR).
        """
        span = max(1, -(-nbytes // PAGE)) * PAGE
        start = self._next + GUARD_BYTES
        if nbytes > self._left or start + span + GUARD_BYTES > self._room:
            raise Rejected(
                Status.LAUNCH_ERROR,
                f"out of memory: {nbytes:,} bytes asked for, {self._left:,} left",
            )
        self._left -= nbytes
        self._next = start + span
        return Buffer(start + span - -(-nbytes // ALIGNMENT) * ALIGNMENT, nbytes), (start, span)
