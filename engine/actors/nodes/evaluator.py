"""What runs on devices and in compile processes: evaluator actors, the compile task, lanes."""

import os
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import ray
from ray.exceptions import RayActorError, RayTaskError

from engine.actors.journal import reply
from engine.actors.lifeline import Driver, live_with
from engine.actors.nodes.home import Home
from engine.dispatch.devices.quarantine import QuarantinedLane
from engine.dispatch.task_here import task_here
from engine.dispatch.workbench import (
    Blameless,
    Blocks,
    Broken,
    Built,
    Displaced,
    Measured,
    OpenEvaluator,
    Workbench,
    leads_untimed,
    linked,
    raising_broken,
    verified,
)
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Verdict
from evaluators.measuring.baselines import sit_beside
from evaluators.measuring.policy import Anchor, BaselineAnchor
from evaluators.measuring.sittings import Sitting, sit
from evaluators.probes.probe import Answer, BuiltProbe
from evaluators.profile.profiler import Profile, profile_source
from evaluators.sandbox.environment import showing

_T = TypeVar("_T")

PROFILE_DEADLINE_S = 120.0
"""For all runs of a profiler over one kernel; ncu takes seconds, rocprofv3 runs seven times."""


class EvaluatorActor:
    """One device, opened once; measuring is all it does.

    A GPU's context lives in a child of this process, which ends with it.
    """

    def __init__(self, workbench: Workbench, device: int, driver: Driver) -> None:
        live_with(driver)
        self._opening = partial(workbench.open, device)
        self._opening_afresh = partial(workbench.open_afresh, device)
        self._held = ExitStack()  # what is open stays so for as long as this process
        self._anchor: tuple[str, Anchor] | None = None

    @cached_property
    def _evaluator(self) -> OpenEvaluator:
        """Opened at the first call, where a failure can be told."""
        given = ray.get_runtime_context().get_accelerator_ids().get("GPU")
        if given:
            # Ray sets the variable of the vendor that it detects; this holds for every backend.
            os.environ.update(showing(given))
        return self._held.enter_context(self._opening())

    def info(self) -> DeviceInfo:
        with raising_broken():
            return self._evaluator.device.info

    def measure(self, built: Built, anchor: "AnchorRef | None", best: dict[str, float]) -> Measured:
        """anchor: None for the naive seed, which is looked at on held-out shapes too."""
        known = self._fetch(anchor) if anchor else None
        with raising_broken():
            made = self._evaluator.measure(built.kernel, built.compiled, known, best or None)
            if known is None or leads_untimed(made, best):
                return verified(self._evaluator, built, made)
            return Measured(evaluation=made)

    def sit(
        self, built: Built, rivals: "Sequence[AnchorRef | BaselineAnchor]", check: bool, turn: int
    ) -> Sitting:
        """In an evaluator of its own; this one, and the device, wait meanwhile.

        Its seconds are those for which they waited.
        """
        began = time.monotonic()
        beside = [one for one in rivals if isinstance(one, BaselineAnchor)]
        known = [ray.get(one[1][0]) for one in rivals if not isinstance(one, BaselineAnchor)]
        with raising_broken(), self._opening_afresh(turn) as evaluator:
            made = sit(evaluator, built.kernel, built.compiled, known, check=check)
            made = sit_beside(evaluator, built.kernel, built.compiled, beside, made)
        return replace(made, seconds=time.monotonic() - began)

    def link(self, built: Built, anchor: "AnchorRef") -> Blocks | None:
        known = self._fetch(anchor)
        with raising_broken():
            return linked(self._evaluator, built, known)

    def profile(self, built: Built, task: str) -> Profile:
        """In this actor's turn, so that nothing is measured on the device meanwhile."""
        return profile_source(
            built.kernel.text,
            task_here(task),
            built.compiled.backend,
            info=self.info(),
            deadline_s=PROFILE_DEADLINE_S,
        )

    def probe(self, built: BuiltProbe) -> Answer:
        with raising_broken():
            return self._evaluator.probe(built)

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


def compile_probe_file(
    workbench: Workbench, info: DeviceInfo, text: str, driver: Driver, cores: frozenset[int]
) -> BuiltProbe | Answer:
    """The compile task of probes. cores: see compile_source()."""
    live_with(driver)
    if cores and os.sched_getaffinity(0) != cores:
        os.sched_setaffinity(0, cores)
    return workbench.compile_probe(text, info)


def watch_kernel(
    workbench: Workbench,
    info: DeviceInfo,
    built: Built,
    turn: int,
    driver: Driver,
    cores: frozenset[int],
) -> Verdict:
    """The task that watches for races on the host. cores: see compile_source()."""
    live_with(driver)
    if cores and os.sched_getaffinity(0) != cores:
        os.sched_setaffinity(0, cores)
    return workbench.watch(built, info, turn)


@dataclass(slots=True, eq=False)
class _Process:
    """An evaluator's process. calls: those it was given and has not answered, in order; ended:
    by this lane, so that what it was given is not to blame."""

    actor: Any
    calls: list[object] = field(default_factory=list)
    ended: bool = False


class RayLane(QuarantinedLane):
    """A device's evaluator as the dispatcher sees it; a dead one is replaced. See lane.Lane."""

    def __init__(self, workbench: Workbench, device: int, driver: Driver, home: Home) -> None:
        super().__init__(home.name(device))
        gpus = home.plan.gpus
        self._home = home
        self._arguments = (workbench, 0 if gpus else device, driver)
        place = {"scheduling_strategy": home.node.strategy}
        self._options = {"num_cpus": 0, "num_gpus": gpus, **place}
        self._process = self._start()

    def _start(self) -> _Process:
        # Ray shows an actor with a GPU of its own that GPU only, as number 0.
        actor = ray.remote(EvaluatorActor).options(**self._options).remote(*self._arguments)
        return _Process(actor)

    async def look(self) -> DeviceInfo:
        return await self._ask(lambda actor: actor.info.remote())

    async def measure(self, built: Built, anchor: Any, best: Any) -> Measured:
        with self.watched():
            return await self._ask(lambda actor: actor.measure.remote(built, anchor, best))

    async def sit(self, built: Built, rivals: Sequence[Any], check: bool, turn: int) -> Sitting:
        with self.watched():
            return await self._ask(lambda actor: actor.sit.remote(built, rivals, check, turn))

    async def link(self, built: Built, anchor: Any) -> Blocks | None:
        with self.watched():
            return await self._ask(lambda actor: actor.link.remote(built, anchor))

    async def profile(self, built: Built, task: str) -> Profile:
        with self.profiling():
            return await self._ask(lambda actor: actor.profile.remote(built, task))

    async def probe(self, built: BuiltProbe) -> Answer:
        with self.watched():
            return await self._ask(lambda actor: actor.probe.remote(built))

    async def _ask(self, call: Callable[[Any], Awaitable[_T]]) -> _T:
        """Raises Displaced where the process ended before this call's turn, and Broken."""
        process, ticket = self._process, object()
        process.calls.append(ticket)
        try:
            answer = await reply(call(process.actor))
        except Blameless:
            process.ended = True
            self._replace(process)
            raise
        except Broken as error:
            told = await self._home.blame(error)
            if told is not error:
                raise told from error
            if await _alive(process.actor):
                process.calls.remove(ticket)
                raise
            displaced = process.ended or process.calls[0] is not ticket
            self._replace(process)
            if displaced:
                raise Displaced("its process ended before its turn came") from error
            raise
        process.calls.remove(ticket)
        return answer

    def leave(self) -> None:
        """Its GPU is free for others."""
        super().leave()
        ray.kill(self._process.actor)

    def _replace(self, process: _Process) -> None:
        """The device, or what it holds, is not to be trusted in this process any more."""
        if process is self._process:
            ray.kill(process.actor)
            self._process = self._start()


async def _alive(actor: Any) -> bool:
    try:
        await actor.info.remote()
    except RayActorError:
        return False
    except RayTaskError:
        return True  # it answered
    return True


def publish(built: Built, links: tuple[Blocks, ...]) -> AnchorRef:
    anchor = Anchor(
        kernel_id=built.kernel_id, kernel=built.kernel, compiled=built.compiled, links=links
    )
    return f"{len(links)}/{built.kernel_id}", [ray.put(anchor)]
