"""Probing: probes on devices beside the search, one at a time, for a share of devices' time."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

from engine.config import CampaignConfig
from engine.dispatch.devices.lane import Lane
from engine.dispatch.devices.patience import first_fit
from engine.dispatch.idle import Occupancy
from engine.dispatch.job import Jobs
from engine.dispatch.retries import ATTEMPTS, Faults
from engine.dispatch.setting import CompileProbe, DispatchSetting, ProbeLimits
from engine.dispatch.workbench import Blameless, Broken
from engine.store.kinds.probes import SHIPPED, Probed, ProbeLog
from evaluators.device_info import BackendMissing, DeviceInfo
from evaluators.evaluation import Rejected, Status
from evaluators.probes.kept import keep, kept
from evaluators.probes.probe import Answer, BuiltProbe, parse_probe
from evaluators.probes.shipped import shipped


async def limits_of_probes(
    config: CampaignConfig,
    info: DeviceInfo,
    compile: CompileProbe,
    tell: Callable[[Probed], None],
) -> ProbeLimits | None:
    """None where nobody would be told."""
    if not config.asks_models or not config.probes.most:
        return None
    return ProbeLimits(
        share=config.probes.share,
        compile=compile,
        shipped=await asyncio.to_thread(shipped, info),  # all of these read or write files
        kept=await asyncio.to_thread(_kept, info),
        keep=lambda answer: asyncio.to_thread(_keep, info, answer),
        tell=tell,
    )


def _kept(info: DeviceInfo) -> Mapping[str, Answer]:
    with suppress(BackendMissing):
        return kept(info)
    return {}


def _keep(info: DeviceInfo, answer: Answer) -> None:
    """Where nothing can be kept, the next campaign asks again."""
    with suppress(BackendMissing, OSError):
        keep(info, {answer.probe_id: answer})


class Probing:
    """Each probe is answered once. It is begun when no kernel that was asked for waits, or else
    within a share of the devices' time."""

    def __init__(
        self,
        setting: DispatchSetting,
        log: ProbeLog,
        jobs: Jobs,
        faults: Faults,
        occupancy: Occupancy,
        work: Callable[[Coroutine[Any, Any, None]], Any],
    ) -> None:
        """log: replayed from the store, or empty; work: runs a coroutine beside others."""
        self._setting, self.log = setting, log
        self._jobs, self._faults, self._occupancy, self._work = jobs, faults, occupancy, work
        self._waiting: deque[tuple[str, str]] = deque()  # who asks, and the text
        self._began = time.monotonic()
        self._at_work = self._over = False
        self._taken_s = 0.0  # by those that were begun while kernels waited
        self.device_s = 0.0

    async def begin(self) -> None:
        """What is known at once, then what is left of before, then what was not measured."""
        limits = self._setting.probes
        if limits is None:
            return
        self._began = time.monotonic()
        unknown = [one for one in limits.shipped if one.id not in self.log.answers]
        for probe in unknown:
            if probe.id in limits.kept:
                await self._store(SHIPPED, probe.text, limits.kept[probe.id], limits)
        for written in self.log.unanswered:
            self.ask(written.key, written.text)
        for probe in unknown:
            if probe.id not in limits.kept:
                self.ask(SHIPPED, probe.text)

    def ask(self, asked_by: str, text: str) -> None:
        """Without waiting; its answer is stored, and the islands are told. Those that designers
        asked for go before the shipped ones."""
        if self._setting.probes is None or self._over:
            return
        if asked_by == SHIPPED:
            self._waiting.append((asked_by, text))
        else:
            asked = sum(other != SHIPPED for other, _ in self._waiting)
            self._waiting.insert(asked, (asked_by, text))
        if not self._at_work:
            self._at_work = True
            self._work(self._answer_all(self._setting.probes))

    def stop(self) -> None:
        """Begin no more; what waits is left to a resumption."""
        self._over = True
        self._waiting.clear()
        self._occupancy.changed()

    async def ended(self) -> None:
        """Once it was stopped: wait until the one at work is stored."""
        while self._at_work:
            await self._occupancy.change()

    async def _answer_all(self, limits: ProbeLimits) -> None:
        try:
            while await self._due(limits) and self._waiting:
                asked_by, text = self._waiting.popleft()
                await self._answer(asked_by, text, limits)
        finally:
            self._at_work = False
            self._occupancy.changed()

    async def _due(self, limits: ProbeLimits) -> bool:
        """Wait until the next may begin. False: none will."""
        while not self._over and self._jobs.waiting():
            left = self._due_in_s(limits)
            if left <= 0:
                break
            with suppress(TimeoutError):
                await asyncio.wait_for(self._occupancy.change(), left)
        return not self._over

    def _due_in_s(self, limits: ProbeLimits) -> float:
        """Until they are within their share again."""
        share = limits.share * self._setting.devices
        return self._began + self._taken_s / share - time.monotonic()

    # --- one probe ------------------------------------------------------------------------------

    async def _answer(self, asked_by: str, text: str, limits: ProbeLimits) -> None:
        known = self._known(text, limits)
        if known is not None:
            await self._store(asked_by, text, known, limits)
            return
        waits = self._jobs.waiting()
        built = await self._compiled(text, limits)
        if isinstance(built, Answer):
            await self._store(asked_by, text, built, limits)
            return
        lane, answer, device_s = await self._measured(built)
        self.device_s += device_s
        self._taken_s += device_s * waits
        await self._store(asked_by, text, answer, limits, where=lane.name, device_s=device_s)

    def _known(self, text: str, limits: ProbeLimits) -> Answer | None:
        """Of the same file, asked for before here or by another campaign."""
        try:
            probe_id = parse_probe(text).id
        except Rejected:
            return None
        here = self.log.answers.get(probe_id)
        return here.answer if here is not None else limits.kept.get(probe_id)

    async def _compiled(self, text: str, limits: ProbeLimits) -> BuiltProbe | Answer:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await limits.compile(text)
            except Broken as error:
                self._faults.note("compile task", error, "")
                if attempt == ATTEMPTS:
                    return _crashed(text, f"{ATTEMPTS} compile tasks were lost: {error}")
        raise AssertionError("unreachable")

    async def _measured(self, built: BuiltProbe) -> tuple[Lane, Answer, float]:
        """The same attempts that kernels have. device_s: of all of them."""
        lost, device_s = 0, 0.0
        while True:
            lane = await self._lane()
            began = time.monotonic()
            try:
                with self._occupancy.on(lane):
                    answer = await lane.probe(built)
                return lane, answer, device_s + answer.seconds
            except Broken as error:
                self._faults.note(lane.name, error, built.probe.id)
                device_s += time.monotonic() - began
                lost += not isinstance(error, Blameless)
                if lost == ATTEMPTS:
                    reason = f"{ATTEMPTS} processes were lost over it, the last: {error}"
                    return lane, _crashed(built.probe.text, reason), device_s

    async def _lane(self) -> Lane:
        """One that has nothing to do, else any that is well."""
        free = [lane for lane in self._setting.lanes if lane.free]
        empty = [lane for lane in free if self._occupancy.empty(lane)]
        if empty or free:
            return (empty or free)[0]
        return await first_fit(self._setting.fleet, self._setting.patience_s)

    async def _store(
        self,
        asked_by: str,
        text: str,
        answer: Answer,
        limits: ProbeLimits,
        *,
        where: str = "",
        device_s: float = 0.0,
    ) -> None:
        """An answer is stored before anyone is told."""
        event = Probed(
            session=self._setting.session,
            asked_by=asked_by,
            source=text,
            answer=answer,
            where=where,
            device_s=device_s,
        )
        if event.key in self.log.answers:  # the same file, asked for twice
            return
        await self._setting.journal.commit(event)
        self.log.apply(event)
        limits.tell(event)
        if event.key not in limits.kept:
            await limits.keep(answer)


def _crashed(text: str, reason: str) -> Answer:
    return Answer.of_rejected(text, Rejected(Status.CRASHED, reason))
