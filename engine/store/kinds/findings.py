"""Findings as a campaign's log keeps them: what was distilled, and which islands heard of it."""

from dataclasses import dataclass
from typing import ClassVar

from operators.finding import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Distilled:
    """The findings as they stand from now on, stored before anybody is told.

    number: 0 is what was brought along from other campaigns, before the first cycle; the others
    follow from results. refused: why what was to be brought along is not used, a sentence each.
    dropped: ids of rules that a person took out of the file. model: how a model had part in it, a
    sentence; empty where none was asked.
    """

    kind: ClassVar[str] = "distilled"
    number: int
    evaluations: int
    findings: tuple[Finding, ...]
    refused: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    model: str = ""

    @property
    def key(self) -> str:
        return str(self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingsTold:
    """An island heard of the findings: what its later cycles ask shows them."""

    kind: ClassVar[str] = "findings_told"
    island: int
    number: int  # of the Distilled

    @property
    def key(self) -> str:
        return f"i{self.island}/{self.number}"


FindingEvent = Distilled | FindingsTold
