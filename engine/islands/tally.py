"""Tally: what became of a cycle's asks, and whether the cycle was lost."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.credit.meter import Bill
from engine.islands.cycle import Cycle
from engine.islands.rests import STANDS_IN
from engine.islands.seats import Seats
from engine.store.events import CycleFinished
from engine.store.kinds.credit import Earned
from evaluators.evaluation import Status
from operators.individual import Individual
from operators.llm.question import Failure, Role
from operators.operator import Declined, InVain, Selection, Unusable

ROLE_OF: Mapping[str, Role] = {
    "experiment": "writer",
    "crossover": "crossover",
    "repair": "repair",
}
"""Origin of a kernel -> who wrote it."""


@dataclass(slots=True)
class Tally:
    """What became of a cycle's asks; declined: a sentence each; unusable: by role; answers, asked,
    earned: see CycleFinished. bills: of what models wrote, by slot."""

    seats: Seats
    new: int = 0
    duplicates: int = 0
    written: int = 0
    declined: list[str] = field(default_factory=list)
    unusable: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    earned: list[Earned] = field(default_factory=list)
    bills: dict[int, Bill] = field(default_factory=dict)

    def pay(self, slot: int, bill: Bill) -> None:
        self.bills[slot] = bill
        self.asked |= bill.models

    def selected(self, selection: Selection) -> None:
        if selection.in_vain or selection.decided_by == "model":
            self._answered("selector", selection.in_vain)

    def decline(self, declined: Declined) -> None:
        self.declined.append(str(declined))
        if isinstance(declined, InVain):
            self._answered(declined.role, declined.reason)
        if isinstance(declined, Unusable):
            self.unusable[declined.role] = declined.reason

    def judge(self, individual: Individual) -> None:
        """One that no backend takes was a reply that can't be used, though it has a verdict."""
        role = ROLE_OF.get(individual.origin)
        if role is None:
            return
        if individual.evaluation.status is Status.INVALID:
            self.unusable[role] = f"{Failure.INVALID_KERNEL}: {individual.evaluation.reason}"
            self._answered(role, self.unusable[role])
        else:
            self.written += 1
            self._answered(role, "")

    def _answered(self, role: str, in_vain: str) -> None:
        """One reply of use makes up for others of the same cycle."""
        if role in STANDS_IN and self.answers.get(role) != "":
            self.answers[role] = in_vain

    def finished(self, island: int, cycle: Cycle, *, asks: bool) -> CycleFinished:
        """asks: the island asks a model."""
        asked = asks and cycle.operator in ("experiment", "crossover")
        lost = asked and not self.written and not self.duplicates
        return CycleFinished(
            island=island,
            cycle=cycle.number,
            duplicates=self.duplicates,
            declined=tuple(self.declined),
            written=self.written if asked else 0,
            lost=self.unusable if lost else {},
            step=cycle.way.step,
            answers=self.answers if asks else {},
            asked=self.asked,
            earned=tuple(self.earned),
        )
