"""Tests of profiling: new bests only, once each, within bounds, and never at a verdict's cost."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from engine.config import parse_config
from engine.dispatch.dispatcher import Dispatcher
from engine.dispatch.profiling import FAILURES, limits_of
from engine.dispatch.setting import ProfileLimits
from engine.dispatch.workbench import Broken, Built
from engine.store.events import Evaluated, Fault, from_row, to_row
from engine.store.kinds.contests import Contested
from engine.store.kinds.profiles import Profiled
from engine.store.scoreboard import Scoreboard
from evaluators.device_info import DeviceInfo
from evaluators.profile.profiler import Profile
from evaluators.profile.tables import KernelProfile
from scripts.bench_engine import INFO
from tests.engine.dispatch.test_dispatcher import (
    DEVICE_S,
    SEED,
    MemoryJournal,
    ScriptedLane,
    compile_at_once,
    dispatcher,
    kernel,
)
from tests.engine.dispatch.watched_lane import WatchedLane

KERNEL = KernelProfile(kernel="gemm", launches=3, time_us=10.0, memory=80.0, compute=30.0)
SEEN = Profile(kernels=(KERNEL,), seconds=0.001)
ADVICE = SEEN.advice
RISING = {kernel(number)[0]: 1.0 + number / 100 for number in range(1, 30)}


class ProfiledLane(ScriptedLane):
    """A device with a profiler that answers as it is told."""

    def __init__(self, speedups: Mapping[str, float], found: Profile | Broken = SEEN) -> None:
        super().__init__(speedups)
        self.found = found
        self.profiled: list[str] = []
        self.watching: asyncio.Event | None = None  # set: a profiler that is at work may end
        self.beside: list[int] = []  # kernels measured by the time that a profile begins and ends

    async def info(self) -> DeviceInfo:
        return INFO

    async def profile(self, built: Built, task: str) -> Profile:
        assert task == "sgemm"
        self.profiled.append(built.kernel_id)
        self.beside.append(len(self.measured))
        await asyncio.sleep(0)
        if self.watching is not None:
            await self.watching.wait()
        self.beside.append(len(self.measured))
        if isinstance(self.found, Broken):
            raise self.found
        return self.found


class World:
    """A dispatcher over one such device, its log, and what islands were told."""

    def __init__(
        self,
        lane: ProfiledLane,
        *,
        most: int = 12,
        share: float = 1.0,
        scores: Scoreboard | None = None,
        wrap: Callable[[ProfiledLane], Any] = lambda lane: lane,
    ) -> None:
        self.lane, self.journal = lane, MemoryJournal()
        self.told: list[Profiled] = []
        self.busy: Dispatcher = dispatcher(
            wrap(lane),
            self.journal,
            compile=compile_at_once,
            scores=scores,
            profiles=ProfileLimits(task="sgemm", most=most, share=share, tell=self.told.append),
        )

    async def evaluate(self, *numbers: int) -> None:
        """One after another, each with time enough for its profile."""
        for number in numbers:
            assert (await self.busy.evaluate(*kernel(number))).passed
            await self.busy.drain()  # of contests
            for _ in range(4):
                await asyncio.sleep(0.002)

    @property
    def stored(self) -> list[Profiled]:
        return self.journal.of(Profiled)


def test_a_new_best_is_profiled_once_and_told() -> None:
    async def scenario() -> None:
        world = World(ProfiledLane({kernel(1)[0]: 2.0, kernel(2)[0]: 1.5, kernel(3)[0]: 3.0}))
        await world.busy.begin(SEED)
        await world.evaluate(1, 2, 1, 3)
        first, second = kernel(1)[0], kernel(3)[0]
        assert world.lane.profiled == [first, second]  # not the seed, not the slower one
        assert [(one.kernel_id, one.advice, one.reason) for one in world.stored] == [
            (first, ADVICE, ""),
            (second, ADVICE, ""),
        ]
        assert world.told == world.stored
        events = world.journal.events
        evaluated = [e for e in world.journal.of(Evaluated) if e.evaluation.kernel_id == first]
        assert events.index(evaluated[0]) < events.index(world.stored[0])
        assert world.busy.state().device_busy_s >= 4 * DEVICE_S + 0.002

    asyncio.run(scenario())


def test_what_an_earlier_session_profiled_counts() -> None:
    async def scenario() -> None:
        scores = Scoreboard()
        for number in (1, 2):
            scores.apply(
                Profiled(session=0, kernel_id=kernel(number)[0], where="device 0", advice=ADVICE)
            )
        scores.apply(Profiled(session=0, kernel_id="x", where="device 0", reason="no tool"))
        world = World(ProfiledLane(RISING), scores=scores, most=3)
        await world.busy.begin(SEED)
        await world.evaluate(2, 5, 8)
        assert world.lane.profiled == [kernel(5)[0]]

    asyncio.run(scenario())


def test_an_absent_tool_is_noted_once() -> None:
    async def scenario() -> None:
        absent = Profile(reason="ncu is not on PATH, so there is no profile", hopeless=True)
        world = World(ProfiledLane(RISING, absent))
        await world.busy.begin(SEED)
        await world.evaluate(*range(1, 6))
        (note,) = world.stored
        assert (note.reason, note.advice) == (absent.reason, ())
        assert world.lane.profiled == [kernel(1)[0]] and world.told == []
        assert world.journal.of(Fault) == []

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "found", [Broken("its process ended unexpectedly"), Profile(reason="ncu was ended")]
)
def test_a_profiler_that_fails_costs_no_verdict(found: Profile | Broken) -> None:
    async def scenario() -> None:
        world = World(ProfiledLane(RISING, found))
        await world.busy.begin(SEED)
        await world.evaluate(*range(1, 8))
        reason = found.reason if isinstance(found, Profile) else str(found)
        assert [one.reason for one in world.stored] == [reason] * FAILURES
        assert len(world.lane.profiled) == FAILURES
        assert len(world.journal.of(Evaluated)) == 8 and world.journal.of(Fault) == []

    asyncio.run(scenario())


def test_profiles_keep_to_their_share_of_the_time() -> None:
    async def scenario() -> None:
        world = World(ProfiledLane(RISING, Profile(kernels=(KERNEL,), seconds=60.0)), share=0.5)
        await world.busy.begin(SEED)
        await world.evaluate(*range(1, 6))
        assert world.lane.profiled == [kernel(1)[0]]  # the next one is due in two minutes

    asyncio.run(scenario())


def test_the_latest_best_is_next() -> None:
    async def scenario() -> None:
        world = World(ProfiledLane(RISING))
        world.lane.watching = asyncio.Event()
        await world.busy.begin(SEED)
        await world.evaluate(1, 2, 3, 4)
        assert world.lane.profiled == [kernel(1)[0]]
        world.lane.watching.set()
        await world.evaluate(4)
        assert world.lane.profiled == [kernel(1)[0], kernel(4)[0]]

    asyncio.run(scenario())


def test_kernels_that_were_asked_for_go_first() -> None:
    async def scenario() -> None:
        world = World(ProfiledLane({kernel(1)[0]: 2.0}))
        await world.busy.begin(SEED)
        asks = [asyncio.ensure_future(world.busy.evaluate(*kernel(n))) for n in range(1, 20)]
        await asyncio.gather(*asks)
        while not world.lane.profiled:
            await asyncio.sleep(0)
        assert world.lane.profiled == [kernel(1)[0]]
        assert world.lane.beside[0] >= 18  # the last two may be at work

    asyncio.run(scenario())


def test_a_win_that_was_overtaken_is_not_profiled() -> None:
    async def scenario() -> None:
        world = World(ProfiledLane(RISING))
        await world.busy.begin(SEED)
        world.lane.gate = asyncio.Event()
        asks = [asyncio.ensure_future(world.busy.evaluate(*kernel(n))) for n in (5, 1)]
        while world.busy.state().measuring < 2:
            await asyncio.sleep(0)
        world.lane.gate.set()  # both were faster than what was the best when they began
        await asyncio.gather(*asks)
        while not world.lane.profiled:
            await asyncio.sleep(0)
        assert [one.kernel_id for one in world.journal.of(Contested)] == [kernel(5)[0]]
        assert world.lane.profiled == [kernel(5)[0]]

    asyncio.run(scenario())


async def being_profiled() -> tuple[ProfiledLane, World]:
    """A device with a profiler at its first new best, until lane.watching is set."""
    lane = ProfiledLane(RISING)
    lane.watching = asyncio.Event()
    world = World(lane, wrap=WatchedLane)
    await world.busy.begin(SEED)
    await world.evaluate(1)
    return lane, world


def test_nothing_is_measured_beside_a_profile() -> None:
    async def scenario() -> None:
        lane, world = await being_profiled()
        assert lane.profiled == [kernel(1)[0]]
        asks = [asyncio.ensure_future(world.busy.evaluate(*kernel(n))) for n in range(2, 12)]
        await asyncio.sleep(0.05)
        assert world.busy.state().measuring == 0 and not any(ask.done() for ask in asks)
        assert world.busy.state().quarantined == 0
        assert lane.watching is not None
        lane.watching.set()
        assert all(one.passed for one in await asyncio.gather(*asks))
        assert lane.beside[0] == lane.beside[1] == 2  # the seed and the first

    asyncio.run(scenario())


def test_a_stopped_campaign_begins_no_profile_and_waits_for_none() -> None:
    async def scenario() -> None:
        lane, world = await being_profiled()
        asked = asyncio.ensure_future(world.busy.evaluate(*kernel(2)))
        await asyncio.sleep(0.01)
        world.busy.stop()
        await asyncio.wait_for(world.busy.drain(), timeout=30)
        assert asked.done() and lane.profiled == [kernel(1)[0]]

    asyncio.run(scenario())


@pytest.mark.parametrize("word", ["off", False, {"most": 0}])
def test_profiles_can_be_turned_off(word: Any) -> None:
    config = parse_config({"task": "sgemm", "backend": "cuda", "profiles": word}, where="test")
    assert limits_of(config, print) is None


def test_the_cpu_has_no_profiler() -> None:
    for backend, known in (("cpu", False), ("hip", True), ("cuda", True)):
        config = parse_config({"task": "sgemm", "backend": backend}, where="test")
        assert (limits_of(config, print) is not None) == known


def test_an_event_keeps_its_advice() -> None:
    event = Profiled(session=1, kernel_id="k", where="device 0", advice=ADVICE, device_s=2.5)
    kind, key, island, cycle, body = to_row(event)
    assert (kind, key, island, cycle) == ("profiled", "1/k", None, None)
    assert from_row(kind, body) == event
