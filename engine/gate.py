"""A gate: those that come to it wait while it is closed."""

import asyncio


class Gate:
    """Open at first."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()

    @property
    def closed(self) -> bool:
        return not self._open.is_set()

    def set(self, *, closed: bool) -> None:
        if closed:
            self._open.clear()
        else:
            self._open.set()

    async def passed(self) -> None:
        """Return once it is open."""
        await self._open.wait()
