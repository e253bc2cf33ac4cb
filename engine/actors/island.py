"""The actor of one island."""

import pickle
from collections.abc import Awaitable, Sequence
from functools import partial
from typing import Any

import numpy as np
from ray.actor import ActorHandle

from engine.actors.gateway import GatewayModel, GatewayProbes
from engine.actors.journal import StoreJournal, reply
from engine.actors.lifeline import Driver, live_with
from engine.config import CampaignConfig
from engine.credit.meter import Meter
from engine.ending import CampaignFailed
from engine.islands.island import Island
from engine.islands.operators import island_operators
from engine.islands.seats import Places
from engine.islands.setting import Setting
from engine.snapshot import IslandState
from engine.store.kinds.findings import Distilled
from engine.store.kinds.probes import Probed, ProbeWritten
from engine.store.kinds.profiles import Profiled
from engine.store.kinds.steering import Injected
from engine.store.replay import History
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation
from evaluators.kernel.seeds import on_backend
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from operators.catalog import random_candidate
from operators.catalog.search_space import Sweep, search_space
from operators.finding import Finding
from operators.individual import Candidate, Individual
from operators.operator import Context, Draft, Operators


class DispatcherPlaces:
    """An island's way to the evaluations that are left."""

    def __init__(self, dispatcher: ActorHandle[Any]) -> None:
        self._dispatcher = dispatcher

    async def hold(self) -> None:
        """Raises Stopped."""
        call: Awaitable[None] = self._dispatcher.hold.remote()
        await reply(call)

    def let_go(self) -> None:
        self._dispatcher.let_go.remote()


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
        unheard: Sequence[Individual],
        peers: list[ActorHandle[Any]],
        brought: Distilled | None = None,
    ) -> None:
        """history: the island's own, on a resumed campaign; unheard: what became of other islands'
        drafts that it had not been told of; peers: all islands in order; brought: what came along
        from other campaigns."""
        task = on_backend(load_task(self._config.task), self._config.backend)
        self._peers = peers
        model = self._model()
        meter = self._meter(model)
        setting = Setting(
            config=self._config,
            task=task,
            device=info,
            operators=self._operators(task, info, meter, brought.findings if brought else ()),
            meter=meter,
            random_candidate=partial(_random_candidate, self._config, self._index),
            journal=self._journal,
            evaluate=self._evaluate,
            evaluate_idle=self._evaluate_idle if self._config.tunes(self._index) else None,
            offer=self._offer,
            send=self._send,
            ideas=model if self._config.compares_ideas else None,
            share=self._share if self._config.shares_memory(self._index) else None,
            places=self._places(),
            probes=self._probes(),
            measure_probe=self._measure_probe,
            sweep=self._sweep(task),
        )
        self._island = Island(self._index, setting)
        self._island.restore(history)
        self._island.hear(unheard)
        if brought is not None:
            self._island.know(brought)
        await self._island.begin(baseline, evaluation)

    def _model(self) -> GatewayModel | None:
        """None where the island asks none."""
        mix = self._config.operators_of(self._index)
        if mix.kind != "llm" or self._gateway is None:
            return None
        return GatewayModel(self._gateway, mix.models)

    def _probes(self) -> GatewayProbes | None:
        """None where its designers ask for none."""
        if self._gateway is None or not self._config.asks_probes(self._index):
            return None
        return GatewayProbes(self._gateway)

    def _measure_probe(self, written: ProbeWritten) -> None:
        self._dispatcher.probe.remote(written)

    def _meter(self, model: GatewayModel | None) -> Meter | None:
        if model is None or self._config.llm is None:
            return None
        return Meter(model, self._config.llm, self._config.operators_of(self._index), self._index)

    def _operators(
        self,
        task: Task,
        info: DeviceInfo,
        model: Meter | None,
        brought: Sequence[Finding],
    ) -> Operators:
        return island_operators(self._config, self._index, task, info, model, brought)

    def _sweep(self, task: Task) -> Sweep | None:
        """In an order of the island's own; none beside a model, which always finds something."""
        if self._config.operators_of(self._index).kind == "llm":
            return None
        rng = np.random.default_rng((self._config.seed, self._index))
        techniques = self._config.operators_of(self._index).techniques
        return Sweep(search_space(task, techniques), rng)

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

    async def mutate(self) -> bool:
        """See Tuning.next()."""
        return await self._begun.tuning.next()

    async def inject(self, event: Injected, base: Individual | None) -> None:
        self._begun.injections.give(event, base)

    async def widen(self, devices: float, fed: float) -> None:
        self._begun.widen(devices, fed)

    async def pause(self, paused: bool) -> None:
        self._begun.pause.set(closed=paused)

    async def hear(self, individual: bytes) -> None:
        """individual: pickled."""
        self._begun.hear([pickle.loads(individual)])

    async def learn(self, profiled: Profiled) -> None:
        self._begun.learn(profiled)

    async def hear_answer(self, probed: Probed) -> None:
        self._begun.hear_answer(probed)

    async def know(self, distilled: Distilled) -> None:
        self._begun.know(distilled)

    async def revise(self, number: int, evaluation: Evaluation) -> None:
        self._begun.revise(number, evaluation)

    async def state(self) -> IslandState:
        return self._begun.state()

    async def _evaluate(
        self, kernel_id: str, candidate: Candidate, held: bool = False
    ) -> Evaluation:
        call: Awaitable[Evaluation] = self._dispatcher.evaluate.remote(kernel_id, candidate, held)
        return await reply(call)

    def _places(self) -> Places | None:
        """Only before calls that cost money is the dispatcher asked for a place."""
        asks = self._config.operators_of(self._index).kind == "llm"
        bounded = self._config.budgets.evaluations is not None
        return DispatcherPlaces(self._dispatcher) if asks and bounded else None

    def _offer(self) -> None:
        self._dispatcher.offer.remote(self._index)

    async def _evaluate_idle(
        self, kernel_id: str, candidate: Candidate, held: bool = False
    ) -> Evaluation:
        call: Awaitable[Evaluation] = self._dispatcher.evaluate.remote(
            kernel_id, candidate, held, True
        )
        return await reply(call)

    def _send(
        self, source: int, destination: int, round: int, elites: Sequence[Individual]
    ) -> None:
        self._peers[destination].receive.remote(source, round, elites)

    def _share(self, individual: Individual) -> None:
        partners = self._config.memory_partners(self._index)
        once = pickle.dumps(individual) if partners else b""  # and not by Ray for each of them
        for index in partners:
            self._peers[index].hear.remote(once)


async def _random_candidate(config: CampaignConfig, island: int, context: Context) -> Draft:
    techniques = config.operators_of(island).techniques
    return random_candidate(context.task, context.rng, context.device, techniques)
