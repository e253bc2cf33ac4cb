"""What contests may take of the devices' time while the search goes on."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from engine.gate import Gate

SHARE = 0.05
"""Of the devices' time, for what can wait."""

LARGE_SHARE = 0.5
"""For what should not."""

LOOK_AGAIN_S = 0.5
"""While the campaign rests."""


class Allowance:
    """Time on the devices: it grows with the search and is spent by sittings."""

    def __init__(
        self,
        devices: Callable[[], int],
        asked_s: Callable[[], float],
        pause: Gate | None = None,
    ) -> None:
        """devices: how many there are; asked_s: seconds of a device, of sittings so far and for
        the next one. pause: closed: nothing is spent."""
        self._pause = pause or Gate()
        self._devices, self._asked_s = devices, asked_s
        self._began = time.monotonic()
        self._ended = asyncio.Event()

    def begin(self) -> None:
        """From now on it grows."""
        self._began = time.monotonic()

    def end(self) -> None:
        """The search is over: nobody waits any more."""
        self._ended.set()

    def due_in(self, share: float = SHARE) -> float:
        """Seconds until what is asked for may be no more than the share; 0: now."""
        if self._pause.closed:
            return LOOK_AGAIN_S
        due = self._began + self._asked_s() / (share * self._devices())
        return max(0.0, due - time.monotonic())

    async def due(self, share: float = SHARE) -> bool:
        """Wait until something may be spent. False: it ended."""
        while not self._ended.is_set() and self.due_in(share):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), self.due_in(share))
        return not self._ended.is_set()
