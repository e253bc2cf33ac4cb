"""Islands are given more cycles where devices wait for them, and only there."""

import asyncio

import pytest

from engine.dispatch.devices.fleet import Fleet
from engine.dispatch.feeding import WINDOW, Feeding
from engine.dispatch.idle import Occupancy
from engine.dispatch.job import Jobs
from engine.dispatch.setting import DispatchSetting
from tests.engine.dispatch.test_dispatcher import (
    SPREAD,
    TOOLCHAIN,
    MemoryJournal,
    ScriptedLane,
    compile_at_once,
)


class Bench:
    """Devices that compute for 1 s at a time, and then have nothing for as long as is said."""

    def __init__(self, lanes: int = 1, most_fed: float = 2.0) -> None:
        self.now = 0.0
        self.fed: list[float] = []
        self.lanes = [ScriptedLane({}, f"device {number}") for number in range(lanes)]
        setting = DispatchSetting(
            task_hash="task",
            device_class="class",
            toolchain=TOOLCHAIN,
            session=0,
            compile=compile_at_once,
            fleet=Fleet(self.lanes),
            publish=lambda built, links: None,
            journal=MemoryJournal(),
            budget=None,
            patience_s=1.0,
            profiles=None,
            revised=lambda number, evaluation: None,
            spread=SPREAD,
            feed=self.fed.append,
            most_fed=most_fed,
        )
        self.occupancy = Occupancy(lambda: self.now)
        self.jobs = Jobs(self.occupancy.changed)
        self.feeding = Feeding(setting, self.jobs, self.occupancy, lambda: self.now)

    def windows(self, count: int, *, idle_s: float) -> list[float]:
        """What islands were told meanwhile."""
        before = len(self.fed)
        for _ in range(count * WINDOW):
            calls = [self.occupancy.on(lane) for lane in self.lanes]
            for call in calls:
                call.__enter__()
            self.now += 1.0
            for call in calls:
                call.__exit__(None, None, None)
            self.now += idle_s
            for _ in self.lanes:
                self.feeding.judged()
        return self.fed[before:]


@pytest.mark.parametrize("lanes", [1, 4])
def test_devices_that_wait_have_one_cycle_more_and_then_no_more_than_is_needed(lanes: int) -> None:
    bench = Bench(lanes)
    assert bench.windows(1, idle_s=1.0) == []  # processes start
    assert bench.windows(2, idle_s=0.25) == [1.25, 1.5]
    assert bench.windows(5, idle_s=0.05) == []


def test_there_is_a_bound() -> None:
    assert Bench().windows(20, idle_s=1.0) == [1.25, 1.5, 1.75, 2.0]
    assert Bench(most_fed=1.6).windows(20, idle_s=1.0) == [1.25, 1.5, 1.6]
    assert Bench(most_fed=1.0).windows(20, idle_s=1.0) == []


def test_where_kernels_wait_for_compile_processes_more_cycles_would_not_help() -> None:
    async def waiting() -> None:
        bench = Bench()
        bench.jobs.add("k", "", idle=False)
        assert bench.windows(5, idle_s=1.0) == []

    asyncio.run(waiting())


def test_a_pause_and_devices_that_come_are_no_wait() -> None:
    bench = Bench()
    bench.windows(1, idle_s=0.0)
    for _ in range(5):
        bench.now += 100.0
        bench.feeding.begin_again()
        assert bench.windows(1, idle_s=0.05) == []


def test_a_device_that_is_left_alone_is_not_idle() -> None:
    bench = Bench()
    bench.windows(1, idle_s=0.0)
    with bench.occupancy.on(bench.lanes[0]):
        bench.lanes[0].free = False
    bench.now += 1000.0
    bench.lanes[0].free = True
    assert bench.windows(2, idle_s=0.0) == []
