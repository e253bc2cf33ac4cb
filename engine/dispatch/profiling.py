"""Profiling: new bests under a vendor's profiler, one at a time, for a share of devices' time."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from engine.config import CampaignConfig
from engine.dispatch.devices.lane import Lane
from engine.dispatch.idle import Occupancy
from engine.dispatch.job import Jobs
from engine.dispatch.setting import DispatchSetting, ProfileLimits
from engine.dispatch.workbench import Broken, Built
from engine.store.kinds.profiles import Profiled
from engine.store.scoreboard import Scoreboard
from evaluators.profile.profiler import TOOLS, Profile


def limits_of(config: CampaignConfig, tell: Callable[[Profiled], None]) -> ProfileLimits | None:
    """None where nothing is profiled: it is off, or there is no profiler for the backend."""
    limits = config.profiles
    if config.backend not in TOOLS or not limits.most:
        return None
    return ProfileLimits(task=config.task, most=limits.most, share=limits.share, tell=tell)


FAILURES = 3
"""Profiles that came to nothing, in one session, before no more are tried."""

LULL_S = 20.0
"""How long a profile waits at most until no kernel that was asked for waits for a device."""


class Profiling:
    """Told of each new best; the latest is looked at when its turn comes, those between never."""

    def __init__(
        self, setting: DispatchSetting, scores: Scoreboard, jobs: Jobs, occupancy: Occupancy
    ) -> None:
        """scores: whose profiles count as made."""
        self._setting, self._scores = setting, scores
        self._jobs, self._occupancy = jobs, occupancy
        self._began = time.monotonic()
        self._next: tuple[Built, Lane] | None = None
        self._looking = False
        self._failures = 0
        self._over = False
        self.device_s = 0.0

    async def look(self, built: Built, lane: Lane) -> None:
        """Profile it there, or what becomes the best before its turn; never raises Broken."""
        limits, best = self._setting.profiles, self._scores.best
        if limits is None or not self._wanted(limits):
            return
        if best is None or best.kernel_id != built.kernel_id:
            return  # another one, on the device beside it, was faster still
        self._next = built, lane
        if self._looking:
            return
        self._looking = True
        while self._next is not None and self._wanted(limits):
            await asyncio.sleep(self._due_in_s(limits))
            await self._lull()
            await self._setting.pause.passed()
            (built, lane), self._next = self._next, None
            if not self._over and lane.well and built.kernel_id not in self._scores.profiles:
                await self._profile(built, lane, limits)
        self._looking = False

    def stop(self) -> None:
        """Begin no more."""
        self._over = True

    def _wanted(self, limits: ProfileLimits) -> bool:
        return not self._over and len(self._scores.profiles) < limits.most

    def _due_in_s(self, limits: ProfileLimits) -> float:
        """The first at once; a further one when the time spent is within its share again."""
        elapsed_s = time.monotonic() - self._began
        earned_s = elapsed_s * limits.share * self._setting.devices
        return max(0.0, self.device_s - earned_s) / (limits.share * self._setting.devices)

    async def _lull(self) -> None:
        until = time.monotonic() + LULL_S
        while self._jobs.waiting() and not self._over and time.monotonic() < until:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._occupancy.change(), until - time.monotonic())

    async def _profile(self, built: Built, lane: Lane, limits: ProfileLimits) -> None:
        began = time.monotonic()
        try:
            found = await lane.profile(built, limits.task)
        except Broken as error:
            found = Profile(reason=str(error), seconds=time.monotonic() - began)
        event = Profiled(
            session=self._setting.session,
            kernel_id=built.kernel_id,
            where=lane.name,
            advice=found.advice,
            reason=found.reason,
            device_s=found.seconds,
        )
        self.device_s += found.seconds
        self._failures += not found.advice
        # An absent tool is noted once, by this event, and not asked for again.
        self._over = self._over or found.hopeless or self._failures >= FAILURES
        await self._setting.journal.commit(event)
        self._scores.apply(event)
        if event.advice:
            limits.tell(event)
