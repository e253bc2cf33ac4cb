"""A scripted lane that is watched, and looked at, as the lane of a real device is."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from engine.dispatch.devices.lane import Lane
from engine.dispatch.devices.quarantine import FIRST_LOOK_S, QuarantinedLane
from engine.dispatch.workbench import Blocks, Built, Measured
from evaluators.device_info import DeviceInfo
from evaluators.measuring.sittings import Sitting
from evaluators.probes.probe import Answer, BuiltProbe
from evaluators.profile.profiler import Profile


class Described(Lane, Protocol):
    async def info(self) -> DeviceInfo: ...


class WatchedLane(QuarantinedLane):
    """Does what the scripted lane does."""

    def __init__(self, scripted: Described, *, first_look_s: float = FIRST_LOOK_S) -> None:
        super().__init__(scripted.name, first_look_s=first_look_s)
        self._scripted = scripted

    async def look(self) -> DeviceInfo:
        return await self._scripted.info()

    async def measure(self, built: Built, anchor: Any, best: Mapping[str, float]) -> Measured:
        with self.watched():
            return await self._scripted.measure(built, anchor, best)

    async def sit(self, built: Built, rivals: Sequence[Any], check: bool, turn: int) -> Sitting:
        with self.watched():
            return await self._scripted.sit(built, rivals, check, turn)

    async def link(self, built: Built, anchor: Any) -> Blocks | None:
        with self.watched():
            return await self._scripted.link(built, anchor)

    async def profile(self, built: Built, task: str) -> Profile:
        with self.profiling():
            return await self._scripted.profile(built, task)

    async def probe(self, built: BuiltProbe) -> Answer:
        with self.watched():
            return await self._scripted.probe(built)
