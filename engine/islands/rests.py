"""Rests: roles that answered in vain cycle after cycle are asked no more for a while."""

from dataclasses import dataclass

from engine.config import OperatorMix
from engine.store.events import CycleFinished

SHORTEST, LONGEST = 4, 64
"""Cycles of a rest: of the first one, and at most; each is twice as long as the one before."""

STANDS_IN = {
    "selector": "the tournament decides in its place",
    "crossover": "{other}s take the place of crossovers",
    "repair": "failed kernels are not repaired",
}
"""Role that an island can do without -> what is done instead. The others' lost cycles are
Setbacks' concern."""

ASKED_BY = {
    "experiment": ("selector", "repair"),
    "crossover": ("crossover", "repair"),
    "mutation": ("repair",),
}
"""Operator of a cycle -> which of these roles it may ask."""


@dataclass(slots=True)
class _Rest:
    """One role's. While length is 0, it is asked as usual."""

    vain: int = 0  # cycles in a row that asked as usual, and in vain
    length: int = 0  # of the last rest, in cycles
    until: int = 0  # its last cycle
    probe: int = 0  # the cycle that asks again; 0: none is under way
    reason: str = ""

    def asks(self, cycle: int) -> bool:
        return not self.length or (cycle > self.until and not self.probe)

    def lie_down(self, begun: int, length: int) -> None:
        self.length, self.until, self.probe = length, begun + length, 0


class Rests:
    """Follows from the order of an island's own events. When a rest is over one cycle asks again:
    a reply of use ends it all, another one in vain makes the next rest twice as long."""

    def __init__(self, mix: OperatorMix, in_a_row: int) -> None:
        """in_a_row: cycles that asked in vain, after which a role rests."""
        self._in_a_row = in_a_row
        self._other = "experiment" if mix.experiment else "mutation" if mix.mutation else ""
        spared = [role for role in STANDS_IN if role != "crossover" or self._other]
        self._rests = {role: _Rest() for role in spared}
        self._begun = 0  # the last cycle that began

    def drawn(self, cycle: int, operator: str) -> str:
        """What a cycle does, where another operator takes a resting crossover's place."""
        rest = self._rests.get(operator)
        return operator if rest is None or rest.asks(cycle) else self._other

    def begin(self, cycle: int, operator: str) -> frozenset[str]:
        """The roles that a cycle does not ask."""
        self._begun = max(self._begun, cycle)
        resting = {role for role, rest in self._rests.items() if not rest.asks(cycle)}
        for role in ASKED_BY.get(operator, ()):
            if role in self._rests and role not in resting and self._rests[role].length:
                self._rests[role].probe = cycle
        return frozenset(resting)

    def take(self, finished: CycleFinished) -> None:
        """A cycle that began before a rest did is no reason to prolong it."""
        for role, rest in self._rests.items():
            reason = finished.answers.get(role)
            if reason == "":
                self.forget(role)
            elif reason is None:
                rest.probe = 0 if rest.probe == finished.cycle else rest.probe
            elif rest.length and rest.probe == finished.cycle:
                rest.reason = reason
                rest.lie_down(self._begun, min(2 * rest.length, LONGEST))
            elif not rest.length:
                rest.reason, rest.vain = reason, rest.vain + 1
                if rest.vain == self._in_a_row:
                    rest.lie_down(self._begun, SHORTEST)

    def forget(self, *roles: str) -> None:
        """Ask these roles as usual: they answered, or another model answers for them."""
        for role in self._rests.keys() & roles:
            self._rests[role] = _Rest()

    @property
    def warnings(self) -> dict[str, str]:
        """Role -> a sentence for a person."""
        return {role: self._told(role, rest) for role, rest in self._rests.items() if rest.length}

    def _told(self, role: str, rest: _Rest) -> str:
        instead = STANDS_IN[role].format(other=self._other)
        return (
            f"the {role} was asked in vain in {self._in_a_row} cycles in a row (the last: "
            f"{rest.reason.rstrip('.')}); {instead}, and the {role} is asked again after "
            f"{rest.length} cycles, then ever more rarely"
        )
