"""Compile workers: they take kernels as they were asked for, ahead of the devices, but not far."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from engine.dispatch.job import Job, Jobs
from engine.dispatch.pace import Pace
from engine.dispatch.setting import CALLS_PER_LANE, DispatchSetting
from engine.dispatch.workbench import Broken, Measured
from evaluators.evaluation import Evaluation


class Compiling:
    """As many workers as the measured rates ask for, and one more for each mutation."""

    def __init__(
        self,
        setting: DispatchSetting,
        jobs: Jobs,
        pace: Pace,
        work: Callable[[Coroutine[Any, Any, None]], Any],
        finish: Callable[[Job, Measured], Awaitable[None]],
        lost: Callable[[Job, str, Broken], Awaitable[None]],
    ) -> None:
        """work: runs a coroutine beside others; finish: what does not compile has its verdict;
        lost: a compile task ended without one."""
        self._setting, self._jobs, self._pace = setting, jobs, pace
        self._work, self._finish, self._lost = work, finish, lost
        # Compiles run ahead of the devices by this much, no more: compiled kernels take memory.
        self._ahead = self._most_ahead()
        self._room = asyncio.Semaphore(self._ahead)
        self._workers = 0

    def fit(self) -> None:
        """Devices or cores joined or left. What was compiled ahead stays."""
        for _ in range(self._ahead, self._most_ahead()):
            self._room.release()
        self._ahead = max(self._ahead, self._most_ahead())

    def _most_ahead(self) -> int:
        return (CALLS_PER_LANE + 2) * self._setting.devices + self._setting.compile_workers

    def keep_pace(self) -> None:
        """As many workers as there shall be; one that is too many ends."""
        while self._workers < self._wanted():
            self._workers += 1
            self._work(self._compile_all())

    def ahead(self) -> int:
        """Mutations that may be in compile tasks: a worker is left for what is asked for."""
        return max(1, min(self._setting.compile_workers - 1, self._pace.workers))

    def _wanted(self) -> int:
        mutations = sum(job.idle and job.built is None for job in self._jobs)
        return min(self._setting.compile_workers, self._pace.workers + mutations)

    async def _compile_all(self) -> None:
        while self._workers <= self._wanted():
            job = await self._jobs.to_compile()
            await self._setting.pause.passed()
            if not job.admitted and not job.idle:
                await self._room.acquire()
                job.admitted = True
                job.done.add_done_callback(lambda _: self._room.release())
            if not job.done.done():
                await self._compile(job)
        self._workers -= 1

    async def _compile(self, job: Job) -> None:
        began = time.monotonic()
        try:
            outcome = await self._setting.compile(job.source)
        except Broken as error:
            await self._lost(job, "compile task", error)
            return
        job.built_at = time.monotonic()
        self._pace.took("compile", job.built_at - began)
        self.keep_pace()
        if isinstance(outcome, Evaluation):
            await self._finish(job, Measured(evaluation=outcome))
        else:
            job.built = outcome
            self._jobs.ready(job)
