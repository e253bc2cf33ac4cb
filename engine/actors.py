"""Everything that Ray runs: the actors, the compile task, and their ways to each other."""

import asyncio
import os
from collections.abc import Awaitable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import ray
from ray.actor import ActorHandle
from ray.exceptions import RayActorError, RayTaskError, WorkerCrashedError

from engine.cluster import Layout
from engine.config import CampaignConfig
from engine.dispatcher import CampaignFailed, Dispatcher, DispatcherState, Plant
from engine.events import Event, Row, to_row
from engine.island import Island, IslandState, Setting
from engine.replay import History
from engine.scoreboard import Scoreboard
from engine.store import Store, StoreError, decode
from engine.watch import Driver, live_with
from engine.workbench import Bench, Blocks, Broken, Built, Measured, Workbench
from evaluators.device import DeviceInfo
from evaluators.evaluation import Evaluation
from evaluators.task import load_task
from evaluators.timing import Anchor
from operators.catalog import catalog_operators, random_candidate
from operators.individual import Candidate, Individual
from operators.operator import Context, Draft

_T = TypeVar("_T")

COMMIT_EVERY_S = 0.002
"""The store writer waits this long for more events to come before it commits."""

TRACKED_AT_ONCE = 500
"""Events that the tracker reads at a time."""

COMPILES_PER_PROCESS = 500
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

    async def snapshot(self, target: Path) -> None:
        self._store.snapshot(target)

    async def close(self) -> None:
        self._store.close()

    async def _commit_soon(self) -> None:
        await asyncio.sleep(COMMIT_EVERY_S)
        rows, self._rows, self._commit = self._rows, [], None
        self._store.append(rows)


class StoreJournal:
    """An actor's way to the store: batches of events, one under way at a time, in order."""

    def __init__(self, writer: ActorHandle[Any]) -> None:
        self._writer = writer
        self._rows: list[Row] = []
        self._flush: asyncio.Task[None] | None = None
        self._next: asyncio.Future[None] | None = None

    def post(self, event: Event) -> None:
        self._rows.append(to_row(event))
        if self._flush is None or self._flush.done():
            self._flush = asyncio.get_running_loop().create_task(self._flush_all())

    async def commit(self, event: Event) -> None:
        self.post(event)
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._next)

    async def flush(self) -> None:
        """Return when everything posted so far is stored."""
        if self._flush is not None:
            await asyncio.shield(self._flush)

    async def _flush_all(self) -> None:
        while self._rows:
            rows, waiting = self._rows, self._next
            self._rows, self._next = [], None
            try:
                await self._writer.append.remote(rows)
            except (RayActorError, RayTaskError) as error:
                failure = CampaignFailed(f"the store can't be written: {root_cause(error)}")
                if waiting is not None:
                    waiting.set_exception(failure)
                raise failure from error
            if waiting is not None:
                waiting.set_result(None)


class EvaluatorActor:
    """One device, opened once; measuring is all it does."""

    def __init__(self, workbench: Workbench, device: int, driver: Driver) -> None:
        live_with(driver)
        self._open = cache(lambda: workbench.open(device))
        self._anchor: tuple[str, Anchor] | None = None

    @property
    def _bench(self) -> Bench:
        """Opened at the first call, where a failure can be told."""
        return self._open()

    def info(self) -> DeviceInfo:
        return self._bench.info

    def measure(
        self, built: Built, anchor: "AnchorRef | None", best: dict[str, float], speedup: float
    ) -> Measured:
        known = self._fetch(anchor) if anchor else None
        return self._bench.measure(built, known, best, speedup)

    def link(self, built: Built, anchor: "AnchorRef") -> Blocks | None:
        return self._bench.link(built, self._fetch(anchor))

    def _fetch(self, anchor: "AnchorRef") -> Anchor:
        """Once an epoch, not once a call."""
        name, reference = anchor
        if self._anchor is None or self._anchor[0] != name:
            self._anchor = name, ray.get(reference[0])
        return self._anchor[1]


AnchorRef = tuple[str, "list[ray.ObjectRef[Anchor]]"]
"""The anchor's id, and where it is; in a list, so that Ray does not fetch it for every call."""


def compile_source(
    workbench: Workbench, info: DeviceInfo, source: str, driver: Driver, cores: frozenset[int]
) -> Built | Evaluation:
    """The compile task. cores: where it may run, so that it leaves measuring ones alone."""
    live_with(driver)
    if cores and os.sched_getaffinity(0) != cores:
        os.sched_setaffinity(0, cores)
    return workbench.compile(source, info)


class RayLane:
    """A device's evaluator as the dispatcher sees it; a dead one is replaced."""

    def __init__(self, workbench: Workbench, device: int, driver: Driver, gpus: int) -> None:
        self.name = f"device {device}"
        self._arguments = (workbench, 0 if gpus else device, driver)
        self._options = {"num_cpus": 0, "num_gpus": gpus}
        self._actor = self._start()

    def _start(self) -> Any:
        # Ray shows an actor with a GPU of its own that GPU only, as number 0.
        return ray.remote(EvaluatorActor).options(**self._options).remote(*self._arguments)

    async def info(self) -> DeviceInfo:
        info: DeviceInfo = await _answer(self._actor.info.remote())
        return info

    async def measure(self, built: Built, anchor: Any, best: Any, best_speedup: float) -> Measured:
        actor = self._actor
        return await self._guarded(actor, actor.measure.remote(built, anchor, best, best_speedup))

    async def link(self, built: Built, anchor: Any) -> Blocks | None:
        actor = self._actor
        return await self._guarded(actor, actor.link.remote(built, anchor))

    async def _guarded(self, actor: Any, call: Awaitable[_T]) -> _T:
        try:
            return await _answer(call)
        except Broken:
            if actor is self._actor and not await _alive(actor):
                self._actor = self._start()
            raise


async def _alive(actor: Any) -> bool:
    try:
        await actor.info.remote()
    except RayActorError:
        return False
    return True


async def _answer(call: Awaitable[_T]) -> _T:
    """Raises Broken for a lost process, and what was raised inside one as it was raised."""
    try:
        return await call
    except (RayActorError, WorkerCrashedError) as error:
        raise Broken("its process ended unexpectedly") from error
    except RayTaskError as error:
        raise root_cause(error) from error


def root_cause(error: BaseException) -> BaseException:
    """What was raised at the bottom, without the wrappings that Ray adds at each call."""
    while isinstance(error, RayTaskError):
        error = error.cause
    return error


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

    async def open(self) -> list[DeviceInfo]:
        """What the devices are, once all are open."""
        return list(await asyncio.gather(*(lane.info() for lane in self._lanes)))

    async def begin(
        self,
        config: CampaignConfig,
        info: DeviceInfo,
        session: int,
        layout: Layout,
        baseline: Candidate,
        scores: Scoreboard,
        anchor: Candidate | None,
    ) -> Evaluation:
        """See Dispatcher.begin()."""
        task: Any = ray.remote(num_cpus=1, max_retries=0, max_calls=COMPILES_PER_PROCESS)(
            compile_source
        )

        async def compile(source: str) -> Built | Evaluation:
            call = task.remote(self._workbench, info, source, self._driver, layout.compile_cores)
            return await _answer(call)

        plant = Plant(
            task_hash=load_task(config.task).hash,
            device_class=info.device_class,
            session=session,
            compile=compile,
            compile_workers=layout.compile_workers,
            lanes=self._lanes,
            publish=_publish,
            journal=self._journal,
            budget=config.budgets.evaluations,
        )
        self._dispatcher = Dispatcher(plant, scores)
        return await self._dispatcher.begin(baseline, anchor)

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


def _publish(built: Built, links: tuple[Blocks, ...]) -> AnchorRef:
    anchor = Anchor(
        kernel_id=built.kernel_id, kernel=built.kernel, compiled=built.compiled, links=links
    )
    return f"{len(links)}/{built.kernel_id}", [ray.put(anchor)]


class IslandActor:
    """One island."""

    def __init__(
        self,
        index: int,
        config: CampaignConfig,
        writer: ActorHandle[Any],
        dispatcher: ActorHandle[Any],
        driver: Driver,
    ) -> None:
        live_with(driver)
        self._index, self._config, self._dispatcher = index, config, dispatcher
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
            operators=catalog_operators(task, info),
            random_candidate=_random_candidate,
            journal=self._journal,
            evaluate=self._evaluate,
            send=self._send,
        )
        self._island = Island(self._index, setting)
        self._island.restore(history)
        await self._island.begin(baseline, evaluation)

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

    async def state(self) -> IslandState:
        return self._begun.state()

    async def _evaluate(self, kernel_id: str, candidate: Candidate) -> Evaluation:
        call: Awaitable[Evaluation] = self._dispatcher.evaluate.remote(kernel_id, candidate)
        return await _answer(call)

    def _send(
        self, source: int, destination: int, round: int, elites: Sequence[Individual]
    ) -> None:
        self._peers[destination].receive.remote(source, round, elites)


async def _random_candidate(context: Context) -> Draft:
    return random_candidate(context.task, context.device, context.rng)


class TrackerActor:
    """Follows the store and shows it to MLflow; nothing waits for it."""

    def __init__(self, driver: Driver) -> None:
        live_with(driver)
        self._tracker: Any = None
        self._writer: Any = None

    def open(self, uri: str, experiment: str, run_dir: Path, writer: ActorHandle[Any]) -> None:
        self._writer = writer
        # Imported here: MLflow takes seconds, and a campaign without tracking never needs it.
        tracking = import_module("engine.tracking")
        self._tracker = tracking.Tracker(uri=uri, experiment=experiment, run_dir=run_dir)

    def catch_up(self) -> None:
        while rows := ray.get(self._writer.read.remote(self._tracker.position, TRACKED_AT_ONCE)):
            self._tracker.record(list(decode(rows)))

    def finish(self) -> None:
        """With the run folder's files, which are complete by now."""
        self.catch_up()
        self._tracker.finish()
