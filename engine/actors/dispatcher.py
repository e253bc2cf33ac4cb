"""What Ray runs on the driver's side: store writer, dispatcher, islands, the compile task."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import ray
from ray.actor import ActorHandle

from engine.actors.cluster import Layout
from engine.actors.evaluator import RayLane, compile_source, publish
from engine.actors.gateway import GatewayModel
from engine.actors.journal import StoreJournal, reply
from engine.actors.lifeline import Driver, live_with
from engine.config import CampaignConfig
from engine.dispatch.dispatcher import CampaignFailed, Dispatcher
from engine.dispatch.quarantine import QuarantinedLane
from engine.dispatch.setting import Plant
from engine.dispatch.workbench import Built, Workbench
from engine.islands.island import Island
from engine.islands.setting import Setting
from engine.snapshot import DispatcherState, IslandState
from engine.store.events import Row
from engine.store.profiles import Profiled, limits_of
from engine.store.replay import History
from engine.store.scoreboard import Scoreboard
from engine.store.store import Store, StoreError
from engine.store.toolchain import toolchain_here
from evaluators.device import DeviceInfo
from evaluators.evaluation import Evaluation
from evaluators.tasks.task import Task, load_task
from operators.catalog import catalog_operators, random_candidate
from operators.catalog.search_space import Sweep, search_space
from operators.individual import Candidate, Individual
from operators.llm.scientist import llm_operators
from operators.operator import Context, Draft, Operators

_T = TypeVar("_T")

COMMIT_EVERY_S = 0.002
"""The store writer waits this long for more events to come before it commits."""

COMPILES_PER_PROCESS = 5000
"""A compile process is replaced after so many, whatever a compiler may leak."""


class StoreWriter:
    """The only writer of the store; an append is answered after its commit."""

    def __init__(self, driver: Driver) -> None:
        live_with(driver)
        self._opened: Store | None = None
        self._rows: list[Row] = []
        self._commit: asyncio.Task[None] | None = None

    async def open(self, path: Path) -> None:
        """Raises StoreError."""
        self._opened = Store(path)

    @property
    def _store(self) -> Store:
        if self._opened is None:
            raise StoreError("the store is not open")
        return self._opened

    async def append(self, rows: list[Row]) -> None:
        self._rows += rows
        if self._commit is None:
            self._commit = asyncio.get_running_loop().create_task(self._commit_soon())
        await asyncio.shield(self._commit)

    async def read(self, after: int, limit: int) -> list[tuple[int, float, str, str]]:
        return self._store.read(after, limit)

    async def snapshot(self, target: Path) -> str:
        """Copy the store; what went wrong, in one sentence, or nothing."""
        try:
            self._store.snapshot(target)
        except (OSError, sqlite3.Error) as error:
            return f"the store can't be copied to {target}: {error}"
        return ""

    async def close(self) -> None:
        self._store.close()

    async def _commit_soon(self) -> None:
        await asyncio.sleep(COMMIT_EVERY_S)
        rows, self._rows, self._commit = self._rows, [], None
        self._store.append(rows)


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
        self._lanes = [
            QuarantinedLane(RayLane(workbench, device, driver, gpus)) for device in devices
        ]
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
    ) -> Evaluation:
        """See Dispatcher.begin()."""
        workbench, driver, cores = self._workbench, self._driver, layout.compile_cores

        # What all compile tasks share goes with the function, once, and not with each call.
        @ray.remote(num_cpus=1, max_retries=0, max_calls=COMPILES_PER_PROCESS)
        def compile_task(source: str) -> Built | Evaluation:
            return compile_source(workbench, info, source, driver, cores)

        async def compile(source: str) -> Built | Evaluation:
            return await reply(compile_task.remote(source))

        plant = Plant(
            task_hash=load_task(config.task).hash,
            device_class=info.device_class,
            toolchain=toolchain_here(info),
            session=session,
            compile=compile,
            compile_workers=layout.compile_workers,
            lanes=self._lanes,
            publish=publish,
            journal=self._journal,
            budget=config.budgets.evaluations,
            patience_s=config.devices.patience_s,
            profiles=limits_of(config, self._tell),
            revised=self._tell_revised,
        )
        self._scores = scores
        self._dispatcher = Dispatcher(plant, scores)
        return await self._dispatcher.begin(baseline, known)

    def _tell(self, profiled: Profiled) -> None:
        for island in self._islands:
            island.learn.remote(profiled)

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

    @property
    def _begun(self) -> Dispatcher:
        if self._dispatcher is None:
            raise CampaignFailed("the dispatcher was asked before it began")
        return self._dispatcher

    async def evaluate(self, kernel_id: str, candidate: Candidate) -> Evaluation:
        return await self._begun.evaluate(kernel_id, candidate)

    async def stop(self) -> None:
        self._begun.stop()

    async def drain(self) -> None:
        await self._begun.drain()
        await self._journal.flush()

    async def state(self) -> DispatcherState:
        return self._begun.state()


class IslandActor:
    """One island."""

    def __init__(
        self,
        index: int,
        config: CampaignConfig,
        writer: ActorHandle[Any],
        dispatcher: ActorHandle[Any],
        gateway: ActorHandle[Any] | None,
        driver: Driver,
    ) -> None:
        """gateway: None where no island asks a model."""
        live_with(driver)
        self._index, self._config, self._dispatcher = index, config, dispatcher
        self._gateway = gateway
        self._journal = StoreJournal(writer)
        self._peers: list[ActorHandle[Any]] = []
        self._island: Island | None = None

    async def begin(
        self,
        info: DeviceInfo,
        baseline: Candidate,
        evaluation: Evaluation,
        history: History,
        peers: list[ActorHandle[Any]],
    ) -> None:
        """history: the island's own, on a resumed campaign; peers: all islands in order."""
        task = load_task(self._config.task)
        self._peers = peers
        setting = Setting(
            config=self._config,
            task=task,
            device=info,
            operators=self._operators(task, info),
            random_candidate=_random_candidate,
            journal=self._journal,
            evaluate=self._evaluate,
            send=self._send,
            sweep=self._sweep(task),
        )
        self._island = Island(self._index, setting)
        self._island.restore(history)
        await self._island.begin(baseline, evaluation)

    def _operators(self, task: Task, info: DeviceInfo) -> Operators:
        classic = catalog_operators(task, info)
        mix = self._config.operators_of(self._index)
        if mix.kind != "llm" or self._config.llm is None or self._gateway is None:
            return classic
        return llm_operators(
            GatewayModel(self._gateway, mix.models),
            classic,
            novelty=self._config.llm.novelty,
            avenues=mix.avenues,
            experiments=mix.designs,
        )

    def _sweep(self, task: Task) -> Sweep | None:
        """In an order of the island's own; none beside a model, which always finds something."""
        if self._config.operators_of(self._index).kind == "llm":
            return None
        rng = np.random.default_rng((self._config.seed, self._index))
        return Sweep(search_space(task), rng)

    @property
    def _begun(self) -> Island:
        if self._island is None:
            raise CampaignFailed("an island was asked before it began")
        return self._island

    async def run(self) -> str:
        ending = await self._begun.run()
        await self._journal.flush()
        return ending

    async def receive(self, source: int, round: int, elites: Sequence[Individual]) -> None:
        self._begun.receive(source, round, elites)

    async def learn(self, profiled: Profiled) -> None:
        self._begun.learn(profiled)

    async def revise(self, number: int, evaluation: Evaluation) -> None:
        self._begun.revise(number, evaluation)

    async def state(self) -> IslandState:
        return self._begun.state()

    async def _evaluate(self, kernel_id: str, candidate: Candidate) -> Evaluation:
        call: Awaitable[Evaluation] = self._dispatcher.evaluate.remote(kernel_id, candidate)
        return await reply(call)

    def _send(
        self, source: int, destination: int, round: int, elites: Sequence[Individual]
    ) -> None:
        self._peers[destination].receive.remote(source, round, elites)


async def _random_candidate(context: Context) -> Draft:
    return random_candidate(context.task, context.rng)
