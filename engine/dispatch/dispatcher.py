"""The dispatcher: every kernel is compiled and measured once, and devices are kept fed."""

import asyncio
import time
from collections.abc import Coroutine, Mapping
from typing import Any

from engine.dispatch.arena import Arena
from engine.dispatch.beginning import Beginning
from engine.dispatch.contests import Contests
from engine.dispatch.epochs import Epochs
from engine.dispatch.faults import Faults
from engine.dispatch.finals import Finals
from engine.dispatch.job import Job, crashed
from engine.dispatch.pace import Pace
from engine.dispatch.patience import wait_for_devices
from engine.dispatch.places import Places
from engine.dispatch.profiling import Profiling
from engine.dispatch.retries import ATTEMPTS, Retries
from engine.dispatch.setting import DispatchSetting, Lane
from engine.dispatch.workbench import AnchorBroken, Blameless, Broken, Measured
from engine.ending import CampaignFailed, Stopped
from engine.snapshot import DispatcherState
from engine.store.events import Evaluated
from engine.store.scoreboard import Scoreboard
from evaluators.evaluation import Evaluation
from operators.individual import Candidate

__all__ = ["CampaignFailed", "Dispatcher"]

CALLS_PER_LANE = 2
"""One being measured, one waiting in the evaluator: a device never waits for a message."""


class Dispatcher:
    """Asks come in at evaluate(); compile workers and lanes run from begin() until stop()."""

    def __init__(self, setting: DispatchSetting, scoreboard: Scoreboard) -> None:
        """scoreboard: empty, or replayed from the store."""
        self._setting = setting
        self._scores = scoreboard
        self._jobs: dict[str, Job] = {}  # not yet evaluated, by kernel id
        self.places = Places(setting.budget, lambda: len(self._jobs) + scoreboard.by_status.total())
        self._queue: asyncio.PriorityQueue[Job] = asyncio.PriorityQueue()
        self._ready: asyncio.PriorityQueue[Job] = asyncio.PriorityQueue()
        # Compiles run ahead of the devices by this much, no more: compiled kernels take memory.
        ahead = (CALLS_PER_LANE + 2) * len(setting.lanes) + setting.compile_workers
        self._room = asyncio.Semaphore(ahead)
        self._workers: set[asyncio.Task[Any]] = set()
        self._pace = Pace(lanes=len(setting.lanes), most_workers=setting.compile_workers)
        self._compile_workers = 0
        self._faults = Faults(setting)
        retries = Retries(setting, self._faults.note)
        self._epochs = Epochs(setting, scoreboard, retries)
        self._arena = Arena(setting, scoreboard, retries)
        self._contests = Contests(setting, scoreboard, self._arena)
        self._finals = Finals(setting, scoreboard, self._arena, self._contests)
        self._beginning = Beginning(
            setting, scoreboard, retries, self._epochs, self._contests, self._arena, self._store
        )
        self._contesting: set[asyncio.Task[Any]] = set()
        self._profiling = Profiling(setting, scoreboard)
        self._stopped = False
        self._asked = 0
        self._evaluated = 0
        self._device_s = 0.0

    async def begin(
        self, baseline: Candidate, known: Mapping[str, Candidate] | None = None
    ) -> Evaluation:
        """Measure the naive seed where that is not done, set up the anchor, start to work.

        known: on a resumed campaign, what Scoreboard.wanted() names. Raises CampaignFailed when
        the seed does not pass, or no device can measure it.
        """
        evaluation = await self._beginning.begin(baseline, known or {})
        self._work(wait_for_devices(self._setting.lanes, self._setting.patience_s))
        for lane in self._setting.lanes:
            for _ in range(CALLS_PER_LANE):
                self._work(self._measure_all(lane))
        self._keep_pace()
        return evaluation

    async def evaluate(
        self, kernel_id: str, candidate: Candidate, held: bool = False
    ) -> Evaluation:
        """The kernel's evaluation: the stored one, the one under way, or a new one.

        held: the caller has a place for it. Raises Stopped when nothing new is taken.
        """
        self._asked += 1
        if not held and not self._knows(kernel_id):
            await self.places.hold()
            held = True  # and meanwhile others may have asked for it
        if not self._knows(kernel_id):
            self.places.check()
            self._jobs[kernel_id] = Job(self._asked, kernel_id, candidate.source)
            self._queue.put_nowait(self._jobs[kernel_id])
            self.places.fill()
        elif held:
            self.places.let_go()
        job = self._jobs.get(kernel_id)
        return await asyncio.shield(job.done) if job else self._scores.first(kernel_id)

    def _knows(self, kernel_id: str) -> bool:
        return kernel_id in self._scores.evaluations or kernel_id in self._jobs

    def stop(self) -> None:
        """Take nothing more, and drop what no device has begun."""
        self._stopped = True
        self.places.end(Stopped())
        self._contests.stop()
        self._profiling.stop()
        for job in list(self._jobs.values()):
            if not job.measuring:
                self._drop(job, Stopped())

    async def drain(self) -> None:
        """Wait until nothing is being measured, and no contest is under way."""
        await asyncio.gather(*(job.done for job in self._jobs.values()), return_exceptions=True)
        while self._contesting:
            await asyncio.gather(*self._contesting, return_exceptions=True)

    async def end(self) -> None:
        """The search is over: drain, and leave what still waits for its contest to finish()."""
        self.stop()
        await self.drain()

    async def decide(self) -> None:
        """Hold the contest of the fastest that still waits for one."""
        await self._contests.pending(0.0)

    async def finish(self, seconds: float) -> None:
        """Measure what was found once more, in sittings apart; nothing else is at work."""
        await self._finals.finish(self._scores.anchors[0], seconds)

    def state(self) -> DispatcherState:
        measuring = sum(job.measuring for job in self._jobs.values())
        ready = sum(job.built is not None and not job.measuring for job in self._jobs.values())
        return DispatcherState(
            by_status=dict(self._scores.by_status),
            best=self._scores.best,
            epoch=self._scores.epoch,
            asked=self._asked,
            evaluated=self._evaluated,
            compiling=len(self._jobs) - measuring - ready,
            ready=ready,
            measuring=measuring,
            faults=self._faults.count,
            device_busy_s=self._device_s
            + self._epochs.device_s
            + self._arena.device_s
            + self._profiling.device_s,
            latencies_s=self._pace.latencies(),
            compile_workers=self._pace.workers,
            bound=self._pace.bound(waiting=not self._queue.empty() or ready > 0),
            quarantined=sum(not lane.well for lane in self._setting.lanes),
            withdrawn=tuple(self._scores.withdrawn),
            contesting=len(self._contesting),
            demotions=tuple(self._scores.titles.demotions),
            wrong=tuple(self._scores.titles.wrong),
        )

    # --- work -------------------------------------------------------------------------------

    def _keep_pace(self) -> None:
        """As many compile workers as the measured rates ask for; one that is too many ends."""
        while self._compile_workers < self._pace.workers:
            self._compile_workers += 1
            self._work(self._compile_all())

    async def _compile_all(self) -> None:
        while self._compile_workers <= self._pace.workers:
            job = await self._queue.get()
            if not job.admitted:
                await self._room.acquire()
                job.admitted = True
                job.done.add_done_callback(lambda _: self._room.release())
            if job.done.done():
                continue
            began = time.monotonic()
            try:
                outcome = await self._setting.compile(job.source)
            except Broken as error:
                await self._lost(job, "compile task", error, self._queue)
                continue
            job.built_at = time.monotonic()
            self._pace.took("compile", job.built_at - began)
            self._keep_pace()
            if isinstance(outcome, Evaluation):
                await self._finish(job, Measured(evaluation=outcome))
            else:
                job.built = outcome
                self._ready.put_nowait(job)
        self._compile_workers -= 1

    async def _measure_all(self, lane: Lane) -> None:
        while True:
            await lane.fit()
            job = await self._ready.get()
            if job.done.done() or job.built is None:
                continue
            if not lane.free:  # that came while this waited for work
                self._ready.put_nowait(job)
                continue
            anchor, bounds = self._epochs.anchor, self._scores.bounds()
            job.measuring = True
            try:
                measured = await lane.measure(job.built, anchor, bounds)
            except Broken as error:
                job.measuring = False
                if isinstance(error, AnchorBroken):
                    await self._epochs.failed(anchor, error)
                await self._lost(job, lane.name, error, self._ready)
                continue
            self._epochs.served(anchor, measured.evaluation)
            device_s = measured.evaluation.seconds.get("device", 0.0)
            self._pace.took("measure", device_s)
            self._pace.took("queue", max(0.0, time.monotonic() - job.built_at - device_s))
            self._work(self._finish(job, measured, lane))  # the device does not wait for the disk

    async def _finish(self, job: Job, measured: Measured, lane: Lane | None = None) -> None:
        """lane: where it was measured."""
        await self._store(measured)
        self._jobs.pop(job.kernel_id, None)
        if not job.done.done():
            job.done.set_result(measured.evaluation)
        if lane is None or job.built is None or not measured.evaluation.passed:
            return
        self._arena.keep(job.built)
        if self._contests.seems_faster(job.kernel_id) and not self._stopped:
            self._contest(self._challenge(job.kernel_id, lane))
        if self._contests.rematch_is_due() and not self._stopped:
            self._contest(self._contests.rematch())

    async def _challenge(self, kernel_id: str, lane: Lane) -> None:
        """A best is announced only after a contest; what follows is for new bests."""
        best = await self._contests.challenge(kernel_id)
        if best is not None and self._epochs.outgrown():
            self._work(self._epochs.link(best, lane))
        if best is not None:
            self._work(self._profiling.look(best, lane))

    def _contest(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        task = self._work(coroutine)
        self._contesting.add(task)
        task.add_done_callback(self._contesting.discard)

    async def _store(self, measured: Measured, number: int = 0) -> None:
        """An evaluation is stored before anyone acts on it. number: see Evaluated."""
        event = Evaluated(evaluation=measured.evaluation, verified=measured.verified, number=number)
        began = time.monotonic()
        await self._setting.journal.commit(event)
        self._pace.took("commit", time.monotonic() - began)
        self._scores.apply(event)
        self._evaluated += 1
        self._device_s += measured.evaluation.seconds.get("device", 0.0)

    # --- what goes wrong --------------------------------------------------------------------

    async def _lost(
        self, job: Job, where: str, error: Broken, again: "asyncio.PriorityQueue[Job]"
    ) -> None:
        """Queue the kernel again, or call it CRASHED when it was there every time."""
        self._faults.note(where, error, job.kernel_id)
        job.attempts += not isinstance(error, Blameless)
        if self._stopped:
            self._drop(job, Stopped())
        elif job.attempts < ATTEMPTS:
            again.put_nowait(job)
        else:
            verdict = crashed(
                job.kernel_id, self._setting, f"{ATTEMPTS} processes were lost", error
            )
            await self._finish(job, Measured(evaluation=verdict))

    def _drop(self, job: Job, error: BaseException) -> None:
        self._jobs.pop(job.kernel_id, None)
        if not job.done.done():
            job.done.set_exception(error)

    def _work(self, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._workers.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        """A worker that raised takes the campaign with it, so that nothing waits for ever."""
        self._workers.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Broken):
            error = CampaignFailed(
                f"the campaign can't go on: {error}; 'kernel-scientist resume' goes on where it was"
            )
        if error is not None:
            self._stopped = True
            self.places.end(error)
            for job in list(self._jobs.values()):
                self._drop(job, error)
