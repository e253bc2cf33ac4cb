"""Meter: a model that keeps account of what each part of a cycle asked, and what that cost."""

from dataclasses import dataclass, field
from typing import Self

from engine.config_sections import OperatorMix
from engine.credit.choices import WRITING
from engine.llm.config import Llm
from engine.store.events import Drafted
from operators.individual import Individual
from operators.llm.question import Failure, Model, Reply, Request, Role, Unanswered


@dataclass(slots=True)
class Bill:
    """models: role -> the name of the model that was asked last. seconds, dollars: of their
    replies, and of calls that brought none. writer: the model that wrote a kernel."""

    seconds: float = 0.0
    dollars: float = 0.0
    models: dict[str, str] = field(default_factory=dict)
    writer: str = ""

    @classmethod
    def of(cls, stored: Drafted | Individual) -> Self:
        """What a kernel cost, as it was stored."""
        return cls(seconds=stored.asked_s, dollars=stored.dollars, writer=stored.writer)

    def add(self, other: "Bill") -> None:
        self.seconds += other.seconds
        self.dollars += other.dollars
        self.models |= other.models


class Meter:
    """Stands between an island's operators and what they ask."""

    def __init__(self, model: Model, llm: Llm, mix: OperatorMix, island: int) -> None:
        self._model, self._llm, self._mix, self._island = model, llm, mix, island
        self._bills: dict[str, Bill] = {}

    async def complete(self, request: Request) -> Reply | Unanswered:
        """Raises what the model raises."""
        outcome = await self._model.complete(request)
        bill = self._bills.setdefault(request.key.rsplit("/", 2)[0], Bill())
        bill.models[request.role] = self.name_of(request.role, request.model)
        if request.role in WRITING:
            bill.writer = bill.models[request.role]
        bill.seconds += outcome.vain.seconds
        bill.dollars += outcome.vain.dollars
        if isinstance(outcome, Reply):
            bill.seconds += outcome.latency_s
            bill.dollars += outcome.dollars
        return outcome

    def turned_away(self, request: Request, kind: Failure, reason: str) -> None:
        self._model.turned_away(request, kind, reason)

    def name_of(self, role: Role, asked: str = "") -> str:
        """The model that the role asks, by its name in llm.models."""
        named = asked or self._mix.models.get(role, "")
        return self._llm.model_name(role, named, self._island)

    def slot(self, key: str) -> Bill:
        """Of one kernel, by the key of its draft; it is not told again."""
        return self._bills.pop(key, Bill())

    def cycle(self, key: str) -> Bill:
        """Of all that a cycle asked besides."""
        whole = Bill()
        for one in [one for one in self._bills if one.startswith(f"{key}/")]:
            whole.add(self._bills.pop(one))
        return whole
