"""Feeding: whether islands must have more cycles under way, so that no device waits for them."""

import time
from collections.abc import Callable

from engine.dispatch.idle import Occupancy
from engine.dispatch.job import Jobs
from engine.dispatch.setting import DispatchSetting

WINDOW = 16
"""Verdicts a device between two looks."""

HUNGRY = 0.1
"""Share of the devices' time without any work that is too much."""

STEP = 0.25
"""Of the cycles that islands began with: one of the usual four a device."""


class Feeding:
    """What a cycle takes beside its device is not known before it is measured: asking, compiling,
    the way there and back. So islands are given one more a device, as long as that is needed."""

    def __init__(
        self,
        setting: DispatchSetting,
        jobs: Jobs,
        occupancy: Occupancy,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._setting, self._jobs, self._occupancy = setting, jobs, occupancy
        self._clock = clock
        self._factor = 1.0
        self._warm = False  # in the first window processes start, which no cycle makes up for
        self.begin_again()

    def begin_again(self) -> None:
        """What was seen since the last look tells nothing: devices or a pause came between."""
        self._occupancy.interrupted()
        self._look_anew()

    def judged(self) -> None:
        """A kernel has its verdict."""
        self._verdicts += 1
        self._asking += not self._jobs.waiting()
        if self._verdicts < WINDOW * self._setting.devices:
            return
        offered_s = self._setting.devices * (self._clock() - self._since)
        hungry = self._occupancy.idle_s > HUNGRY * offered_s and self._asking > self._verdicts / 2
        if self._warm and hungry and self._factor < self._setting.most_fed:
            self._factor = min(self._setting.most_fed, self._factor + STEP)
            self._setting.feed(self._factor)
        self._warm = True
        self._look_anew()

    def _look_anew(self) -> None:
        self._verdicts = self._asking = 0
        self._occupancy.idle_s = 0.0
        self._since = self._clock()
