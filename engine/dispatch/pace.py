"""The pace of compiling, measuring and storing: what bounds a campaign, and who shall work."""

import math
from collections import deque
from collections.abc import Mapping

from engine.snapshot import Bound

HEADROOM = 1.5
"""Compile workers beyond what the mean rates ask for, so that devices meet no empty queue."""

REMEMBERED = 4096
"""Durations kept of each stage, the last ones."""

SMOOTHING = 0.05
"""Weight of the latest duration in the running mean that decides on workers."""

STAGES = ("compile", "queue", "measure", "commit")


class Pace:
    """How long each stage takes, in seconds, and what follows from it.

    compile: a compile task, with the way there and back. queue: compiled, not yet on a
    device. measure: on the device. commit: until the store has it.
    """

    def __init__(self, *, lanes: int, most_workers: int) -> None:
        self._lanes, self._most = lanes, most_workers
        self._kept: dict[str, deque[float]] = {name: deque(maxlen=REMEMBERED) for name in STAGES}
        self._means: dict[str, float] = {}

    def fit(self, *, lanes: int, most_workers: int) -> None:
        """From now on there are so many."""
        self._lanes, self._most = lanes, most_workers

    def took(self, stage: str, seconds: float) -> None:
        self._kept[stage].append(seconds)
        mean = self._means.get(stage, seconds)
        self._means[stage] = mean + SMOOTHING * (seconds - mean)

    @property
    def workers(self) -> int:
        """Compile workers that keep every device busy; before rates are known, one a device."""
        if not self._known:
            return min(self._most, 1 + self._lanes)
        each = self._means["compile"] / max(1e-6, self._means["measure"])
        return max(1, min(self._most, 1 + math.ceil(HEADROOM * self._lanes * each)))

    def bound(self, *, waiting: bool) -> Bound:
        """What more of would make the campaign faster. waiting: some kernel is to be compiled.

        "compile" where all workers together make less than the devices take.
        """
        if not self._known:
            return ""
        if not waiting:
            return "asking"
        made = self._most / max(1e-6, self._means["compile"])
        taken = self._lanes / max(1e-6, self._means["measure"])
        return "compile" if made < taken else "device"

    def latencies(self) -> Mapping[str, tuple[float, float]]:
        """Median and 95th percentile in seconds, by stage."""
        return {
            name: (_quantile(kept, 0.5), _quantile(kept, 0.95))
            for name, kept in self._kept.items()
            if kept
        }

    @property
    def _known(self) -> bool:
        return "compile" in self._means and "measure" in self._means


def _quantile(values: "deque[float]", share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
