"""Ray's actors and tasks on one thread of this process, for campaigns whose subject is not Ray.

A campaign's own processes take 10 s to start and end. What crosses from one to another is
pickled here too, and what is raised there comes wrapped as Ray wraps it. Starting, killing and
losing processes, GPUs, and all that a command shows are tested on Ray itself.
"""

import asyncio
import concurrent.futures
import inspect
import itertools
import os
import threading
import traceback
from collections import defaultdict
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import AbstractContextManager, contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest
import ray.cloudpickle as pickle
from ray.exceptions import GetTimeoutError, RayActorError, RayTaskError, WorkerCrashedError

from engine.actors.cluster import Site
from engine.actors.lifeline import Driver
from engine.config import CampaignConfig
from tests.engine.nodes_of_this import DRIVERS, LocalNodes

USERS = (
    "answers",
    "campaign_actors",
    "copies",
    "nodes.host_tasks",
    "nodes.watch",
    "nodes.node",
    "nodes.evaluator",
    "followers",
    "tracker",
    "cluster",
)
"""The modules of engine.actors that import ray."""

_known: dict[int, Any] = {}
_numbers = itertools.count()


def _number(one: Any) -> int:
    number = next(_numbers)
    _known[number] = one
    return number


def _of_number(number: int) -> Any:
    return _known[number]


def _copied(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # type: ignore[no-untyped-call]


class Ref:
    """What a call, or put(), stands for."""

    def __init__(self) -> None:
        self.future: Future[Any] = Future()
        self._number = _number(self)

    def __reduce__(self) -> tuple[Callable[[int], Any], tuple[int]]:
        return _of_number, (self._number,)

    def __await__(self) -> Generator[Any, None, Any]:
        return asyncio.wrap_future(self.future).__await__()

    def settle(self, call: Callable[[], Any]) -> None:
        try:
            self.answer(call())
        except Exception as error:  # noqa: BLE001 - any, as in Ray
            self.fail(error)

    def answer(self, value: Any) -> None:
        with suppress(InvalidStateError):  # it was lost meanwhile
            self.future.set_result(_copied(value))

    def fail(self, error: Exception) -> None:
        """As Ray does: with where it was raised, and without what can't leave a process."""
        said = "".join(traceback.format_exception(error))
        wrapped = RayTaskError("a call", said, _copied(error))  # type: ignore[no-untyped-call]
        with suppress(InvalidStateError):
            self.future.set_exception(wrapped)

    def lose(self) -> None:
        with suppress(InvalidStateError):
            self.future.set_exception(RayActorError())


class Actor:
    """Its calls, on the event loop of all. Methods that are no coroutines block it."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        kind: type[Any],
        arguments: tuple[Any, ...],
        at: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """at: inside, this process is the node that the actor is on."""
        self._number = _number(self)
        self._loop, self._at = loop, at
        self._waiting: set[Ref] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._dead = False
        self._made = Ref()
        copies = _copied(arguments)
        loop.call_soon_threadsafe(self._made.settle, lambda: self._make(kind, copies))

    def _make(self, kind: type[Any], arguments: tuple[Any, ...]) -> None:
        self._inner = kind(*arguments)

    def __reduce__(self) -> tuple[Callable[[int], Any], tuple[int]]:
        return _of_number, (self._number,)

    def __getattr__(self, method: str) -> Any:
        if method.startswith("_"):
            raise AttributeError(method)
        return SimpleNamespace(remote=lambda *arguments: self._call(method, arguments))

    def _call(self, method: str, arguments: tuple[Any, ...]) -> Ref:
        ref, copies = Ref(), _copied(arguments)
        self._waiting.add(ref)
        ref.future.add_done_callback(lambda _: self._waiting.discard(ref))
        self._loop.call_soon_threadsafe(self._begin, ref, method, copies)
        return ref

    def _begin(self, ref: Ref, method: str, arguments: tuple[Any, ...]) -> None:
        if self._dead or self._made.future.exception() is not None:
            ref.lose()
            return
        call = getattr(self._inner, method)
        if inspect.iscoroutinefunction(call):
            task = self._loop.create_task(self._answer(ref, call, arguments))
            self._tasks.add(task)  # asyncio itself keeps none alive
            task.add_done_callback(self._tasks.discard)
        else:
            with self._at():
                ref.settle(lambda: call(*arguments))

    async def _answer(
        self, ref: Ref, call: Callable[..., Awaitable[Any]], arguments: tuple[Any, ...]
    ) -> None:
        try:
            ref.answer(await call(*arguments))
        except Exception as error:  # noqa: BLE001 - any, as in Ray
            ref.fail(error)

    def kill(self) -> None:
        self._dead = True
        for task in list(self._tasks):
            self._loop.call_soon_threadsafe(task.cancel)
        for ref in list(self._waiting):
            ref.lose()


class Local:
    """Stands where the engine's modules have imported ray.

    One thread for all: Python 3.11's ast.parse() fails now and then where two use it.
    """

    ObjectRef = Ref

    def __init__(self, nodes: "LocalNodes | None" = None) -> None:
        self._nodes = nodes or LocalNodes()
        self._nodes.kill_actors = self._kill_on
        self._actors: list[Actor] = []
        self._places: dict[str, list[Actor]] = defaultdict(list)  # by node
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._thread.start()

    def _live(self) -> None:
        self._loop.run_forever()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.wait(left))
        self._loop.close()

    def remote(self, what: Any = None, **_: Any) -> Any:
        if what is None:
            return self.remote
        begin = self._start if inspect.isclass(what) else self._run

        def options(**given: Any) -> Any:
            node = getattr(given.get("scheduling_strategy"), "node_id", DRIVERS)
            return SimpleNamespace(remote=lambda *arguments: begin(what, arguments, node))

        return SimpleNamespace(options=options, remote=options().remote)

    def _run(self, function: Callable[..., Any], arguments: tuple[Any, ...], node: str) -> Ref:
        ref, copies = Ref(), _copied(arguments)
        if not self._nodes.alive(node):
            ref.future.set_exception(WorkerCrashedError())
            return ref

        def call() -> Any:
            cores = os.sched_getaffinity(0)
            try:
                with self._nodes.being(node):
                    return function(*copies)
            finally:
                os.sched_setaffinity(0, cores)  # a task may keep its process off some

        self._loop.call_soon_threadsafe(ref.settle, call)
        return ref

    def _start(self, kind: type[Any], arguments: tuple[Any, ...], node: str) -> Actor:
        actor = Actor(self._loop, kind, arguments, lambda: self._nodes.being(node))
        self._actors.append(actor)
        self._places[node].append(actor)
        if not self._nodes.alive(node):
            actor.kill()
        return actor

    def _kill_on(self, node: str) -> None:
        for actor in self._places.pop(node, ()):
            actor.kill()

    def nodes(self) -> list[dict[str, Any]]:
        return self._nodes.told()

    def put(self, value: Any) -> Ref:
        ref = Ref()
        ref.answer(value)
        return ref

    def get(self, refs: Any, timeout: float | None = None) -> Any:
        if isinstance(refs, Sequence):
            return [self.get(ref, timeout) for ref in refs]
        if threading.current_thread() is self._thread and not refs.future.done():
            raise RuntimeError("an actor that waits like this needs a process: use Ray")
        try:
            return refs.future.result(timeout)
        except concurrent.futures.TimeoutError as error:
            raise GetTimeoutError from error

    def wait(
        self, refs: Sequence[Ref], *, num_returns: int = 1, timeout: float | None = None
    ) -> tuple[list[Ref], list[Ref]]:
        assert num_returns in (1, len(refs))
        until = "ALL_COMPLETED" if num_returns == len(refs) else "FIRST_COMPLETED"
        concurrent.futures.wait([ref.future for ref in refs], timeout, until)
        done = [ref for ref in refs if ref.future.done()][:num_returns]
        return done, [ref for ref in refs if ref not in done]

    def kill(self, actor: Actor) -> None:
        actor.kill()

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(get_accelerator_ids=dict, get_node_id=lambda: self._nodes.here)

    def close(self) -> None:
        for actor in self._actors:
            actor.kill()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        _known.clear()


@contextmanager
def local_ray(nodes: LocalNodes | None = None) -> Iterator[None]:
    """Every campaign meanwhile runs in this process. nodes: of a cluster that it joins."""

    @contextmanager
    def session(config: CampaignConfig, site: Site) -> Iterator[Driver]:
        local = Local(nodes)
        with pytest.MonkeyPatch.context() as patch:
            for user in USERS:
                patch.setattr(f"engine.actors.{user}.ray", local)
            for follower in ("reporter", "tracker", "distiller"):  # this process stays where it is
                patch.setattr(f"engine.actors.{follower}.stand_aside", lambda *_: None)
            try:
                yield Driver.here()
            finally:
                local.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.session.ray_session", session)
        if nodes is not None:
            patch.setattr("engine.campaign.on_site", nodes.site)
        yield
