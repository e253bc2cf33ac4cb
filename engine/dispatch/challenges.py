"""Challenges: contests beside the search, and what follows where one leaves a new best."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from engine.dispatch.contests import Contests
from engine.dispatch.devices.lane import Lane
from engine.dispatch.epochs import Epochs
from engine.dispatch.profiling import Profiling


class Challenges:
    """A best is announced only after a contest; what follows is for new bests."""

    def __init__(
        self,
        contests: Contests,
        epochs: Epochs,
        profiling: Profiling,
        work: Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]],
    ) -> None:
        """work: runs a coroutine beside others."""
        self._contests, self._epochs, self._profiling = contests, epochs, profiling
        self._work = work
        self._under_way: set[asyncio.Task[Any]] = set()

    @property
    def count(self) -> int:
        """Under way, those that wait for their time among them."""
        return len(self._under_way)

    def consider(self, kernel_id: str, lane: Lane) -> None:
        """A kernel passed there: let it challenge the best, where that is worth it."""
        if self._contests.seems_faster(kernel_id):
            self._begin(self._challenge(kernel_id, lane))
        if self._contests.rematch_is_due():
            self._begin(self._contests.rematch())

    async def ended(self) -> None:
        """Return when none is under way."""
        while self._under_way:
            await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _challenge(self, kernel_id: str, lane: Lane) -> None:
        best = await self._contests.challenge(kernel_id)
        if best is None:
            return
        if self._epochs.outgrown():
            self._work(self._epochs.link(best, lane))
        self._work(self._profiling.look(best, lane))

    def _begin(self, contest: Coroutine[Any, Any, Any]) -> None:
        task = self._work(contest)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
