"""Tests of probing: each probe is answered once, and no kernel waits for it longer than it must."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from engine.dispatch.dispatcher import Dispatcher
from engine.dispatch.retries import ATTEMPTS
from engine.dispatch.setting import ProbeLimits
from engine.dispatch.workbench import Broken, Displaced, Sick
from engine.store.events import Evaluated, Fault, from_row, to_row
from engine.store.kinds.probes import SHIPPED, Probed, ProbeLog, ProbeWritten
from evaluators.evaluation import Rejected, Status
from evaluators.probes.probe import Answer, BuiltProbe, Probe, parse_probe
from scripts.scripted_model.answers import PROBE
from tests.engine.dispatch.test_dispatcher import (
    SEED,
    MemoryJournal,
    ScriptedLane,
    compile_at_once,
    dispatcher,
    kernel,
)

SECONDS = 0.25
"""What every probe says it took."""


def text(question: str) -> str:
    return PROBE.replace("QUESTION", question)


def probe(question: str) -> Probe:
    return parse_probe(text(question))


def answer(question: str, *sentences: str) -> Answer:
    return Answer(
        probe_id=probe(question).id,
        question=question,
        status=Status.PASSED,
        sentences=sentences or ("Little.",),
        seconds=SECONDS,
    )


class ProbedLane(ScriptedLane):
    """A device that answers, unless it breaks as it is told."""

    def __init__(self, broken: Sequence[Broken] = ()) -> None:
        super().__init__({})
        self.broken = list(broken)
        self.probed: list[str] = []
        self.beside: list[int] = []  # kernels measured by then
        self.hold: asyncio.Event | None = None  # until it is set, a probe goes on

    async def probe(self, built: BuiltProbe) -> Answer:
        self.probed.append(built.probe.question)
        self.beside.append(len(self.measured))
        await asyncio.sleep(0)
        if self.hold is not None:
            await self.hold.wait()
        if self.broken:
            raise self.broken.pop(0)
        return answer(built.probe.question)


class World:
    """A dispatcher over one such device, its log, and what became of the answers."""

    def __init__(
        self,
        lane: ProbedLane,
        *shipped: str,
        kept: Sequence[Answer] = (),
        share: float = 1e-9,
        log: ProbeLog | None = None,
    ) -> None:
        self.lane, self.journal = lane, MemoryJournal()
        self.told: list[Probed] = []
        self.keeps: list[Answer] = []
        self.compiled: list[str] = []
        self.lost = 0  # compile tasks that are lost first
        limits = ProbeLimits(
            share=share,
            compile=self._compile,
            shipped=[probe(one) for one in shipped],
            kept={one.probe_id: one for one in kept},
            keep=self._keep,
            tell=self.told.append,
        )
        self.busy: Dispatcher = dispatcher(lane, self.journal, probes=limits, log=log)

    async def _compile(self, source: str) -> BuiltProbe | Answer:
        await asyncio.sleep(0)
        if self.lost:
            self.lost -= 1
            raise Broken("its process ended unexpectedly")
        try:
            parsed = parse_probe(source)
        except Rejected as rejected:
            return Answer.of_rejected(source, rejected)
        self.compiled.append(parsed.question)
        built: Any = await compile_at_once(SEED.source)
        return BuiltProbe(probe=parsed, compiled=built.compiled, cases=())

    async def _keep(self, one: Answer) -> None:
        self.keeps.append(one)

    async def settle(self) -> None:
        """Until everything that was asked is answered."""
        await asyncio.wait_for(self.busy.drain(), timeout=30)

    @property
    def stored(self) -> list[Probed]:
        return self.journal.of(Probed)


def test_the_shipped_set_is_measured_stored_told_and_kept() -> None:
    async def scenario() -> None:
        world = World(ProbedLane(), "one", "two")
        await world.busy.begin(SEED)
        await world.settle()
        assert world.lane.probed == ["one", "two"]
        assert [(one.asked_by, one.where, one.device_s) for one in world.stored] == [
            (SHIPPED, "device 0", SECONDS)
        ] * 2
        assert world.told == world.stored
        assert world.keeps == [answer("one"), answer("two")]
        state = world.busy.state()
        assert (state.probed, state.busy_s["probes"]) == (2, 2 * SECONDS)
        assert state.device_busy_s > 2 * SECONDS

    asyncio.run(scenario())


def test_what_was_kept_needs_no_device() -> None:
    async def scenario() -> None:
        known = answer("one", "It was so.")
        world = World(ProbedLane(), "one", "two", kept=[known, answer("of somebody else")])
        await world.busy.begin(SEED)
        (first,) = world.told  # before anything is measured
        assert (first.answer, first.where, first.device_s) == (known, "", 0.0)
        world.busy.probe("i0/c1/p0", text("of somebody else"))
        await world.settle()
        assert world.lane.probed == ["two"] and len(world.stored) == 3
        assert world.keeps == [answer("two")]

    asyncio.run(scenario())


def test_what_an_earlier_session_answered_is_not_asked_again_and_the_rest_is() -> None:
    async def scenario() -> None:
        log = ProbeLog()
        done = Probed(session=0, asked_by=SHIPPED, source=text("one"), answer=answer("one"))
        asked = Probed(session=0, asked_by="i0/c1/p0", source=text("a"), answer=answer("a"))
        log.apply(done)
        log.apply(asked)
        for number, question in enumerate(("a", "b", "")):
            written = text(question) if question else ""
            log.apply(ProbeWritten(island=0, cycle=1, number=number, text=written))
        world = World(ProbedLane(), "one", "two", log=log)
        await world.busy.begin(SEED)
        await world.settle()
        assert world.lane.probed == ["b", "two"]  # what was asked for goes first
        assert world.busy.answers == [done, asked, *world.stored]

    asyncio.run(scenario())


def test_the_same_file_is_measured_once() -> None:
    async def scenario() -> None:
        world = World(ProbedLane())
        await world.busy.begin(SEED)
        world.busy.probe("i0/c1/p0", text("one"))
        world.busy.probe("i1/c1/p0", text("one"))
        await world.settle()
        assert world.lane.probed == ["one"]
        assert [one.asked_by for one in world.stored] == ["i0/c1/p0"]

    asyncio.run(scenario())


def test_kernels_that_wait_go_first_where_probes_have_had_their_share() -> None:
    async def scenario() -> None:
        world = World(ProbedLane())
        await world.busy.begin(SEED)
        world.lane.gate = asyncio.Event()
        asks = [asyncio.ensure_future(world.busy.evaluate(*kernel(n))) for n in range(1, 20)]
        while world.busy.state().measuring < 2:
            await asyncio.sleep(0)
        for question in ("one", "two", "three"):
            world.busy.probe(f"i0/c1/{question}", text(question))
        while not world.lane.probed:
            await asyncio.sleep(0)
        world.lane.gate.set()
        await asyncio.gather(*asks)
        await world.settle()
        assert world.lane.probed == ["one", "two", "three"]
        assert world.lane.beside[0] == 1  # the first within its share, however small that is
        assert world.lane.beside[1] >= 18  # the last two may be at work

    asyncio.run(scenario())


def test_probes_go_on_within_their_share_while_kernels_wait() -> None:
    async def scenario() -> None:
        world = World(ProbedLane(), share=1e9)
        await world.busy.begin(SEED)
        world.lane.gate = asyncio.Event()
        asks = [asyncio.ensure_future(world.busy.evaluate(*kernel(n))) for n in range(1, 20)]
        while world.busy.state().measuring < 2:
            await asyncio.sleep(0)
        for question in ("one", "two", "three"):
            world.busy.probe(f"i0/c1/{question}", text(question))
        while len(world.stored) < 3:
            await asyncio.sleep(0)
        assert world.lane.beside == [1, 1, 1]
        world.lane.gate.set()
        assert all(one.passed for one in await asyncio.gather(*asks))

    asyncio.run(scenario())


def test_a_probe_that_breaks_the_device_is_an_answer() -> None:
    async def scenario() -> None:
        lost = [Broken("its process ended unexpectedly")] * ATTEMPTS
        world = World(ProbedLane(lost))
        await world.busy.begin(SEED)
        world.busy.probe("i0/c1/p0", text("one"))
        world.busy.probe("i0/c1/p1", text("two"))
        await world.settle()
        first, second = world.stored
        assert (first.answer.status, first.answer.question) == (Status.CRASHED, "one")
        crashed = "It crashed: 3 processes were lost over it"
        assert first.told.startswith(f'A designer asked: "one" {crashed}')
        assert second.answer.passed
        faults = world.journal.of(Fault)
        assert [one.kernel_id for one in faults] == [probe("one").id] * ATTEMPTS
        assert (await world.busy.evaluate(*kernel(1))).passed

    asyncio.run(scenario())


@pytest.mark.parametrize("error", [Displaced("another's fault"), Sick("the device is ill")])
def test_what_is_no_fault_of_a_probe_counts_no_attempt(error: Broken) -> None:
    async def scenario() -> None:
        world = World(ProbedLane([error] * (ATTEMPTS + 2)), "one")
        await world.busy.begin(SEED)
        await world.settle()
        assert [one.answer for one in world.stored] == [answer("one")]
        assert len(world.lane.probed) == ATTEMPTS + 3

    asyncio.run(scenario())


def test_lost_compile_tasks_are_tried_again_and_then_an_answer() -> None:
    async def scenario() -> None:
        world = World(ProbedLane(), "one")
        world.lost = ATTEMPTS - 1
        await world.busy.begin(SEED)
        await world.settle()
        assert [one.answer for one in world.stored] == [answer("one")]
        world.lost = ATTEMPTS
        world.busy.probe("i0/c1/p0", text("two"))
        await world.settle()
        assert world.stored[1].answer.status is Status.CRASHED
        assert world.lane.probed == ["one"]

    asyncio.run(scenario())


def test_a_file_that_is_refused_is_an_answer_without_a_device() -> None:
    async def scenario() -> None:
        world = World(ProbedLane())
        await world.busy.begin(SEED)
        world.busy.probe("i0/c1/p0", text("one").replace("cases:", "casse:"))
        await world.settle()
        (stored,) = world.stored
        assert stored.answer.status is Status.INVALID and "casse" in stored.told
        assert world.lane.probed == [] and stored.device_s == 0.0

    asyncio.run(scenario())


def test_a_stopped_campaign_ends_the_probe_at_work_and_begins_no_other() -> None:
    async def scenario() -> None:
        world = World(ProbedLane(), "one", "two")
        world.lane.hold = asyncio.Event()
        await world.busy.begin(SEED)
        while not world.lane.probed:
            await asyncio.sleep(0)
        world.busy.stop()
        world.busy.probe("i0/c1/p0", text("three"))
        ended = asyncio.ensure_future(world.busy.drain())
        await asyncio.sleep(0.01)
        assert not ended.done()
        world.lane.hold.set()
        await asyncio.wait_for(ended, timeout=30)
        assert [one.answer for one in world.stored] == [answer("one")]
        assert world.lane.probed == ["one"]

    asyncio.run(scenario())


def test_evaluations_count_no_probe() -> None:
    async def scenario() -> None:
        world = World(ProbedLane(), "one", "two")
        await world.busy.begin(SEED)
        await world.settle()
        assert len(world.journal.of(Evaluated)) == 1
        assert world.busy.state().by_status == {"PASSED": 1}

    asyncio.run(scenario())


def test_an_answer_is_read_again_as_it_was() -> None:
    event = Probed(
        session=1,
        asked_by="i0/c2/p1",
        source=text("one"),
        answer=replace(answer("one"), status=Status.TIMEOUT, reason="it took longer than 5 s"),
        where="device 0",
        device_s=5.0,
    )
    kind, key, island, cycle, body = to_row(event)
    assert (kind, key, island, cycle) == ("probed", probe("one").id, None, None)
    assert from_row(kind, body) == event
    what = "It did not end in time: it took longer than 5 s. Little."
    assert event.told == f'A designer asked: "one" {what}'  # what it supposes was not measured
    assert replace(event, asked_by=SHIPPED).told == f"one {what}"
