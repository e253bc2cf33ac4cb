"""What a campaign has to work with just now: nodes bring devices and cores, and take them."""

import time
from collections.abc import Callable, Iterable, Sequence

from engine.dispatch.devices.lane import Lane


class Fleet:
    """Devices that measure, and how many kernels may be compiled at once."""

    def __init__(
        self,
        lanes: Iterable[Lane] = (),
        *,
        compile_workers: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lanes = list(lanes)
        self._compile_workers = compile_workers
        self._clock = clock
        self._counted_at, self._offered_s = clock(), 0.0
        self._begins: list[Callable[[Lane], None]] = []
        self._tells: list[Callable[[], None]] = []

    @property
    def lanes(self) -> Sequence[Lane]:
        return tuple(self._lanes)

    @property
    def compile_workers(self) -> int:
        return self._compile_workers

    @property
    def offered_s(self) -> float:
        """Seconds of all devices together, since each of them joined."""
        self._count()
        return self._offered_s

    def whenever_joined(self, begin: Callable[[Lane], None]) -> None:
        """begin: called with each device that is here, and with each that joins."""
        self._begins.append(begin)
        for lane in self.lanes:
            begin(lane)

    def whenever_changed(self, tell: Callable[[], None]) -> None:
        """tell: called after devices or cores have joined or left."""
        self._tells.append(tell)

    def join(self, lane: Lane) -> None:
        self._count()
        self._lanes.append(lane)
        for begin in self._begins:
            begin(lane)
        self._changed()

    def leave(self, lane: Lane) -> None:
        """What it worked on is given to others. A device that is not here does nothing."""
        lane.leave()
        if lane in self._lanes:
            self._count()
            self._lanes.remove(lane)
            self._changed()

    def compile_with(self, workers: int) -> None:
        """From now on so many kernels at once."""
        if workers != self._compile_workers:
            self._compile_workers = workers
            self._changed()

    def _changed(self) -> None:
        for tell in self._tells:
            tell()

    def _count(self) -> None:
        now = self._clock()
        self._offered_s += len(self._lanes) * (now - self._counted_at)
        self._counted_at = now
