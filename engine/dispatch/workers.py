"""Workers: coroutines beside others, none of which fails unheard."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from engine.dispatch.workbench import Broken
from engine.ending import CampaignFailed


class Workers:
    """What one of them raises takes the campaign with it, so that nothing waits for ever."""

    def __init__(self, failed: Callable[[BaseException], None]) -> None:
        """failed: told what a worker raised."""
        self._failed = failed
        self._tasks: set[asyncio.Task[Any]] = set()

    def begin(self, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """One more."""
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Broken):
            error = CampaignFailed(
                f"the campaign can't go on: {error}; 'kernel-scientist resume' goes on where it was"
            )
        if error is not None:
            self._failed(error)
