"""Places: the evaluations that a budget still has, held for candidates before they are paid for."""

import asyncio
from collections.abc import Callable

from engine.ending import Stopped


class Places:
    """Each place becomes an evaluation, or is let go and handed to who has waited longest."""

    def __init__(self, budget: int | None, taken: Callable[[], int]) -> None:
        """budget: None: no bound. taken: evaluations made and under way, which come for sure."""
        self._budget, self._taken = budget, taken
        self._held = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._over: BaseException | None = None

    async def hold(self) -> None:
        """Return with a place. Raises Stopped where none will come, and what end() was told."""
        self.check()
        if self._budget is None or self._taken() + self._held < self._budget:
            self._held += 1
            return
        if self._full:
            raise Stopped
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        await turn

    def let_go(self) -> None:
        """What the place was held for came to nothing."""
        while self._waiting:
            turn = self._waiting.pop(0)
            if not turn.done():  # who waited may have been cancelled
                turn.set_result(None)
                return
        self._held -= 1

    def fill(self) -> None:
        """What the place was held for is among the taken ones now."""
        self._held -= 1
        if self._full:
            self._turn_away(Stopped())

    def end(self, error: BaseException) -> None:
        """There are no places any more. A failure tells more than that the campaign stopped."""
        if self._over is None or isinstance(self._over, Stopped):
            self._over = error
        self._turn_away(error)

    def check(self) -> None:
        """Raises what end() was told."""
        if self._over is not None:
            raise self._over

    @property
    def _full(self) -> bool:
        return self._budget is not None and self._taken() >= self._budget

    def _turn_away(self, error: BaseException) -> None:
        for turn in self._waiting:
            if not turn.done():
                turn.set_exception(error)
        self._waiting.clear()
