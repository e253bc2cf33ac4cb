"""Questions being answered: a task each, which can be cut off, though not while it stores."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

_T = TypeVar("_T")


class OpenQuestions:
    """What the log says an island was told, it is told: cut() spares what is being stored."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._storing: set[asyncio.Task[Any] | None] = set()  # of these, who must hear the outcome

    async def answer(self, answering: Coroutine[Any, Any, _T]) -> _T:
        """In a task of its own. Raises CancelledError where that was cut off."""
        task = asyncio.create_task(answering)
        self._tasks.add(task)
        try:
            return await task
        finally:
            self._tasks.discard(task)

    @contextmanager
    def uncut(self) -> Iterator[None]:
        """Meanwhile the running task is not cut off."""
        task = asyncio.current_task()
        self._storing.add(task)
        try:
            yield
        finally:
            self._storing.discard(task)

    def cut(self) -> None:
        """End all but those that store what they heard."""
        for task in self._tasks - self._storing:
            task.cancel()

    async def ended(self) -> None:
        """Return when there are none."""
        await asyncio.gather(*self._tasks, return_exceptions=True)


def cancelled_itself() -> bool:
    """Whether the running task is to end, not only what it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
