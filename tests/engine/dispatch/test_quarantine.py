"""A device is left alone after repeated faults, and taken back after a good probe."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from engine.dispatch.quarantine import FAULTS, QuarantinedLane
from engine.dispatch.workbench import Blocks, Broken, Built, Measured, Sick
from evaluators.device import Compiled
from evaluators.device_info import DeviceInfo
from evaluators.kernel.source import parse_kernel
from evaluators.profile.profiler import Profile
from evaluators.tasks.task_file import load_task
from scripts.bench_engine import INFO
from tests.engine.dispatch.test_dispatcher import passed

NAIVE = parse_kernel(load_task("sgemm").naive)
BUILT = Built(
    kernel=NAIVE,
    compiled=Compiled(
        kernel_id=NAIVE.id, backend="cpu", arch="a", engine="e", compiler="c", binaries={}
    ),
)


class FailingLane:
    """A device that fails as often as it is told: first its calls, then its probes."""

    def __init__(self, faults: list[Broken], bad_probes: int = 0) -> None:
        self.name = "device 0"
        self._faults, self._bad_probes = faults, bad_probes
        self.probes = 0

    async def info(self) -> DeviceInfo:
        self.probes += 1
        if self.probes <= self._bad_probes:
            raise Sick("it computes wrongly")
        return INFO

    async def measure(
        self, built: Built, anchor: Any, best: Mapping[str, float], best_speedup: float
    ) -> Measured:
        if self._faults:
            raise self._faults.pop(0)
        return Measured(evaluation=passed(built.kernel_id, 1.0))

    async def link(self, built: Built, anchor: Any) -> Blocks | None:
        return None

    async def profile(self, built: Built, task: str) -> Profile:
        return Profile(reason="nothing to see")


async def measure(lane: QuarantinedLane) -> bool:
    try:
        return (await lane.measure(BUILT, None, {}, 0.0)).evaluation.passed
    except Broken:
        return False


@pytest.mark.parametrize(
    "faults", [[Sick("three kernels in a row met a fault")], [Broken("lost")] * FAULTS]
)
def test_left_alone_and_taken_back(faults: list[Broken]) -> None:
    async def scene() -> None:
        inner = FailingLane(list(faults), bad_probes=2)
        lane = QuarantinedLane(inner, first_probe_s=0.01)
        assert [await measure(lane) for _ in faults] == [False] * len(faults)
        assert not lane.well
        with pytest.raises(Sick, match="device 0 is left alone"):
            await lane.measure(BUILT, None, {}, 0.0)
        await lane.fit()
        assert lane.well and inner.probes == 3
        assert await measure(lane)

    asyncio.run(scene())


def test_faults_that_are_not_in_a_row() -> None:
    async def scene() -> None:
        inner = FailingLane([Broken("lost")] * (FAULTS - 1))
        lane = QuarantinedLane(inner)
        for _ in range(FAULTS - 1):
            assert not await measure(lane)
        assert await measure(lane)
        assert lane.well and inner.probes == 0

    asyncio.run(scene())


def test_a_device_that_is_sick_from_the_start() -> None:
    async def scene() -> None:
        lane = QuarantinedLane(FailingLane([], bad_probes=1), first_probe_s=0.01)
        assert await lane.info() is None
        await lane.fit()
        assert await lane.info() == INFO

    asyncio.run(scene())
