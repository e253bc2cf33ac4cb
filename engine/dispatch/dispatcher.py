"""The dispatcher: every kernel is compiled and measured once, and devices are kept fed."""

import asyncio
import time
from collections.abc import Mapping

from engine.dispatch.arena import Arena
from engine.dispatch.beginning import Beginning
from engine.dispatch.challenges import Challenges
from engine.dispatch.compiling import Compiling
from engine.dispatch.contests import Contests
from engine.dispatch.devices.lane import Lane
from engine.dispatch.devices.patience import wait_for_devices
from engine.dispatch.epochs import Epochs
from engine.dispatch.feeding import Feeding
from engine.dispatch.finals import Finals
from engine.dispatch.idle import IdleTime, Occupancy
from engine.dispatch.job import Job, Jobs, crashed
from engine.dispatch.measuring import Measuring
from engine.dispatch.pace import Pace
from engine.dispatch.places import Places
from engine.dispatch.probing import Probing
from engine.dispatch.profiling import Profiling
from engine.dispatch.retries import ATTEMPTS, Faults, Retries
from engine.dispatch.setting import DispatchSetting
from engine.dispatch.workbench import Blameless, Broken, Measured
from engine.dispatch.workers import Workers
from engine.ending import Stopped
from engine.snapshot import DispatcherState
from engine.store.events import Evaluated
from engine.store.kinds.probes import Probed, ProbeLog
from engine.store.scoreboard import Scoreboard
from evaluators.evaluation import Evaluation
from operators.individual import Candidate


class Dispatcher:
    """Asks come in at evaluate(); compile workers and lanes run from begin() until stop()."""

    def __init__(
        self, setting: DispatchSetting, scoreboard: Scoreboard, probes: ProbeLog | None = None
    ) -> None:
        """scoreboard, probes: empty, or replayed from the store."""
        self._setting = setting
        self._scores = scoreboard
        self._occupancy = Occupancy()
        self._jobs = Jobs(self._occupancy.changed)
        self._work = work = Workers(self.fail).begin
        self._idle = IdleTime(setting, scoreboard, self._jobs, self._occupancy, work)
        self.places = Places(
            setting.budget, lambda: self._jobs.count(idle=False) + scoreboard.asked
        )
        self._pace = Pace(lanes=setting.devices, most_workers=setting.compile_workers)
        self._compiling = Compiling(setting, self._jobs, self._pace, work, self._finish, self._lost)
        self._feeding = Feeding(setting, self._jobs, self._occupancy)
        self._faults = Faults(setting)
        retries = Retries(setting, self._faults, self._occupancy)
        self._epochs = Epochs(setting, scoreboard, retries)
        self._measuring = Measuring(
            setting,
            scoreboard,
            self._jobs,
            self._pace,
            self._occupancy,
            self._epochs,
            work,
            self._finish,
            self._lost,
        )
        self._arena = Arena(setting, scoreboard, retries)
        self._contests = Contests(setting, scoreboard, self._arena)
        self._finals = Finals(setting, scoreboard, self._arena, self._contests)
        self._beginning = Beginning(
            setting, scoreboard, retries, self._epochs, self._contests, self._arena, self._store
        )
        self._profiling = Profiling(setting, scoreboard, self._jobs, self._occupancy)
        self._probing = Probing(
            setting, probes or ProbeLog(), self._jobs, self._faults, self._occupancy, work
        )
        self._challenges = Challenges(self._contests, self._epochs, self._profiling, work)
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
        self._work(wait_for_devices(self._setting.fleet, self._setting.patience_s))
        self._measuring.begin()
        self._setting.fleet.whenever_changed(self._fit)
        self._fit()
        await self._probing.begin()
        return evaluation

    def _fit(self) -> None:
        """To the devices and cores that there are now."""
        setting = self._setting
        self._pace.fit(lanes=setting.devices, most_workers=setting.compile_workers)
        self._compiling.fit()
        self._compiling.keep_pace()
        self._feeding.begin_again()
        self._occupancy.changed()

    def tune(self) -> None:
        """From now on idle devices measure mutations: see DispatchSetting.tuning."""
        if self._setting.tuning is not None:
            self._work(self._idle.run(self._compiling.ahead))
            self._measuring.begin_idle(self._idle)

    def probe(self, asked_by: str, text: str) -> None:
        """See Probing.ask()."""
        self._probing.ask(asked_by, text)

    @property
    def answers(self) -> list[Probed]:
        """Of all probes so far."""
        return list(self._probing.log.answers.values())

    def offer(self, island: int) -> None:
        """See IdleTime."""
        self._idle.offer(island)

    async def evaluate(
        self, kernel_id: str, candidate: Candidate, held: bool = False, *, idle: bool = False
    ) -> Evaluation:
        """The kernel's evaluation: the stored one, the one under way, or a new one.

        held: the caller has a place for it. idle: nobody asks for it, it is for a device that has
        nothing else to do. Raises Stopped when nothing new is taken.
        """
        self._asked += not idle
        if idle:
            self._tune(kernel_id, candidate)
        else:
            await self._ask(kernel_id, candidate, held)
        job = self._jobs.get(kernel_id)
        return await asyncio.shield(job.done) if job else self._scores.first(kernel_id)

    async def _ask(self, kernel_id: str, candidate: Candidate, held: bool) -> None:
        if not held and not self._knows(kernel_id):
            await self.places.hold()
            held = True  # and meanwhile others may have asked for it
        if not self._knows(kernel_id):
            self.places.check()
            self._jobs.ask(kernel_id, candidate.source)
            self._compiling.keep_pace()
            self.places.fill()
        elif held:
            self.places.let_go()

    def _tune(self, kernel_id: str, candidate: Candidate) -> None:
        if kernel_id in self._scores.evaluations or self._jobs.get(kernel_id):
            return
        self.places.check()
        if not self._idle.affordable():
            raise Stopped
        self._jobs.add(kernel_id, candidate.source, idle=True)
        self._compiling.keep_pace()

    def _knows(self, kernel_id: str) -> bool:
        """Whether no place is needed for it: it was asked for, or has its verdict."""
        job = self._jobs.get(kernel_id)
        asked = job is not None and (job.judged or not job.idle)
        return asked or kernel_id in self._scores.evaluations

    def stop(self) -> None:
        """Take nothing more, and drop what no device has begun."""
        self._stopped = True
        self.places.end(Stopped())
        self._idle.stop()
        self._contests.stop()
        self._profiling.stop()
        self._probing.stop()
        for job in self._jobs:
            if not job.measuring:
                self._jobs.drop(job, Stopped())
        self.pause(paused=False)

    def pause(self, *, paused: bool) -> None:
        """Begin nothing on devices and with compilers until it is taken back, or stop()."""
        self._setting.pause.set(closed=paused and not self._stopped)
        self._feeding.begin_again()
        self._occupancy.changed()

    async def drain(self) -> None:
        """Wait until nothing is being measured, and no contest is under way."""
        await asyncio.gather(*(job.done for job in self._jobs), return_exceptions=True)
        await self._idle.ended()
        await self._probing.ended()
        await self._challenges.ended()

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
        jobs = list(self._jobs)
        measuring = sum(job.measuring for job in jobs)
        ready = sum(job.built is not None and not job.measuring for job in jobs)
        busy_s = {
            "candidates": self._device_s,
            "contests": self._arena.device_s,
            "links between anchors": self._epochs.device_s,
            "profiles": self._profiling.device_s,
            "probes": self._probing.device_s,
        }
        return DispatcherState(
            by_status=dict(self._scores.by_status),
            best=self._scores.best,
            epoch=self._scores.epoch,
            asked=self._asked,
            evaluated=self._evaluated,
            compiling=len(jobs) - measuring - ready,
            ready=ready,
            measuring=measuring,
            faults=self._faults.count,
            device_busy_s=sum(busy_s.values()),
            devices=len(self._setting.lanes),
            offered_s=self._setting.fleet.offered_s,
            busy_s=busy_s,
            idle_devices=sum(self._occupancy.empty(lane) for lane in self._setting.lanes),
            latencies_s=self._pace.latencies(),
            compile_workers=self._pace.workers,
            bound=self._pace.bound(waiting=self._jobs.waiting()),
            quarantined=sum(not lane.well for lane in self._setting.lanes),
            withdrawn=tuple(self._scores.withdrawn),
            contesting=self._challenges.count,
            demotions=tuple(self._scores.titles.demotions),
            wrong=tuple(self._scores.titles.wrong),
            tuned=self._scores.tuned,
            probed=len(self._probing.log.answers),
            idle=self._idle.reason(),
        )

    # --- verdicts ---------------------------------------------------------------------------

    async def _finish(self, job: Job, measured: Measured, lane: Lane | None = None) -> None:
        """lane: where it was measured."""
        job.judged = True
        await self._store(measured, tuning=job.idle)
        self._jobs.finish(job, measured.evaluation)
        self._feeding.judged()
        if lane is None or job.built is None or not measured.evaluation.passed:
            return
        self._arena.keep(job.built)
        if not self._stopped:
            self._challenges.consider(job.kernel_id, lane)

    async def _store(self, measured: Measured, number: int = 0, *, tuning: bool = False) -> None:
        """An evaluation is stored before anyone acts on it. number, tuning: see Evaluated."""
        event = Evaluated(
            evaluation=measured.evaluation,
            verified=measured.verified,
            number=number,
            tuning=tuning,
        )
        began = time.monotonic()
        await self._setting.journal.commit(event)
        self._pace.took("commit", time.monotonic() - began)
        self._scores.apply(event)
        self._evaluated += 1
        self._device_s += measured.evaluation.seconds.get("device", 0.0)

    # --- what goes wrong --------------------------------------------------------------------

    async def _lost(self, job: Job, where: str, error: Broken) -> None:
        """Queue the kernel again, or call it CRASHED when it was there every time."""
        self._faults.note(where, error, job.kernel_id)
        job.attempts += not isinstance(error, Blameless)
        if self._stopped:
            self._jobs.drop(job, Stopped())
        elif job.attempts < ATTEMPTS:
            (self._jobs.ready if job.built else self._jobs.queue)(job)
        else:
            verdict = crashed(
                job.kernel_id, self._setting, f"{ATTEMPTS} processes were lost", error
            )
            await self._finish(job, Measured(evaluation=verdict))

    def fail(self, error: BaseException) -> None:
        """A worker raised it: all who wait are told."""
        self._stopped = True
        self.places.end(error)
        for job in self._jobs:
            self._jobs.drop(job, error)
