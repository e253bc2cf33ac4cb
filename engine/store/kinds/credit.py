"""What the parts of a cycle earned and cost, as a campaign's log keeps it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Earned:
    """One kernel that a cycle asked for, whatever became of it; origin "": all that the cycle
    asked before.

    line: the first kernel below the naive seed that its Base descends from, or the seed. role,
    model: who wrote it, as what; "": no model did. technique: its experiment's; predicted: the
    range that was promised, in percent of the Base's speed. gain: ln of how many times as fast as
    its Base; over_best: the same over the island's best as the cycle began; None: there is no such
    time. deviation: the standard error of either. seconds: of compiler, device and model.
    """

    origin: str = ""
    line: str = ""
    role: str = ""
    model: str = ""
    technique: str = ""
    predicted: tuple[float, float] | None = None
    gain: float | None = None
    over_best: float | None = None
    deviation: float = 0.0
    seconds: float = 0.0
    dollars: float = 0.0
