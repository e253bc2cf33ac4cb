"""Measuring: each device takes compiled kernels, what was asked for first."""

import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

from engine.dispatch.devices.lane import Lane, Left
from engine.dispatch.epochs import Epochs
from engine.dispatch.idle import IdleTime, Occupancy
from engine.dispatch.job import Job, Jobs
from engine.dispatch.pace import Pace
from engine.dispatch.setting import CALLS_PER_LANE, DispatchSetting
from engine.dispatch.workbench import AnchorBroken, Broken, Built, Measured
from engine.store.scoreboard import Scoreboard


class Measuring:
    """A lane has CALLS_PER_LANE calls at a time, and mutations when it would have none."""

    def __init__(
        self,
        setting: DispatchSetting,
        scores: Scoreboard,
        jobs: Jobs,
        pace: Pace,
        occupancy: Occupancy,
        epochs: Epochs,
        work: Callable[[Coroutine[Any, Any, None]], Any],
        finish: Callable[[Job, Measured, Lane], Coroutine[Any, Any, None]],
        lost: Callable[[Job, str, Broken], Awaitable[None]],
    ) -> None:
        """work: runs a coroutine beside others; finish: a kernel has its verdict; lost: a device
        ended without one."""
        self._setting, self._scores, self._jobs, self._pace = setting, scores, jobs, pace
        self._occupancy, self._epochs = occupancy, epochs
        self._work, self._finish, self._lost = work, finish, lost

    def begin(self) -> None:
        """From now on lanes measure what is asked for."""
        self._setting.fleet.whenever_joined(self._begin_on)

    def begin_idle(self, idle: IdleTime) -> None:
        """From now on lanes that have nothing else measure mutations."""
        self._setting.fleet.whenever_joined(lambda lane: self._begin_idle_on(lane, idle))

    def _begin_on(self, lane: Lane) -> None:
        for _ in range(CALLS_PER_LANE):
            self._work(self._until_left(self._measure_asked(lane)))

    def _begin_idle_on(self, lane: Lane, idle: IdleTime) -> None:
        self._work(self._until_left(self._measure_idle(lane, idle)))

    async def _until_left(self, measuring: Coroutine[Any, Any, None]) -> None:
        with suppress(Left):
            await measuring

    async def _measure_asked(self, lane: Lane) -> None:
        while True:
            await lane.fit()
            job = await self._jobs.to_measure()
            await self._setting.pause.passed()
            if job.done.done() or job.built is None:
                continue
            if not lane.free:  # that came while this waited for work
                self._jobs.ready(job)
                continue
            await self._measure(job, job.built, lane)

    async def _measure_idle(self, lane: Lane, idle: IdleTime) -> None:
        while True:
            job = await idle.take(lane)
            if job.built is not None:
                await self._measure(job, job.built, lane)

    async def _measure(self, job: Job, built: Built, lane: Lane) -> None:
        anchor, bounds = self._epochs.anchor, self._scores.bounds()
        job.measuring = True
        try:
            with self._occupancy.on(lane):
                measured = await lane.measure(built, anchor, bounds)
        except Broken as error:
            job.measuring = False
            if isinstance(error, AnchorBroken):
                await self._epochs.failed(anchor, error)
            await self._lost(job, lane.name, error)
            return
        self._epochs.served(anchor, measured.evaluation)
        device_s = measured.evaluation.seconds.get("device", 0.0)
        self._pace.took("measure", device_s)
        if not job.idle:  # how long mutations wait is no delay
            self._pace.took("queue", max(0.0, time.monotonic() - job.built_at - device_s))
        self._work(self._finish(job, measured, lane))  # the device does not wait for the disk
