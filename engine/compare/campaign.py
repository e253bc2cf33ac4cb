"""One campaign as a comparison sees it, wherever it was read from."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.history.campaigns import State
from engine.history.trajectory import Axis, Trajectory
from engine.store.scoreboard import Best

EXHAUSTED = "the search space is exhausted"
"""How a campaign's reason to end begins when it tried every kernel there is."""


class CompareError(Exception):
    """What can't be compared. One sentence: what, why, what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """name: tells it from the others; identity: the same for every copy of it.

    task: as its configuration names it; task_hash: of its content. settings: what defines its
    search, see engine.compare.settings. began_at: seconds since 1970. ended: why. source: the text
    of its best kernel, read when it is asked for. steered: a person put kernels or ideas in.
    """

    name: str
    identity: str
    task: str
    task_hash: str
    backend: str
    device: str
    device_class: str
    toolchain: str
    seed: int
    settings: Mapping[str, str]
    config_hash: str
    began_at: float
    state: State
    ended: str
    trajectory: Trajectory
    source: Callable[[], str]
    steered: bool = False

    @property
    def task_name(self) -> str:
        return Path(self.task).name

    @property
    def best(self) -> Best | None:
        return self.trajectory.end.best

    def reached(self, axis: Axis) -> float:
        """What its search spent; without end where every kernel there is was tried."""
        if self.ended.startswith(EXHAUSTED):
            return math.inf
        return self.spent(axis)

    def spent(self, axis: Axis) -> float:
        return self.trajectory.searched.spent(axis)
