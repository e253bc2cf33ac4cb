"""A lane that is left alone after repeated faults, and taken back after a good probe."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeVar

from engine.dispatch.workbench import Blameless, Blocks, Broken, Built, Measured, Sick
from evaluators.device_info import BackendMissing, DeviceInfo
from evaluators.profile.profiler import Profile

_T = TypeVar("_T")

FAULTS = 3
"""Lost processes in a row, whatever kernels they measured, before a device is left alone."""

FIRST_PROBE_S, LAST_PROBE_S = 2.0, 60.0
"""The pause before the first probe; it doubles up to the last."""


class Probed(Protocol):
    """A device's evaluator that can be asked whether it works; see setting.Lane."""

    name: str

    async def measure(
        self, built: Built, anchor: Any, best: Mapping[str, float], best_speedup: float
    ) -> Measured: ...

    async def link(self, built: Built, anchor: Any) -> Blocks | None: ...

    async def profile(self, built: Built, task: str) -> Profile: ...

    async def info(self) -> DeviceInfo:
        """What the device is, once it has computed a known answer. Raises Broken."""


class QuarantinedLane:
    """See setting.Lane. While the device is in quarantine every call raises Sick at once."""

    def __init__(self, lane: Probed, *, first_probe_s: float = FIRST_PROBE_S) -> None:
        self.name = lane.name
        self._lane = lane
        self._pause_s = first_probe_s
        self._faults = 0
        self._well = asyncio.Event()
        self._well.set()
        self._unwatched = asyncio.Event()  # no profiler is at the device
        self._unwatched.set()
        self.trouble = ""
        self._probing: asyncio.Task[None] | None = None

    @property
    def well(self) -> bool:
        return self._well.is_set()

    @property
    def free(self) -> bool:
        return self._well.is_set() and self._unwatched.is_set()

    async def info(self) -> DeviceInfo | None:
        """None when the device starts in quarantine."""
        try:
            return await self._lane.info()
        except Broken as error:
            self.leave_alone(error)
            return None

    async def fit(self) -> None:
        """Return when the device may be given work."""
        while not self.free:
            await self._well.wait()
            await self._unwatched.wait()

    async def measure(
        self, built: Built, anchor: Any, best: Mapping[str, float], best_speedup: float
    ) -> Measured:
        return await self._watched(lambda: self._lane.measure(built, anchor, best, best_speedup))

    async def link(self, built: Built, anchor: Any) -> Blocks | None:
        return await self._watched(lambda: self._lane.link(built, anchor))

    async def profile(self, built: Built, task: str) -> Profile:
        """A profiler's own faults are no fault of the device."""
        self._unwatched.clear()
        try:
            return await self._lane.profile(built, task)
        finally:
            self._unwatched.set()

    async def _watched(self, work: Callable[[], Awaitable[_T]]) -> _T:
        if not self.well:
            raise Sick(f"{self.name} is left alone after repeated faults")
        try:
            done = await work()
        except Broken as error:
            self._faults += not isinstance(error, Blameless)
            if isinstance(error, Sick) or self._faults >= FAULTS:
                self.leave_alone(error)
            raise
        self._faults = 0
        return done

    def leave_alone(self, error: Broken) -> None:
        """Until a probe is good."""
        if self._well.is_set():
            self._well.clear()
            self.trouble = str(error)
            self._probing = asyncio.get_running_loop().create_task(self._probe())

    async def _probe(self) -> None:
        """Until a new process computes a known answer on the device."""
        pause_s = self._pause_s
        while not self.well:
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LAST_PROBE_S)
            try:
                await self._lane.info()
            except (BackendMissing, Broken) as error:
                self.trouble = str(error)
                continue
            self._faults = 0
            self.trouble = ""
            self._well.set()
