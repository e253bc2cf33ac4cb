"""What a session said of its models' cost before it asked them."""

from dataclasses import dataclass
from typing import ClassVar

Told = tuple[float, float, float]
"""Likely, low, high."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastMade:
    """For what was left of the budgets then. number: the session's. text: for a person. dollars:
    None where no model has a price. first: the budget that is to end it; empty: not known."""

    kind: ClassVar[str] = "forecast_made"
    number: int
    text: str
    evaluations: Told
    calls: Told
    tokens: Told
    dollars: Told | None
    first: str

    @property
    def key(self) -> str:
        return str(self.number)
