"""The actor that alone writes the store."""

import asyncio
import os
import threading
from contextlib import suppress
from pathlib import Path

from engine.actors.lifeline import Driver, live_with
from engine.store.copies import copy_store
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

    async def copy(self, target: Path, cores: frozenset[int]) -> str:
        """Beside what is appended meanwhile; what went wrong, or nothing. cores: where it may run,
        so that it leaves measuring ones alone; none: anywhere."""
        loop = asyncio.get_running_loop()
        made: asyncio.Future[str] = loop.create_future()
        path = self._store.path

        def make() -> None:
            why = _copied(path, target, cores)
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(made.set_result, why)

        # A daemon, so that a folder that hangs keeps no process from its end.
        threading.Thread(target=make, name="copy of the store", daemon=True).start()
        return await made

    async def close(self) -> None:
        self._store.close()

    async def _commit_soon(self) -> None:
        await asyncio.sleep(COMMIT_EVERY_S)
        rows, self._rows, self._commit = self._rows, [], None
        self._store.append(rows)


def _copied(store: Path, target: Path, cores: frozenset[int]) -> str:
    """Called in a thread of its own, which alone is placed."""
    if cores:
        os.sched_setaffinity(0, cores)
    os.nice(10)
    try:
        copy_store(store, target)
    except OSError as error:
        return error.strerror or str(error)
    except StoreError as error:
        return str(error)
    return ""
