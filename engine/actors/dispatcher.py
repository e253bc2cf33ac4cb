"""The actor of the dispatcher, which brings the fleet's nodes along."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ray.actor import ActorHandle

from engine.actors.cluster import Site
from engine.actors.journal import StoreJournal, reply
from engine.actors.lifeline import Driver, live_with
from engine.actors.nodes.evaluator import publish
from engine.actors.nodes.host_tasks import HostTasks
from engine.actors.nodes.node_log import NodeLog
from engine.actors.nodes.watch import NodeWatch
from engine.config import CampaignConfig
from engine.dispatch.dispatcher import Dispatcher
from engine.dispatch.probing import limits_of_probes
from engine.dispatch.profiling import limits_of
from engine.dispatch.setting import CompileProbe, DispatchSetting, ProbeLimits, TuningLimits
from engine.dispatch.workbench import Workbench
from engine.ending import CampaignFailed
from engine.snapshot import DispatcherState
from engine.store.kinds.probes import Probed, ProbeLog, ProbeWritten
from engine.store.kinds.profiles import Profiled
from engine.store.scoreboard import Scoreboard
from engine.store.toolchain import toolchain_here
from evaluators.device import backend
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation
from evaluators.measuring.sittings import spread_of
from evaluators.tasks.baselines import baselines_on
from evaluators.tasks.task_file import load_task
from operators.individual import Candidate

WARM = 3
"""Processes for compile tasks that are started for each device while the seed is measured."""


class DispatcherActor:
    """The dispatcher with Ray's compile tasks and evaluator actors."""

    def __init__(
        self,
        config: CampaignConfig,
        workbench: Workbench,
        writer: ActorHandle[Any],
        driver: Driver,
    ) -> None:
        live_with(driver)
        self._config, self._workbench, self._driver = config, workbench, driver
        self._journal = StoreJournal(writer)
        self._nodes: NodeWatch | None = None
        self._foreseen = 1  # devices
        self._fed = 1.0  # see DispatchSetting
        self._dispatcher: Dispatcher | None = None
        self._scores = Scoreboard()
        self._islands: Sequence[ActorHandle[Any]] = ()

    async def open(self, site: Site, naive: Candidate, before: str) -> list[DeviceInfo]:
        """What the devices are, once they are open; those in quarantine are left out.

        before: see NodeWatch.open_cluster(). Raises CampaignFailed when none is left.
        """
        self._foreseen = max(1, len(site.plan.devices))
        watch = NodeWatch(self._config, self._workbench, self._driver, naive.source, self._fail)
        self._nodes = watch
        return await (watch.open_cluster(before) if site.cluster else watch.open_own(site.plan))

    def _fail(self, error: BaseException) -> None:
        if self._dispatcher is not None:
            self._dispatcher.fail(error)

    async def begin(
        self,
        info: DeviceInfo,
        session: int,
        baseline: Candidate,
        scores: Scoreboard,
        known: Mapping[str, Candidate],
        probes: ProbeLog,
    ) -> Evaluation:
        """See Dispatcher.begin()."""
        config, nodes = self._config, self._watched
        tasks = HostTasks(self._workbench, info, self._driver, nodes.to_compile)
        task = load_task(config.task)
        setting = DispatchSetting(
            task_hash=task.hash,
            device_class=info.device_class,
            toolchain=toolchain_here(info),
            session=session,
            compile=tasks.compile,
            fleet=nodes.fleet,
            watch=tasks.watch if backend(config.backend).private_process else None,
            publish=publish,
            journal=self._journal,
            budget=config.budgets.evaluations,
            patience_s=config.devices.patience_s,
            profiles=limits_of(config, self._tell) if info.timed else None,
            revised=self._tell_revised,
            spread=spread_of(config.backend),
            tuning=self._tuning(config),
            probes=await self._probes(config, info, tasks.compile_probe),
            timed=info.timed,
            baselines=baselines_on(task.baselines, config.backend),
            info=info,
            feed=self._feed,
            most_fed=config.islands.most_fed,
        )
        if not scores.evaluations:  # else the seed is measured already, and islands ask at once
            most = min(nodes.fleet.compile_workers, WARM * setting.devices)
            tasks.warm(baseline.source, most - 1)
        self._scores = scores
        nodes.tell = NodeLog(session, self._journal)
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
        self._watched.fleet.whenever_changed(self._widen)
        self._widen()
        for profiled in self._scores.profiles.values():
            self._tell(profiled)
        for number, evaluation in self._scores.revisions():
            self._tell_revised(number, evaluation)
        for probed in self._begun.answers:
            self._tell_answer(probed)

    def _feed(self, factor: float) -> None:
        self._fed = factor
        self._widen()

    def _widen(self) -> None:
        """Islands were made for as many devices as were foreseen."""
        devices = len(self._watched.fleet.lanes) / self._foreseen
        for island in self._islands:
            island.widen.remote(devices, self._fed)

    @property
    def _watched(self) -> NodeWatch:
        if self._nodes is None:
            raise CampaignFailed("the dispatcher was asked to begin before its devices were open")
        return self._nodes

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
        nodes = self._watched
        return replace(self._begun.state(), nodes=nodes.count, notes=nodes.notes)
