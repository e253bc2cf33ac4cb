"""A device is left alone after repeated faults, and taken back after a good probe."""

import asyncio

import pytest

from engine.dispatch.devices.quarantine import FAULTS, QuarantinedLane
from engine.dispatch.workbench import Broken, Sick
from evaluators.device_info import DeviceInfo
from scripts.bench_engine import INFO


class FailingLane(QuarantinedLane):
    """A device that fails as often as it is told: first its work, then what it is looked at."""

    def __init__(self, faults: list[Broken], bad_looks: int = 0) -> None:
        super().__init__("device 0", first_look_s=0.01)
        self._faulty, self._bad_looks = faults, bad_looks
        self.looks = 0

    async def look(self) -> DeviceInfo:
        self.looks += 1
        if self.looks <= self._bad_looks:
            raise Sick("it computes wrongly")
        return INFO

    async def work(self) -> None:
        with self.watched():
            await asyncio.sleep(0)
            if self._faulty:
                raise self._faulty.pop(0)


async def works(lane: FailingLane) -> bool:
    try:
        await lane.work()
    except Broken:
        return False
    return True


@pytest.mark.parametrize(
    "faults", [[Sick("three kernels in a row met a fault")], [Broken("lost")] * FAULTS]
)
def test_left_alone_and_taken_back(faults: list[Broken]) -> None:
    async def scene() -> None:
        lane = FailingLane(list(faults), bad_looks=2)
        assert [await works(lane) for _ in faults] == [False] * len(faults)
        assert not lane.well
        with pytest.raises(Sick, match="device 0 is left alone"):
            await lane.work()
        await lane.fit()
        assert lane.well and lane.looks == 3
        assert await works(lane)

    asyncio.run(scene())


def test_faults_that_are_not_in_a_row() -> None:
    async def scene() -> None:
        lane = FailingLane([Broken("lost")] * (FAULTS - 1))
        for _ in range(FAULTS - 1):
            assert not await works(lane)
        assert await works(lane)
        assert lane.well and lane.looks == 0

    asyncio.run(scene())


def test_a_device_that_is_sick_from_the_start() -> None:
    async def scene() -> None:
        lane = FailingLane([], bad_looks=1)
        assert await lane.info() is None
        await lane.fit()
        assert await lane.info() == INFO

    asyncio.run(scene())
