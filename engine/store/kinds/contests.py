"""Contests in a campaign's log: who raced the best again, who won, and how it was in the end."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from evaluators.evaluation import Beside

Why = Literal["contender", "rematch", "end"]
"""A new kernel seemed faster than the best; the top few are measured again; so at the end."""

Outcome = Literal["won", "not shown", "wrong"]

Ratio = tuple[float, float, float]
"""Estimate, low, high."""

Gains = Mapping[str, float]
"""Mean ln(rival's time / kernel's time) by workload label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contested:
    """A kernel raced the best in new processes on new inputs; where it won it is the best now.

    number: counts contests, from 0. rival_id: the best until then. ratio: of its time to the
    kernel's, with the 99% interval that decides; None where the kernel was wrong.
    speedup, ci95, ci99: over the naive seed, through all contests since; what is reported.
    reason: one sentence, without the sizes of held-out shapes.
    """

    kind: ClassVar[str] = "contested"
    number: int
    kernel_id: str
    rival_id: str
    why: Why
    outcome: Outcome
    ratio: Ratio | None = None
    gains: Gains = field(default_factory=dict)
    speedup: float | None = None
    ci95: tuple[float, float] | None = None
    ci99: tuple[float, float] | None = None
    sittings: int = 0
    reason: str = ""
    device_s: float = 0.0

    @property
    def key(self) -> str:
        return str(self.number)

    @property
    def demotes(self) -> bool:
        """Whether a kernel known before took the best's place: it had only been lucky."""
        return self.outcome == "won" and self.why != "contender"


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalMeasurement:
    """The best was timed against the naive seed itself, and beside its runners-up.

    number: the session's. rivals: by kernel id of a runner-up, its time over the best's with a
    95% interval. busy: a sentence where the machine was. gains: over the seed. baselines: by name,
    of those that the task named.
    """

    kind: ClassVar[str] = "final_measurement"
    number: int
    kernel_id: str
    speedup: float
    ci95: tuple[float, float]
    ci99: tuple[float, float]
    sittings: int
    rivals: Mapping[str, Ratio] = field(default_factory=dict)
    busy: str = ""
    device_s: float = 0.0
    gains: Gains = field(default_factory=dict)
    baselines: Mapping[str, Beside] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"{self.number}/{self.kernel_id}"


ContestEvent = Contested | FinalMeasurement
