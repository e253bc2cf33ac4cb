"""Idle device time: which devices have nothing to do, and what they do while models think."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from itertools import cycle
from typing import Any

from engine.dispatch.devices.lane import Lane
from engine.dispatch.job import Job, Jobs
from engine.dispatch.setting import CALLS_PER_LANE, DispatchSetting
from engine.store.scoreboard import Scoreboard


class Occupancy:
    """Calls that lanes were given and have not answered, of all kinds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._calls: Counter[str] = Counter()  # by the lane's name
        self._clock = clock
        self._empty_since: dict[str, float] = {}  # by the lane's name
        self.idle_s = 0.0
        """Of all lanes together, between one call and the next; whoever looks sets it back."""
        self._changed = asyncio.Event()

    @contextmanager
    def on(self, lane: Lane) -> Iterator[None]:
        """Meanwhile the lane has one call more."""
        self._calls[lane.name] += 1
        if (since := self._empty_since.pop(lane.name, None)) is not None:
            self.idle_s += self._clock() - since
        try:
            yield
        finally:
            self._calls[lane.name] -= 1
            if self.empty(lane):
                self._empty_since[lane.name] = self._clock()
            self.changed()

    def interrupted(self) -> None:
        """No call was to be expected: until now nothing was idle."""
        self._empty_since.clear()

    def empty(self, lane: Lane) -> bool:
        """Whether the lane may be given work, and has none."""
        return lane.free and not self._calls[lane.name]

    def changed(self) -> None:
        """Let all who wait look again."""
        self._changed.set()
        self._changed.clear()

    async def change(self) -> None:
        """Wait until something changed."""
        await self._changed.wait()


class IdleTime:
    """Islands know their kernels' untried neighbours; this says when the next may come.

    A mutation is given to a device that has nothing else, one at a time, so that what is asked for
    meanwhile waits for no more than the end of a single measurement.
    """

    def __init__(
        self,
        setting: DispatchSetting,
        scores: Scoreboard,
        jobs: Jobs,
        occupancy: Occupancy,
        work: Callable[[Coroutine[Any, Any, None]], Any],
    ) -> None:
        """work: runs a coroutine beside others, and takes care of what it raises."""
        self._setting, self._scores, self._jobs = setting, scores, jobs
        self._occupancy, self._work = occupancy, work
        self._limits = setting.tuning
        self._islands = cycle(self._limits.islands if self._limits else ())
        self._barren: set[int] = set()  # islands that had nothing to try
        self._offers: Counter[int] = Counter()  # by island
        self._under_way = 0
        self._over = False

    async def run(self, compile_ahead: Callable[[], int]) -> None:
        """Ask islands for mutations until stop(). compile_ahead: how many compile tasks may be
        busy with them."""
        while not self._over:
            while self._wanted(compile_ahead()):
                island = next(one for one in self._islands if one not in self._barren)
                self._under_way += 1
                self._work(self._mutate(island))
            await self._occupancy.change()

    def affordable(self) -> bool:
        """Whether one more may be evaluated."""
        done = self._scores.tuned + self._jobs.count(idle=True)
        return self._limits is not None and done < self._limits.budget

    async def take(self, lane: Lane) -> Job:
        """A compiled mutation, once the lane has nothing else to do."""
        while True:
            await lane.fit()
            may_begin = self._occupancy.empty(lane) and not self._setting.pause.closed
            job = self._jobs.spare() if may_begin else None
            if job is not None:
                return job
            await self._occupancy.change()

    def offer(self, island: int) -> None:
        """An island that had nothing to try may have something now."""
        self._offers[island] += 1
        self._barren.discard(island)
        self._occupancy.changed()

    def stop(self) -> None:
        """Ask for no more."""
        self._over = True
        self._occupancy.changed()

    async def ended(self) -> None:
        """Once it was stopped: wait until islands were told of what was measured."""
        while self._under_way:
            await self._occupancy.change()

    def reason(self) -> str:
        """Why devices are idle, in a clause; empty where they are not, or models are not waited
        for."""
        limits = self._limits
        if limits is None or self._over or self._under_way or any(self._jobs):
            return ""
        if not limits.budget:
            return "waiting for models (budgets.tuning is 0)"
        if self._scores.tuned >= limits.budget:
            return f"waiting for models, budgets.tuning ({limits.budget}) is spent"
        if len(self._barren) < len(limits.islands):
            return ""
        return "waiting for models, no kernel declares a space with untried points"

    def _wanted(self, compile_ahead: int) -> bool:
        limits = self._limits
        compiled = sum(job.idle and job.built is not None for job in self._jobs)
        return (
            limits is not None
            and not self._over
            and not self._setting.pause.closed
            and len(self._barren) < len(limits.islands)
            and compiled < CALLS_PER_LANE * self._setting.devices
            and self._under_way - compiled < compile_ahead
            and self._scores.tuned + self._under_way < limits.budget
            and not self._jobs.waiting()
        )

    async def _mutate(self, island: int) -> None:
        assert self._limits is not None
        offers = self._offers[island]
        try:
            found = await self._limits.mutate(island)
            if not found and offers == self._offers[island]:  # no offer crossed the answer
                self._barren.add(island)
        finally:
            self._under_way -= 1
            self._occupancy.changed()
