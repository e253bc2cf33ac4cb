"""Questions being answered: a task each, which can be cut off, though not while it stores."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

_T = TypeVar("_T")


class OpenQuestions:
    """What the log says an island was told, it is told: cut() spares what is being stored.

    lasting questions go on where the others are cut off.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._lasting: set[asyncio.Task[Any]] = set()  # of these
        self._storing: set[asyncio.Task[Any] | None] = set()  # of these, who must hear the outcome

    async def answer(self, answering: Coroutine[Any, Any, _T], *, lasting: bool = False) -> _T:
        """In a task of its own. Raises CancelledError where that was cut off."""
        task = asyncio.create_task(answering)
        self._tasks.add(task)
        if lasting:
            self._lasting.add(task)
        try:
            return await task
        finally:
            self._tasks.discard(task)
            self._lasting.discard(task)

    @contextmanager
    def uncut(self) -> Iterator[None]:
        """Meanwhile the running task is not cut off."""
        task = asyncio.current_task()
        self._storing.add(task)
        try:
            yield
        finally:
            self._storing.discard(task)

    def cut(self, *, lasting: bool = False) -> None:
        """End all but those that store what they heard; lasting ones only where that is said."""
        for task in self._of(lasting=lasting) - self._storing:
            task.cancel()

    async def ended(self, *, lasting: bool = False) -> None:
        """Return when there are none; lasting ones are waited for only where that is said."""
        await asyncio.gather(*self._of(lasting=lasting), return_exceptions=True)

    def _of(self, *, lasting: bool) -> set[asyncio.Task[Any]]:
        return self._tasks if lasting else self._tasks - self._lasting


def cancelled_itself() -> bool:
    """Whether the running task is to end, not only what it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
