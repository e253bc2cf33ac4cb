"""What contests may take of the devices' time while the search goes on."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

SHARE = 0.05
"""Of the devices' time, for what can wait."""


class Allowance:
    """Time on the devices: it grows with the search and is spent by sittings."""

    def __init__(self, devices: int, spent_s: Callable[[], float]) -> None:
        """spent_s: on sittings so far, in seconds of a device."""
        self._devices, self._spent_s = devices, spent_s
        self._began = time.monotonic()
        self._ended = asyncio.Event()

    def begin(self) -> None:
        """From now on it grows."""
        self._began = time.monotonic()

    def end(self) -> None:
        """The search is over: nobody waits any more."""
        self._ended.set()

    def due_in(self) -> float:
        """Seconds until what was spent is no more than the share; 0: now."""
        return max(0.0, self._began + self._spent_s() / (SHARE * self._devices) - time.monotonic())

    async def due(self, *, urgent: bool = False) -> bool:
        """Wait until something may be spent; at once where it is urgent. False: it ended."""
        while not self._ended.is_set() and not urgent and self.due_in():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), self.due_in())
        return not self._ended.is_set()
