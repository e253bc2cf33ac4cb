"""Calls between processes: an actor's way to the store, and what comes back from Ray."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from ray.actor import ActorHandle
from ray.exceptions import (
    ActorUnschedulableError,
    NodeDiedError,
    ObjectLostError,
    RayActorError,
    RayTaskError,
    TaskUnschedulableError,
    WorkerCrashedError,
)

from engine.dispatch.workbench import Broken
from engine.ending import CampaignFailed
from engine.store.events import Event, Row, to_row

_T = TypeVar("_T")

LOST = (
    ActorUnschedulableError,
    NodeDiedError,
    ObjectLostError,
    RayActorError,
    TaskUnschedulableError,
    WorkerCrashedError,
)
"""What Ray raises where a process has ended, or its whole node."""


class StoreJournal:
    """An actor's way to the store: batches of events, one under way at a time, in order."""

    def __init__(self, writer: ActorHandle[Any]) -> None:
        self._writer = writer
        self._rows: list[Row] = []
        self._flush: asyncio.Task[None] | None = None
        self._next: asyncio.Future[None] | None = None

    def post(self, event: Event) -> None:
        self._rows.append(to_row(event))
        if self._flush is None or self._flush.done():
            self._flush = asyncio.get_running_loop().create_task(self._flush_all())

    async def commit(self, event: Event) -> None:
        self.post(event)
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._next)

    async def flush(self) -> None:
        """Return when everything posted so far is stored."""
        if self._flush is not None:
            await asyncio.shield(self._flush)

    async def _flush_all(self) -> None:
        while self._rows:
            rows, waiting = self._rows, self._next
            self._rows, self._next = [], None
            try:
                await self._writer.append.remote(rows)
            except (RayActorError, RayTaskError) as error:
                failure = CampaignFailed(f"the store can't be written: {root_cause(error)}")
                if waiting is not None:
                    waiting.set_exception(failure)
                raise failure from error
            if waiting is not None:
                waiting.set_result(None)


async def reply(call: Awaitable[_T]) -> _T:
    """Raises Broken for a lost process, and what was raised inside one as it was raised."""
    try:
        return await call
    except LOST as error:
        raise Broken("its process ended unexpectedly") from error
    except RayTaskError as error:
        raise root_cause(error) from error


def root_cause(error: BaseException) -> BaseException:
    """What was raised at the bottom, without the wrappings that Ray adds at each call."""
    while isinstance(error, RayTaskError):
        error = error.cause
    return error
