"""A device that loses processes over an anchor, the seed or a baseline: its work goes elsewhere."""

import asyncio

import pytest

from engine.dispatch.retries import ATTEMPTS
from engine.dispatch.workbench import Broken, Built, Sick
from engine.ending import CampaignFailed
from engine.store.events import EpochStarted, Fault
from evaluators.evaluation import Evaluation
from tests.engine.dispatch.test_dispatcher import (
    SEED,
    SEED_ID,
    MemoryJournal,
    ScriptedLane,
    compile_at_once,
    dispatcher,
    kernel,
)

LOST = "its process ended unexpectedly"


def two_lanes(speedups: dict[str, float]) -> tuple[ScriptedLane, ScriptedLane]:
    return ScriptedLane(speedups), ScriptedLane(speedups, "device 1")


async def settled() -> None:
    for _ in range(60):
        await asyncio.sleep(0)


def test_a_link_that_loses_three_processes_is_measured_on_another_device() -> None:
    async def scenario() -> None:
        name = kernel(1)[0]
        first, second = two_lanes({name: 2.0})
        first.link_faults = [Broken(LOST)] * ATTEMPTS
        journal = MemoryJournal()
        busy = dispatcher(first, journal, second)
        await busy.begin(SEED)
        second.well = second.free = False  # so that the first one finds it
        answer = asyncio.ensure_future(busy.evaluate(name, kernel(1)[1]))
        while not first.linked:
            await asyncio.sleep(0)
        second.well = second.free = True
        assert (await answer).passed
        await settled()
        assert not first.well and LOST in first.trouble
        assert [one.anchor_id for one in journal.of(EpochStarted)] == [SEED_ID, name]
        assert len(first.linked) == ATTEMPTS and len(second.linked) == 1
        assert len(journal.of(Fault)) == ATTEMPTS
        assert (await busy.evaluate(*kernel(2))).passed

    asyncio.run(scenario())


@pytest.mark.parametrize("fault", [Broken(LOST), Sick("it computes 3 where 4 is right")])
def test_a_seed_that_one_device_can_not_measure_is_measured_on_another(fault: Broken) -> None:
    async def scenario() -> None:
        first, second = two_lanes({})
        if isinstance(fault, Sick):
            first.sick = {SEED_ID: 1}
        else:
            first.breaks = {SEED_ID: ATTEMPTS}
        busy = dispatcher(first, MemoryJournal(), second)
        assert (await busy.begin(SEED)).passed
        assert not first.well and second.measured == [SEED_ID]

    asyncio.run(scenario())


def test_a_seed_that_takes_every_process_with_it_ends_the_campaign() -> None:
    async def scenario() -> None:
        first, second = two_lanes({})
        first.breaks = second.breaks = {SEED_ID: 1000}
        busy = dispatcher(first, MemoryJournal(), second, patience_s=0.02)
        with pytest.raises(CampaignFailed, match=LOST) as caught:
            await busy.begin(SEED)
        assert "\n" not in str(caught.value)
        assert not first.well and not second.well

    asyncio.run(scenario())


def test_a_baseline_whose_compile_process_is_lost_three_times() -> None:
    async def lost(source: str) -> Built | Evaluation:
        raise Broken(LOST)

    async def scenario() -> None:
        journal = MemoryJournal()
        with pytest.raises(CampaignFailed, match=f"compile.*{LOST}"):
            await dispatcher(ScriptedLane({}), journal, compile=lost).begin(SEED)
        assert [one.where for one in journal.of(Fault)] == ["compile task"] * ATTEMPTS

    asyncio.run(scenario())


def test_what_breaks_in_a_worker_reaches_those_who_wait_as_a_sentence() -> None:
    class Escaping(ScriptedLane):
        async def fit(self) -> None:
            if self.measured != [SEED_ID]:
                await super().fit()
                return
            await asyncio.sleep(0.01)
            raise Broken(LOST)

    async def scenario() -> None:
        busy = dispatcher(Escaping({}), MemoryJournal(), compile=compile_at_once)
        await busy.begin(SEED)
        with pytest.raises(CampaignFailed, match=LOST):
            await busy.evaluate(*kernel(1))

    asyncio.run(scenario())
