"""Epochs: the anchor that candidates are timed against, what follows it, and what comes back."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from engine.dispatch.devices.lane import Lane
from engine.dispatch.retries import Retries
from engine.dispatch.setting import DispatchSetting
from engine.dispatch.workbench import AnchorBroken, Blocks, Built, Exhausted, overruled
from engine.ending import CampaignFailed
from engine.store.events import EpochStarted, Evaluated
from engine.store.kinds.revisions import AnchorWithdrawn
from engine.store.scoreboard import Scoreboard
from evaluators.evaluation import Evaluation, Status, Verdict

_T = TypeVar("_T")

EPOCH_GAIN = 1.5
"""A kernel that is this much faster than the anchor becomes the next anchor."""

ANCHOR_FAILURES = 3
"""Failures of an anchor in a row, whatever was timed against it, before it is withdrawn."""


class Epochs:
    """anchor: as lanes take it; None before the first epoch. device_s: spent on links."""

    def __init__(self, setting: DispatchSetting, scores: Scoreboard, retries: Retries) -> None:
        self._setting, self._scores, self._retries = setting, scores, retries
        self._linking = False
        self._changing = asyncio.Lock()
        self._failures = 0  # of the present anchor, in a row
        self._sources: Mapping[str, str] = {}  # of the anchors of earlier sessions
        self._built: dict[str, Built] = {}  # anchors of this session, by kernel id
        self.anchor: Any = None
        self.device_s = 0.0

    async def begin(self, seed: Built) -> None:
        """A chain of anchors begins at the seed: at first, and with another toolchain."""
        event = EpochStarted(number=self._scores.epoch + 1, anchor_id=seed.kernel_id)
        await self._start(event, seed)

    async def go_on(self, seed: Built, sources: Mapping[str, str]) -> None:
        """With the anchor of a resumed campaign. sources: of all its anchors, by kernel id."""
        self._sources = sources
        self._built[seed.kernel_id] = seed
        await self._take_last()

    def outgrown(self) -> bool:
        """Whether the best shall become the anchor now; True asks for link(), and only once."""
        if self._linking or self._scores.best_over_anchor() < EPOCH_GAIN:
            return False
        self._linking = True
        return True

    async def link(self, built: Built, lane: Lane) -> None:
        """Time the new best against the anchor, enough to take its place; then let it."""
        began = time.monotonic()
        try:
            anchor, blocks = await self.beside_anchor(
                lane, built.kernel_id, lambda anchor, chosen: chosen.link(built, anchor)
            )
        except Exhausted:
            blocks = None  # noted; the anchor stays, until a kernel is faster still
        device_s = time.monotonic() - began
        self.device_s += device_s
        if blocks is not None:
            await self._follow(built, anchor, blocks, device_s)
        self._linking = False

    async def beside_anchor(
        self, first: Lane | None, kernel_id: str, work: Callable[[Any, Lane], Awaitable[_T]]
    ) -> tuple[Any, _T]:
        """Work with the anchor, and which one it was; see Retries.on_device. Raises Exhausted.

        Where the anchor fails it is done again, in the end with the one that is back.
        """
        while True:
            anchor = self.anchor
            try:
                beside = partial(work, anchor)
                return anchor, await self._retries.on_device(first, kernel_id, beside)
            except AnchorBroken as error:
                await self.failed(anchor, error)

    def served(self, anchor: Any, evaluation: Evaluation) -> None:
        """A kernel was timed against the anchor, which did not fail."""
        if anchor is self.anchor and evaluation.status in (Status.PASSED, Status.STOPPED_EARLY):
            self._failures = 0

    async def failed(self, anchor: Any, error: AnchorBroken) -> None:
        """The anchor failed; after a few in a row the one before it comes back.

        Raises CampaignFailed where there is none: it was the seed.
        """
        async with self._changing:
            if anchor is not self.anchor:
                return  # another one is there already
            self._failures += 1
            if self._failures >= ANCHOR_FAILURES:
                reason = f"it failed {self._failures} times in a row as the anchor: {error.reason}"
                await self._withdraw(error.status, reason)
                await self._take_last()

    async def _follow(self, built: Built, anchor: Any, blocks: Blocks, device_s: float) -> None:
        async with self._changing:
            if anchor is not self.anchor:
                return  # linked to one that was withdrawn meanwhile
            number = self._scores.epoch + 1
            event = EpochStarted(
                number=number, anchor_id=built.kernel_id, link=blocks, device_s=device_s
            )
            await self._start(event, built)

    async def _start(self, event: EpochStarted, built: Built) -> None:
        await self._setting.journal.commit(event)
        self._scores.apply(event)
        self._publish(built)

    def _publish(self, built: Built) -> None:
        self._built[built.kernel_id] = built
        self._failures = 0
        self.anchor = self._setting.publish(built, self._scores.links)

    async def _take_last(self) -> None:
        """Publish the last anchor that passes and compiles; those after it are withdrawn."""
        while True:
            anchor_id = self._scores.anchor_id
            verdict = self._scores.evaluations[anchor_id]
            if verdict.passed:
                made = await self._compiled(anchor_id)
                if isinstance(made, Built):
                    self._publish(made)
                    return
                verdict = made
            await self._withdraw(verdict.status, verdict.reason)

    async def _compiled(self, anchor_id: str) -> Built | Evaluation:
        if anchor_id in self._built:
            return self._built[anchor_id]
        try:
            return await self._retries.compile(self._sources[anchor_id])
        except Exhausted as error:
            reason = f"it could not be compiled again as the anchor: {error}"
            return self._withdrawn(anchor_id, Status.CRASHED, reason)

    async def _withdraw(self, status: Status, reason: str) -> None:
        """The anchor's verdict no longer counts, and the anchor before it is the anchor."""
        *before, anchor_id = self._scores.anchors
        if not before:
            raise CampaignFailed(
                "the naive seed, against which kernels are timed, passed before and fails now "
                f"({reason}): look at the devices with 'kernel-scientist doctor --device', then "
                "'kernel-scientist resume' goes on where this ended"
            )
        if self._scores.evaluations[anchor_id].passed:
            verdict = self._withdrawn(anchor_id, status, reason)
            number = self._scores.next_number(anchor_id)
            evaluated = Evaluated(evaluation=verdict, number=number)
            await self._setting.journal.commit(evaluated)
            self._scores.apply(evaluated)
            self._setting.revised(number, verdict)
        event = AnchorWithdrawn(
            epoch=self._scores.epoch, kernel_id=anchor_id, anchor_id=before[-1], reason=reason
        )
        await self._setting.journal.commit(event)
        self._scores.apply(event)

    def _withdrawn(self, anchor_id: str, status: Status, reason: str) -> Evaluation:
        verdict = Verdict(status=status, reason=reason)
        return overruled(self._scores.evaluations[anchor_id], verdict)
