"""Tests of the dispatcher: nothing twice, nothing lost, nothing that waits for ever."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from engine.dispatch.devices.fleet import Fleet
from engine.dispatch.devices.lane import Lane, Left
from engine.dispatch.dispatcher import Dispatcher
from engine.dispatch.retries import ATTEMPTS
from engine.dispatch.setting import DispatchSetting, ProbeLimits, ProfileLimits, TuningLimits, Watch
from engine.dispatch.workbench import Blocks, Broken, Built, Measured, Sick
from engine.ending import CampaignFailed, Stopped
from engine.store.events import EpochStarted, Evaluated, Event, Fault
from engine.store.kinds.probes import ProbeLog
from engine.store.kinds.revisions import TellRevised
from engine.store.scoreboard import Scoreboard
from engine.store.toolchain import Toolchain
from evaluators.device import Compiled
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Status, Verdict
from evaluators.kernel.source import parse_kernel
from evaluators.measuring.intervals import Spread
from evaluators.measuring.sittings import Sitting
from evaluators.probes.probe import Answer, BuiltProbe
from evaluators.profile.profiler import Profile
from evaluators.tasks.baselines import Baseline
from evaluators.tasks.task_file import load_task
from operators.individual import Candidate

TASK = load_task("sgemm")
SEED = Candidate.from_source(TASK.naive)
SEED_ID = parse_kernel(TASK.naive).id
SPREAD = Spread(sitting=0.001, distance=0.0, run=1.0)
TOOLCHAIN = Toolchain(harness="1", compiler="c 1.0")


def kernel(number: int) -> tuple[str, Candidate]:
    """The naive seed with a comment that makes it another kernel."""
    source = f"{TASK.naive}\n// {number}\n"
    return parse_kernel(source).id, Candidate.from_source(source)


DEVICE_S = 1e-6
"""What every measurement says it took."""


class MemoryJournal:
    """Keeps events in order; commit gives others a turn, as a real store does."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def post(self, event: Event) -> None:
        self.events.append(event)

    async def commit(self, event: Event) -> None:
        self.events.append(event)
        await asyncio.sleep(0)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


class ScriptedLane:
    """A device that is told how fast each kernel is, over the seed."""

    def __init__(self, speedups: Mapping[str, float], name: str = "device 0") -> None:
        self.name = name
        self.well = self.free = True
        self.trouble, self.left = "", False
        self.speedups = speedups
        self.measured: list[str] = []
        self.anchors: list[Any] = []
        self.bounds: list[Mapping[str, float]] = []
        self.breaks: dict[str, int] = {}  # kernel id -> how many times its process is lost
        self.sick: dict[str, int] = {}  # kernel id -> how many times the device is to blame
        self.link_faults: list[Broken] = []  # what links meet, in order, before one is measured
        self.linked: list[tuple[str, Any]] = []  # kernel id, anchor
        self.gate: asyncio.Event | None = None
        self.sat: list[tuple[str, tuple[str, ...], bool]] = []  # kernel id, rivals, checked
        self.sitting_s = 0.0  # what every sitting says it took
        self.wrong_elsewhere: set[str] = set()  # kernel ids

    async def fit(self) -> None:
        while not self.well:
            if self.left:
                raise Left(self.name)
            await asyncio.sleep(0.001)
        await asyncio.sleep(0)

    def leave_alone(self, error: Broken) -> None:
        self.well = self.free = False
        self.trouble = str(error)

    def leave(self) -> None:
        self.well = self.free = False
        self.left = True

    async def measure(self, built: Built, anchor: Any, best: Mapping[str, float]) -> Measured:
        await asyncio.sleep(0)
        if self.gate is not None:
            await self.gate.wait()
        self.measured.append(built.kernel_id)
        self.anchors.append(anchor)
        self.bounds.append(dict(best))
        if self.breaks.get(built.kernel_id, 0):
            self.breaks[built.kernel_id] -= 1
            raise Broken("its process ended unexpectedly")
        if self.sick.get(built.kernel_id, 0):
            self.sick[built.kernel_id] -= 1
            raise Sick("three kernels in a row met a fault")
        speedup = self.speedups.get(built.kernel_id, 1.0)
        if anchor is None:
            return Measured(evaluation=passed(built.kernel_id, speedup), verified=True)
        blocks = of_blocks(speedup, self.speedups.get(anchor[0], 1.0), 4)
        made = replace(passed(built.kernel_id, speedup), blocks=blocks, anchor_id=anchor[0])
        return Measured(evaluation=made)

    async def sit(self, built: Built, rivals: Sequence[Any], check: bool, turn: int) -> Sitting:
        await asyncio.sleep(0)
        self.sat.append((built.kernel_id, tuple(rival for rival, _ in rivals), check))
        speedup = self.speedups.get(built.kernel_id, 1.0)
        blocks = {
            rival: of_blocks(speedup, self.speedups.get(rival, 1.0), 12) for rival, _ in rivals
        }
        wrong = check and built.kernel_id in self.wrong_elsewhere
        status, reason = (Status.WRONG, "held-out shape") if wrong else (Status.PASSED, "")
        verdict = Verdict(status=status, reason=reason)
        return Sitting(blocks=blocks, verdict=verdict, seconds=self.sitting_s)

    async def link(self, built: Built, anchor: Any) -> Blocks | None:
        await asyncio.sleep(0)
        self.linked.append((built.kernel_id, anchor))
        if self.link_faults:
            raise self.link_faults.pop(0)
        return {"a": (0.5, 0.5)}

    async def profile(self, built: Built, task: str) -> Profile:
        raise AssertionError("no profile was asked for")

    async def probe(self, built: BuiltProbe) -> Answer:
        raise AssertionError("no probe was asked for")


def of_blocks(speedup: float, beside: float, count: int) -> dict[str, tuple[float, ...]]:
    """Paired blocks of a kernel and another one, by how fast they are."""
    return {"a": (math.log(speedup / beside),) * count}


def passed(kernel_id: str, speedup: float) -> Evaluation:
    return Evaluation(
        kernel_id=kernel_id,
        task_hash=TASK.hash,
        device_class="class",
        status=Status.PASSED,
        times_us={"a": 100.0 / speedup},
        speedup=speedup,
        seconds={"device": DEVICE_S},
    )


async def compile_at_once(source: str) -> Built | Evaluation:
    await asyncio.sleep(0)
    parsed = parse_kernel(source)
    compiled = Compiled(
        kernel_id=parsed.id, backend="cpu", arch="a", engine="e", compiler="c", binaries={}
    )
    return Built(kernel=parsed, compiled=compiled)


def dispatcher(
    lane: Lane,
    journal: MemoryJournal,
    *others: Lane,
    compile: Callable[[str], Awaitable[Built | Evaluation]] = compile_at_once,
    budget: int | None = None,
    scores: Scoreboard | None = None,
    patience_s: float = 1800.0,
    profiles: ProfileLimits | None = None,
    toolchain: Toolchain = TOOLCHAIN,
    revised: TellRevised = lambda number, evaluation: None,
    tuning: TuningLimits | None = None,
    watch: Watch | None = None,
    probes: ProbeLimits | None = None,
    log: ProbeLog | None = None,
    baselines: Sequence[Baseline] = (),
    info: DeviceInfo | None = None,
) -> Dispatcher:
    setting = DispatchSetting(
        task_hash=TASK.hash,
        device_class="class",
        toolchain=toolchain,
        session=0,
        compile=compile,
        fleet=Fleet([lane, *others], compile_workers=2),
        publish=lambda built, links: (built.kernel_id, len(links)),
        journal=journal,
        budget=budget,
        patience_s=patience_s,
        profiles=profiles,
        revised=revised,
        spread=SPREAD,
        tuning=tuning,
        watch=watch,
        probes=probes,
        baselines=baselines,
        info=info,
    )
    return Dispatcher(setting, scores or Scoreboard(), log)


def test_the_seed_is_measured_first_and_becomes_the_anchor() -> None:
    async def scenario() -> None:
        lane, journal = ScriptedLane({}), MemoryJournal()
        evaluation = await dispatcher(lane, journal).begin(SEED)
        assert evaluation.kernel_id == SEED_ID
        assert lane.anchors == [None]
        assert [type(event) for event in journal.events] == [Evaluated, EpochStarted]

    asyncio.run(scenario())


def test_equal_kernels_are_measured_once() -> None:
    async def scenario() -> None:
        lane, journal = ScriptedLane({}), MemoryJournal()
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        asks = [kernel(number % 3) for number in range(12)]
        answers = await asyncio.gather(*(busy.evaluate(*ask) for ask in asks))
        assert [one.kernel_id for one in answers] == [name for name, _ in asks]
        assert sorted(lane.measured) == sorted({SEED_ID, *(name for name, _ in asks)})
        again = await busy.evaluate(*kernel(1))
        assert again == answers[1] and len(lane.measured) == 4
        assert len(journal.of(Evaluated)) == 4
        assert busy.state().asked == 13

    asyncio.run(scenario())


def test_a_restored_scoreboard_answers_for_what_was_measured() -> None:
    async def scenario() -> None:
        scores = Scoreboard()
        name, candidate = kernel(1)
        for stored in (passed(SEED_ID, 1.0), passed(name, 3.0)):
            scores.apply(Evaluated(evaluation=stored, verified=True))
        scores.apply(EpochStarted(number=0, anchor_id=SEED_ID))
        scores.apply(EpochStarted(number=1, anchor_id=name, link={"a": (1.0,)}))
        lane, journal = ScriptedLane({}), MemoryJournal()
        resumed = dispatcher(lane, journal, scores=scores)
        await resumed.begin(SEED, {name: candidate})
        assert (await resumed.evaluate(name, candidate)).speedup == 3.0
        assert lane.measured == [] and journal.events == []
        await resumed.evaluate(*kernel(2))
        assert lane.anchors == [(name, 1)]

    asyncio.run(scenario())


def test_the_budget_counts_kernels_not_asks() -> None:
    async def scenario() -> None:
        lane, journal = ScriptedLane({}), MemoryJournal()
        busy = dispatcher(lane, journal, budget=3)
        await busy.begin(SEED)  # the seed is one of the three
        await asyncio.gather(*(busy.evaluate(*kernel(number)) for number in (1, 1, 2, 2)))
        with pytest.raises(Stopped):
            await busy.evaluate(*kernel(3))
        assert (await busy.evaluate(*kernel(2))).passed
        assert busy.state().evaluated == 3

    asyncio.run(scenario())


def test_a_failed_compile_never_meets_a_device() -> None:
    async def compile(source: str) -> Built | Evaluation:
        if source.endswith("// 1\n"):
            return Evaluation(
                kernel_id=kernel(1)[0],
                task_hash=TASK.hash,
                device_class="class",
                status=Status.COMPILE_ERROR,
                reason="expected ';'",
            )
        return await compile_at_once(source)

    async def scenario() -> None:
        lane, journal = ScriptedLane({}), MemoryJournal()
        busy = dispatcher(lane, journal, compile=compile)
        await busy.begin(SEED)
        answer = await busy.evaluate(*kernel(1))
        assert answer.status is Status.COMPILE_ERROR
        assert lane.measured == [SEED_ID]
        assert busy.state().by_status == {"PASSED": 1, "COMPILE_ERROR": 1}

    asyncio.run(scenario())


@pytest.mark.parametrize("times", [1, ATTEMPTS - 1])
def test_a_lost_process_costs_another_try(times: int) -> None:
    async def scenario() -> None:
        lane, journal = ScriptedLane({}), MemoryJournal()
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        lane.breaks = {kernel(1)[0]: times}
        assert (await busy.evaluate(*kernel(1))).passed
        assert len(journal.of(Fault)) == times == busy.state().faults
        assert len(journal.of(Evaluated)) == 2

    asyncio.run(scenario())


def test_a_kernel_that_takes_every_process_with_it_has_crashed() -> None:
    async def scenario() -> None:
        lane, journal = ScriptedLane({}), MemoryJournal()
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        lane.breaks = {kernel(1)[0]: ATTEMPTS}
        answers = await asyncio.gather(busy.evaluate(*kernel(1)), busy.evaluate(*kernel(2)))
        assert answers[0].status is Status.CRASHED and "3 processes" in answers[0].reason
        assert answers[1].passed

    asyncio.run(scenario())


def test_a_seed_that_fails_ends_the_campaign_with_a_sentence() -> None:
    async def compile(source: str) -> Built | Evaluation:
        return Evaluation(
            kernel_id=SEED_ID,
            task_hash=TASK.hash,
            device_class="class",
            status=Status.INVALID,
            reason="line 3: no such argument",
        )

    async def scenario() -> None:
        with pytest.raises(CampaignFailed, match="INVALID: line 3: no such argument"):
            await dispatcher(ScriptedLane({}), MemoryJournal(), compile=compile).begin(SEED)

    asyncio.run(scenario())


def test_a_bug_in_a_worker_reaches_everyone_who_waits() -> None:
    async def compile(source: str) -> Built | Evaluation:
        if source.endswith("// 1\n"):
            raise LookupError("broken compiler installation")
        return await compile_at_once(source)

    async def scenario() -> None:
        lane = ScriptedLane({})
        busy = dispatcher(lane, MemoryJournal(), compile=compile)
        await busy.begin(SEED)
        lane.gate = asyncio.Event()
        waiting = asyncio.ensure_future(busy.evaluate(*kernel(2)))
        with pytest.raises(LookupError, match="broken compiler"):
            await busy.evaluate(*kernel(1))
        with pytest.raises(LookupError):
            await waiting
        with pytest.raises(LookupError):
            await busy.evaluate(*kernel(3))

    asyncio.run(scenario())


def test_stop_finishes_what_is_measured_and_drops_the_rest() -> None:
    async def scenario() -> None:
        lane, journal = ScriptedLane({}), MemoryJournal()
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        lane.gate = asyncio.Event()
        asks = [asyncio.ensure_future(busy.evaluate(*kernel(number))) for number in range(1, 9)]
        while busy.state().measuring < 2:
            await asyncio.sleep(0)
        busy.stop()
        lane.gate.set()
        await busy.drain()
        answers = await asyncio.gather(*asks, return_exceptions=True)
        assert [isinstance(one, Evaluation) for one in answers] == [True] * 2 + [False] * 6
        assert all(isinstance(one, Stopped) for one in answers[2:])
        with pytest.raises(Stopped):
            await busy.evaluate(*kernel(20))
        assert len(journal.of(Evaluated)) == 3
        state = busy.state()
        assert (state.compiling, state.ready, state.measuring) == (0, 0, 0)

    asyncio.run(scenario())


def test_compiles_run_ahead_of_the_devices_but_not_far() -> None:
    async def scenario() -> None:
        lane = ScriptedLane({})
        busy = dispatcher(lane, MemoryJournal())
        await busy.begin(SEED)
        lane.gate = asyncio.Event()
        asks = [asyncio.ensure_future(busy.evaluate(*kernel(number))) for number in range(40)]
        for _ in range(200):
            await asyncio.sleep(0)
        state = busy.state()
        assert state.measuring == 2 and 2 <= state.ready <= 6
        lane.gate.set()
        assert all(one.passed for one in await asyncio.gather(*asks))

    asyncio.run(scenario())


def test_a_new_epoch_begins_at_half_again_as_fast() -> None:
    async def scenario() -> None:
        speedups = {kernel(1)[0]: 1.4, kernel(2)[0]: 1.6, kernel(3)[0]: 2.0, kernel(4)[0]: 2.5}
        lane, journal = ScriptedLane(speedups), MemoryJournal()
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        for number in range(1, 5):
            await busy.evaluate(*kernel(number))
            await busy.drain()
            for _ in range(20):
                await asyncio.sleep(0)
        epochs = journal.of(EpochStarted)
        assert [one.anchor_id for one in epochs] == [SEED_ID, kernel(2)[0], kernel(4)[0]]
        assert epochs[1].link == {"a": (0.5, 0.5)}
        await busy.evaluate(*kernel(5))
        assert lane.anchors[-1] == (kernel(4)[0], 2)
        assert busy.state().epoch == 2

    asyncio.run(scenario())


def test_an_evaluation_is_stored_before_anyone_hears_of_it() -> None:
    class SlowJournal(MemoryJournal):
        async def commit(self, event: Event) -> None:
            for _ in range(50):
                await asyncio.sleep(0)
            await super().commit(event)

    async def scenario() -> None:
        journal = SlowJournal()
        busy = dispatcher(ScriptedLane({}), journal)
        await busy.begin(SEED)
        answer = await busy.evaluate(*kernel(1))
        assert answer in [event.evaluation for event in journal.of(Evaluated)]

    asyncio.run(scenario())


def test_a_sick_device_is_not_the_kernels_fault() -> None:
    async def scene() -> None:
        identity, candidate = kernel(1)
        lane, journal = ScriptedLane({identity: 2.0}), MemoryJournal()
        lane.sick = {identity: 2 * ATTEMPTS}
        running = dispatcher(lane, journal)
        await running.begin(SEED)
        evaluation = await running.evaluate(identity, candidate)
        assert evaluation.passed
        assert len(journal.of(Fault)) == 2 * ATTEMPTS
        state = running.state()
        assert set(state.latencies_s) == {"compile", "queue", "measure", "commit"}
        assert state.compile_workers >= 1 and state.bound == "asking"

    asyncio.run(scene())


def test_a_paused_dispatcher_begins_nothing() -> None:
    async def scenario() -> None:
        compiled: list[str] = []

        async def compile(source: str) -> Built | Evaluation:
            compiled.append(source)
            return await compile_at_once(source)

        lane = ScriptedLane({})
        busy = dispatcher(lane, MemoryJournal(), compile=compile)
        await busy.begin(SEED)
        lane.gate = asyncio.Event()
        first = asyncio.ensure_future(busy.evaluate(*kernel(1)))
        while not busy.state().measuring:
            await asyncio.sleep(0)
        busy.pause(paused=True)
        others = [asyncio.ensure_future(busy.evaluate(*kernel(number))) for number in (2, 3)]
        lane.gate.set()
        assert (await first).passed  # what was begun ends
        await asyncio.sleep(0.05)
        assert len(compiled) == 2 and len(lane.measured) == 2
        busy.pause(paused=False)
        assert all(one.passed for one in await asyncio.gather(*others))
        busy.pause(paused=True)
        last = asyncio.ensure_future(busy.evaluate(*kernel(4)))
        await asyncio.sleep(0.01)
        await busy.end()
        with pytest.raises(Stopped):
            await last
        assert len(lane.measured) == 4

    asyncio.run(scenario())
