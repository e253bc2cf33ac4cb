"""What a campaign's log holds of its model calls: reserved, replied, failed, given up."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

from operators.llm.question import NOTHING_VAIN, Failure, Message, Reply, Role, Unanswered, Vain


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReserved:
    """Stored before a call: what it may cost at most. It counts as spent until it is settled.

    request: the question's key; number: which of its calls. prompt: what was sent, where the
    configuration keeps prompts.
    """

    kind: ClassVar[str] = "call_reserved"
    island: int
    cycle: int
    request: str
    number: int
    role: Role
    model: str
    prompt_hash: str
    template: str
    tokens: int
    dollars: float
    prompt: tuple[Message, ...] = ()

    @property
    def key(self) -> str:
        return f"{self.request}#{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReplied:
    """Stored before the reply is used."""

    kind: ClassVar[str] = "call_replied"
    island: int
    cycle: int
    request: str
    number: int
    reply: Reply

    @property
    def key(self) -> str:
        return f"{self.request}#{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailed:
    """A call without a reply. tokens, dollars: what it counts for in the budget; seconds: from
    its sending."""

    kind: ClassVar[str] = "call_failed"
    island: int
    cycle: int
    request: str
    number: int
    failure: Failure
    reason: str
    tokens: int
    dollars: float
    seconds: float = 0.0

    @property
    def key(self) -> str:
        return f"{self.request}#{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUp:
    """A question that stays unanswered, also after a resumption. vain: what its calls took."""

    kind: ClassVar[str] = "given_up"
    island: int
    cycle: int
    request: str
    failure: Failure
    reason: str
    vain: Vain = NOTHING_VAIN

    @property
    def key(self) -> str:
        return self.request

    @property
    def outcome(self) -> Unanswered:
        return Unanswered(kind=self.failure, reason=self.reason, vain=self.vain)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnedAway:
    """A reply that an operator could not use; once a question."""

    kind: ClassVar[str] = "turned_away"
    island: int
    cycle: int
    request: str
    failure: Failure
    reason: str

    @property
    def key(self) -> str:
        return self.request


CallEvent = CallReserved | CallReplied | CallFailed | GivenUp | TurnedAway


class CallJournal(Protocol):
    """Where call events go; both ways keep the order of the calls."""

    def post(self, event: CallEvent) -> None:
        """Store it soon."""

    async def commit(self, event: CallEvent) -> None:
        """Return when it is stored, and all events before it."""
