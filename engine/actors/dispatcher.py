"""What Ray runs on the driver's side: store writer, dispatcher, islands, the compile task."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import ray
from ray.actor import ActorHandle

from engine.actors.cluster import Layout
from engine.actors.evaluator import (
    RayLane,
    compile_probe_file,
    compile_source,
    publish,
    watch_kernel,
)
from engine.actors.journal import StoreJournal, reply
from engine.actors.lifeline import Driver, live_with
from engine.config import CampaignConfig
from engine.dispatch.dispatcher import Dispatcher
from engine.dispatch.probing import limits_of_probes
from engine.dispatch.profiling import limits_of
from engine.dispatch.setting import CompileProbe, DispatchSetting, ProbeLimits, TuningLimits
from engine.dispatch.workbench import Built, Workbench
from engine.ending import CampaignFailed
from engine.snapshot import DispatcherState
from engine.store.kinds.probes import Probed, ProbeLog, ProbeWritten
from engine.store.kinds.profiles import Profiled
from engine.store.scoreboard import Scoreboard
from engine.store.toolchain import toolchain_here
from evaluators.device import backend
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Verdict
from evaluators.measuring.sittings import spread_of
from evaluators.probes.probe import Answer, BuiltProbe
from evaluators.tasks.baselines import baselines_on
from evaluators.tasks.task_file import load_task
from operators.individual import Candidate

_T = TypeVar("_T")


COMPILES_PER_PROCESS = 5000
"""A compile process is replaced after so many, whatever a compiler may leak."""


class DispatcherActor:
    """The dispatcher with Ray's compile tasks and evaluator actors."""

    def __init__(
        self,
        workbench: Workbench,
        writer: ActorHandle[Any],
        driver: Driver,
        devices: Sequence[int],
        gpus: int,
    ) -> None:
        """gpus: Ray's GPUs that each device needs: 1, or 0 on cpu."""
        live_with(driver)
        self._workbench, self._driver = workbench, driver
        self._journal = StoreJournal(writer)
        self._lanes = [RayLane(workbench, device, driver, gpus) for device in devices]
        self._dispatcher: Dispatcher | None = None
        self._scores = Scoreboard()
        self._islands: Sequence[ActorHandle[Any]] = ()

    async def open(self) -> list[DeviceInfo]:
        """What the devices are, once all are open; those in quarantine are left out.

        Raises CampaignFailed when none is left.
        """
        found = await asyncio.gather(*(lane.info() for lane in self._lanes))
        infos = [info for info in found if info is not None]
        if not infos:
            raise CampaignFailed(
                "no device computes a known answer; 'kernel-scientist doctor --device' says more"
            )
        return infos

    async def begin(
        self,
        config: CampaignConfig,
        info: DeviceInfo,
        session: int,
        layout: Layout,
        baseline: Candidate,
        scores: Scoreboard,
        known: Mapping[str, Candidate],
        probes: ProbeLog,
    ) -> Evaluation:
        """See Dispatcher.begin()."""
        workbench, driver, cores = self._workbench, self._driver, layout.compile_cores

        # What all compile tasks share goes with the function, once, and not with each call.
        @ray.remote(num_cpus=1, max_retries=0, max_calls=COMPILES_PER_PROCESS)
        def compile_task(source: str) -> Built | Evaluation:
            return compile_source(workbench, info, source, driver, cores)

        async def compile(source: str) -> Built | Evaluation:
            return await reply(compile_task.remote(source))

        # The host watches for races in turns with compiling, so that no device waits for it.
        @ray.remote(num_cpus=1, max_retries=0, max_calls=1)
        def watch_task(built: Built, turn: int) -> Verdict:
            return watch_kernel(workbench, info, built, turn, driver, cores)

        @ray.remote(num_cpus=1, max_retries=0, max_calls=COMPILES_PER_PROCESS)
        def probe_task(text: str) -> BuiltProbe | Answer:
            return compile_probe_file(workbench, info, text, driver, cores)

        async def compile_probe(text: str) -> BuiltProbe | Answer:
            return await reply(probe_task.remote(text))

        async def watch(built: Built, turn: int) -> Verdict:
            return await reply(watch_task.remote(built, turn))

        task = load_task(config.task)
        setting = DispatchSetting(
            task_hash=task.hash,
            device_class=info.device_class,
            toolchain=toolchain_here(info),
            session=session,
            compile=compile,
            compile_workers=layout.compile_workers,
            watch=watch if backend(config.backend).private_process else None,
            lanes=self._lanes,
            publish=publish,
            journal=self._journal,
            budget=config.budgets.evaluations,
            patience_s=config.devices.patience_s,
            profiles=limits_of(config, self._tell) if info.timed else None,
            revised=self._tell_revised,
            spread=spread_of(config.backend),
            tuning=self._tuning(config),
            probes=await self._probes(config, info, compile_probe),
            timed=info.timed,
            baselines=baselines_on(task.baselines, config.backend),
            info=info,
        )
        self._scores = scores
        self._dispatcher = Dispatcher(setting, scores, probes)
        return await self._dispatcher.begin(baseline, known)

    async def _probes(
        self, config: CampaignConfig, info: DeviceInfo, compile: CompileProbe
    ) -> ProbeLimits | None:
        """None where nobody would be told, and where nothing is timed."""
        if not info.timed:
            return None
        return await limits_of_probes(config, info, compile, self._tell_answer)

    def _tuning(self, config: CampaignConfig) -> TuningLimits | None:
        """None where no island waits for models."""
        if not config.asks_models:
            return None
        islands = [index for index in range(config.islands.count) if config.tunes(index)]
        return TuningLimits(budget=config.budgets.tuning, islands=islands, mutate=self._mutate)

    async def _mutate(self, island: int) -> bool:
        return bool(await reply(self._islands[island].mutate.remote()))

    def _tell(self, profiled: Profiled) -> None:
        for island in self._islands:
            island.learn.remote(profiled)

    def _tell_answer(self, probed: Probed) -> None:
        for island in self._islands:
            island.hear_answer.remote(probed)

    def _tell_revised(self, number: int, evaluation: Evaluation) -> None:
        for island in self._islands:
            island.revise.remote(number, evaluation)

    async def meet(self, islands: Sequence[ActorHandle[Any]]) -> None:
        """The islands, once they have begun: what was stored before they may have missed."""
        self._islands = islands
        for profiled in self._scores.profiles.values():
            self._tell(profiled)
        for number, evaluation in self._scores.revisions():
            self._tell_revised(number, evaluation)
        for probed in self._begun.answers:
            self._tell_answer(probed)

    @property
    def _begun(self) -> Dispatcher:
        if self._dispatcher is None:
            raise CampaignFailed("the dispatcher was asked before it began")
        return self._dispatcher

    async def tune(self) -> None:
        """The islands run: see Dispatcher.tune()."""
        self._begun.tune()

    async def probe(self, written: ProbeWritten) -> None:
        self._begun.probe(written.key, written.text)

    async def offer(self, island: int) -> None:
        self._begun.offer(island)

    async def evaluate(
        self, kernel_id: str, candidate: Candidate, held: bool = False, idle: bool = False
    ) -> Evaluation:
        return await self._begun.evaluate(kernel_id, candidate, held, idle=idle)

    async def hold(self) -> None:
        """A place among the evaluations that are left. Raises Stopped."""
        await self._begun.places.hold()

    async def let_go(self) -> None:
        self._begun.places.let_go()

    async def pause(self, paused: bool) -> None:
        self._begun.pause(paused=paused)

    async def stop(self) -> None:
        self._begun.stop()

    async def end(self) -> None:
        await self._begun.end()
        await self._journal.flush()

    async def finish(self, seconds: float) -> None:
        """seconds: 0 for the contest that is left, and no final measurement."""
        await (self._begun.finish(seconds) if seconds else self._begun.decide())
        await self._journal.flush()

    async def state(self) -> DispatcherState:
        return self._begun.state()
