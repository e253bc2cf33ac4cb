"""A lane that is left alone after repeated faults, and taken back after a good look."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from engine.dispatch.devices.lane import Left
from engine.dispatch.workbench import Blameless, Broken, Sick
from evaluators.device_info import BackendMissing, DeviceInfo

FAULTS = 3
"""Lost processes in a row, whatever kernels they measured, before a device is left alone."""

FIRST_LOOK_S, LAST_LOOK_S = 2.0, 60.0
"""The pause before the device is looked at again; it doubles up to the last."""


class QuarantinedLane(ABC):
    """A lane.Lane, but for its work, which a subclass does within watched() and profiling()."""

    def __init__(self, name: str, *, first_look_s: float = FIRST_LOOK_S) -> None:
        self.name = name
        self._pause_s = first_look_s
        self._faults = 0
        self._well = asyncio.Event()
        self._well.set()
        self._unwatched = asyncio.Event()  # no profiler is at the device
        self._unwatched.set()
        self.trouble = ""
        self._looking: asyncio.Task[None] | None = None
        self._left = False

    @abstractmethod
    async def look(self) -> DeviceInfo:
        """What the device is, once it has computed a known answer. Raises Broken."""

    @property
    def well(self) -> bool:
        return self._well.is_set() and not self._left

    @property
    def free(self) -> bool:
        return self.well and self._unwatched.is_set()

    async def info(self) -> DeviceInfo | None:
        """None when the device starts in quarantine."""
        try:
            return await self.look()
        except Broken as error:
            self.leave_alone(error)
            return None

    async def fit(self) -> None:
        """Return when the device may be given work. Raises Left."""
        while not self.free:
            if self._left:
                raise Left(self.name)
            await self._well.wait()
            await self._unwatched.wait()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Work that tells whether the device is well; in quarantine it raises Sick at once."""
        if self._left:
            raise Sick(f"{self.name} has left the cluster")
        if not self.well:
            raise Sick(f"{self.name} is left alone after repeated faults")
        try:
            yield
        except Broken as error:
            self._faults += not isinstance(error, Blameless)
            if isinstance(error, Sick) or self._faults >= FAULTS:
                self.leave_alone(error)
            raise
        self._faults = 0

    @contextmanager
    def profiling(self) -> Iterator[None]:
        """A profiler's work, beside which there is no other; its faults are not the device's."""
        self._unwatched.clear()
        try:
            yield
        finally:
            self._unwatched.set()

    def leave_alone(self, error: Broken) -> None:
        """Until it has computed a known answer."""
        if self.well:
            self._well.clear()
            self.trouble = str(error)
            self._looking = asyncio.get_running_loop().create_task(self._look_until_well())

    def leave(self) -> None:
        """For good: who waits for it is told."""
        self._left, self.trouble = True, "it has left the cluster"
        if self._looking is not None:
            self._looking.cancel()
        self._well.set()
        self._unwatched.set()

    async def _look_until_well(self) -> None:
        """Until a new process computes a known answer on the device."""
        pause_s = self._pause_s
        while not self.well:
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LAST_LOOK_S)
            try:
                await self.look()
            except (BackendMissing, Broken) as error:
                self.trouble = str(error)
                continue
            self._faults = 0
            self.trouble = ""
            self._well.set()
