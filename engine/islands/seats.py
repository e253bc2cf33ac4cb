"""Seats: a cycle's places among the evaluations left, taken before a model is asked."""

from typing import Protocol

from operators.individual import Origin

PAID: frozenset[Origin] = frozenset({"experiment", "crossover", "repair"})
"""On an island that asks models; a mutation costs nothing."""


class Places(Protocol):
    async def hold(self) -> None:
        """Wait for a place and keep it. Raises Stopped where none will come any more."""

    def let_go(self) -> None:
        """Without waiting."""


class Seats:
    """A candidate that is paid for holds a place from its first question to its evaluation."""

    def __init__(self, places: Places | None) -> None:
        """places: None where nothing is paid for."""
        self._places = places
        self._spare = False
        self._out = 0

    async def begin(self, operator: str) -> None:
        """An experiment's selector and designer are asked for the sake of its first candidate."""
        if self._places is not None and operator == "experiment":
            await self._places.hold()
            self._spare = True

    async def take(self, origin: Origin, *, paid: bool) -> bool:
        """Whether the candidate holds a place now. paid: it is written, and costs no more."""
        if self._places is None or origin not in PAID or (paid and not self._spare):
            return False
        if not self._spare:
            await self._places.hold()
        self._spare = False
        self._out += 1
        return True

    def settle(self, held: bool, *, useful: bool) -> None:
        """useful: the candidate is there, and its evaluation takes the place; else it is free."""
        self._out -= held
        if held and not useful and self._places is not None:
            self._places.let_go()

    def end(self) -> None:
        """The cycle is over, with whatever error."""
        while self._places is not None and (self._out or self._spare):
            self._out -= not self._spare
            self._spare = False
            self._places.let_go()
