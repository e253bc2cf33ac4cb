"""Epochs: the anchor that candidates are timed against, and the faster one that follows it."""

import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

from engine.events import EpochStarted
from engine.plant import Lane, Plant
from engine.scoreboard import Scoreboard
from engine.workbench import Built, Sick

_T = TypeVar("_T")

EPOCH_GAIN = 1.5
"""A kernel that is this much faster than the anchor becomes the next anchor."""


class Patiently(Protocol):
    """See Dispatcher._patiently."""

    async def __call__(self, where: str, work: Callable[[], Awaitable[_T]]) -> _T: ...


class Epochs:
    """anchor: as lanes take it; None before the first epoch. device_s: spent on links."""

    def __init__(self, plant: Plant, scores: Scoreboard, patiently: Patiently) -> None:
        self._plant, self._scores, self._patiently = plant, scores, patiently
        self._linking = False
        self.anchor: Any = None
        self.device_s = 0.0

    async def begin(self, seed: Built) -> None:
        await self._start(EpochStarted(number=0, anchor_id=seed.kernel_id), seed)

    def go_on(self, anchor: Built) -> None:
        """With the current anchor of a resumed campaign."""
        self.anchor = self._plant.publish(anchor, self._scores.links)

    def outgrown(self) -> bool:
        """Whether the best shall become the anchor now; True asks for link(), and only once."""
        best, anchor = self._scores.best, self._scores.speedup_of_anchor()
        if self._linking or best is None or best.speedup < EPOCH_GAIN * anchor:
            return False
        self._linking = True
        return True

    async def link(self, built: Built, lane: Lane) -> None:
        """Time the new best against the anchor, enough to take its place; then let it."""
        began = time.monotonic()
        try:
            blocks = await self._patiently(lane.name, lambda: lane.link(built, self.anchor))
        except Sick:
            blocks = None  # the next kernel that is faster still is linked elsewhere
        device_s = time.monotonic() - began
        self.device_s += device_s
        if blocks is not None:
            event = EpochStarted(
                number=self._scores.epoch + 1,
                anchor_id=built.kernel_id,
                link=blocks,
                device_s=device_s,
            )
            await self._start(event, built)
        self._linking = False

    async def _start(self, event: EpochStarted, built: Built) -> None:
        await self._plant.journal.commit(event)
        self._scores.apply(event)
        self.anchor = self._plant.publish(built, self._scores.links)
