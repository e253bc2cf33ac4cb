"""The actor that alone writes the store."""

import asyncio
import sqlite3
from pathlib import Path

from engine.actors.lifeline import Driver, live_with
from engine.store.events import Row
from engine.store.store import Store, StoreError

COMMIT_EVERY_S = 0.002
"""The store writer waits this long for more events to come before it commits."""


class StoreWriter:
    """The only writer of the store; an append is answered after its commit."""

    def __init__(self, driver: Driver) -> None:
        live_with(driver)
        self._opened: Store | None = None
        self._rows: list[Row] = []
        self._commit: asyncio.Task[None] | None = None

    async def open(self, path: Path) -> None:
        """Raises StoreError."""
        self._opened = Store(path)

    @property
    def _store(self) -> Store:
        if self._opened is None:
            raise StoreError("the store is not open")
        return self._opened

    async def append(self, rows: list[Row]) -> None:
        self._rows += rows
        if self._commit is None:
            self._commit = asyncio.get_running_loop().create_task(self._commit_soon())
        await asyncio.shield(self._commit)

    async def read(self, after: int, limit: int) -> list[tuple[int, float, str, str]]:
        return self._store.read(after, limit)

    async def snapshot(self, target: Path) -> str:
        """Copy the store; what went wrong, in one sentence, or nothing."""
        try:
            self._store.snapshot(target)
        except (OSError, sqlite3.Error) as error:
            return f"the store can't be copied to {target}: {error}"
        return ""

    async def close(self) -> None:
        self._store.close()

    async def _commit_soon(self) -> None:
        await asyncio.sleep(COMMIT_EVERY_S)
        rows, self._rows, self._commit = self._rows, [], None
        self._store.append(rows)
