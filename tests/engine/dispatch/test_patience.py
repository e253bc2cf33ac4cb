"""A campaign whose devices all stay in quarantine ends in one sentence, and not before."""

import asyncio

import pytest

from engine.dispatch.devices.fleet import Fleet
from engine.dispatch.devices.patience import wait_for_devices
from engine.dispatch.workbench import Sick
from engine.ending import CampaignFailed
from engine.store.events import Evaluated
from evaluators.device_info import DeviceInfo
from scripts.bench_engine import INFO
from tests.engine.dispatch.test_dispatcher import (
    SEED,
    MemoryJournal,
    ScriptedLane,
    dispatcher,
    kernel,
)
from tests.engine.dispatch.watched_lane import WatchedLane

NEVER = 10_000


class SickLane(ScriptedLane):
    """A device that falls ill with a kernel and fails so many looks after it."""

    def __init__(self, bad_looks: int) -> None:
        super().__init__({})
        self._bad_looks = bad_looks
        self.sick = {kernel(1)[0]: 1}

    async def info(self) -> DeviceInfo:
        self._bad_looks -= 1
        if self._bad_looks >= 0:
            raise Sick("it computes 3 where 4 is right")
        return INFO


def test_devices_that_stay_sick_end_the_campaign() -> None:
    async def scenario() -> None:
        lane, journal = SickLane(NEVER), MemoryJournal()
        quarantined = WatchedLane(lane, first_look_s=0.01)
        busy = dispatcher(quarantined, journal, patience_s=0.2)
        await busy.begin(SEED)
        with pytest.raises(CampaignFailed) as caught:
            await asyncio.wait_for(busy.evaluate(*kernel(1)), timeout=60)
        said = str(caught.value)
        assert "\n" not in said
        for part in (
            "left alone for 0.2 s (devices.patience_s)",
            "device 0: it computes 3 where 4 is right",
            "doctor --device",
            "'kernel-scientist resume' goes on",
        ):
            assert part in said
        with pytest.raises(CampaignFailed):  # an island that asked a model meanwhile
            await busy.evaluate(*kernel(2))
        assert len(journal.of(Evaluated)) == 1  # the seed; the kernel has no verdict

    asyncio.run(scenario())


def test_a_device_that_comes_back_in_time_goes_on() -> None:
    async def scenario() -> None:
        lane = WatchedLane(SickLane(3), first_look_s=0.01)
        busy = dispatcher(lane, MemoryJournal(), patience_s=30.0)
        await busy.begin(SEED)
        evaluation = await asyncio.wait_for(busy.evaluate(*kernel(1)), timeout=60)
        assert evaluation.passed and lane.trouble == ""

    asyncio.run(scenario())


def test_a_device_that_works_counts_however_late_it_is_looked_at() -> None:
    """On a busy machine more than the patience may go by between two looks."""

    async def scenario() -> None:
        waiting = asyncio.ensure_future(wait_for_devices(Fleet([ScriptedLane({})]), 1e-9))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not waiting.done()
        waiting.cancel()

    asyncio.run(scenario())


def test_one_device_that_works_is_enough() -> None:
    async def scenario() -> None:
        sick, well = ScriptedLane({}), ScriptedLane({})
        sick.well = sick.free = False
        waiting = asyncio.ensure_future(wait_for_devices(Fleet([sick, well]), 0.05))
        done, _ = await asyncio.wait([waiting], timeout=0.5)
        assert not done
        well.well = False
        well.trouble = "three kernels in a row met a fault"
        with pytest.raises(CampaignFailed, match="device 0: three kernels in a row met a fault"):
            await asyncio.wait_for(waiting, timeout=60)

    asyncio.run(scenario())


def test_a_waiting_kernel_goes_to_no_device_that_fell_ill() -> None:
    """Both calls of a lane wait for work while the device is well; then it is not."""

    async def scenario() -> None:
        lane, journal = SickLane(NEVER), MemoryJournal()
        quarantined = WatchedLane(lane, first_look_s=60.0)
        busy = dispatcher(quarantined, journal)
        await busy.begin(SEED)
        first = asyncio.ensure_future(busy.evaluate(*kernel(1)))
        while quarantined.well:
            await asyncio.sleep(0)
        second = asyncio.ensure_future(busy.evaluate(*kernel(2)))
        await asyncio.sleep(0.05)
        assert busy.state().quarantined == 1 and busy.state().measuring == 0
        assert busy.state().faults == 1  # the fault itself; nothing ran into the quarantine
        assert quarantined.trouble == "three kernels in a row met a fault"
        busy.stop()
        await asyncio.gather(first, second, return_exceptions=True)

    asyncio.run(scenario())
