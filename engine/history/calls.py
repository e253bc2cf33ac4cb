"""Calls of models by role and model, folded from a campaign's log."""

from collections import Counter
from dataclasses import dataclass, field
from operator import attrgetter

from engine.store.kinds.calls import (
    CallEvent,
    CallFailed,
    CallReplied,
    CallReserved,
    GivenUp,
    TurnedAway,
)
from operators.llm.question import Failure, Role


@dataclass(slots=True)
class Asked:
    """What one model was asked in one role.

    calls, tokens, dollars: settled and lost ones, as engine.store.spending counts them; replies:
    those that came; failures: by kind; lost: calls in flight when a session was killed;
    given_up: questions that stayed without an answer; latencies_s: of the replies, in order.
    """

    role: Role
    model: str
    calls: int = 0
    replies: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    other_tokens: int = 0  # of calls that failed or were lost: what they count for
    dollars: float = 0.0
    lost: int = 0
    given_up: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    latencies_s: list[float] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens + self.other_tokens


class CallsByRole:
    """Told of every call event in order, and of every session that begins."""

    def __init__(self) -> None:
        self._rows: dict[tuple[Role, str], Asked] = {}
        self._open: dict[str, CallReserved] = {}
        self._of: dict[str, Asked] = {}  # by the question's key

    def rows(self) -> list[Asked]:
        return sorted(self._rows.values(), key=attrgetter("role", "model"))

    def take(self, event: CallEvent) -> None:
        match event:
            case CallReserved():
                self._open[event.key] = event
                pair = event.role, event.model
                self._of[event.request] = self._rows.setdefault(pair, Asked(*pair))
            case CallReplied():
                self._replied(event)
            case CallFailed():
                self._failed(event)
            case TurnedAway() if event.request in self._of:
                self._of[event.request].failures[event.failure] += 1
            case GivenUp() if event.request in self._of:
                self._of[event.request].given_up += 1
            case _:
                pass  # a question that was never sent

    def write_off(self) -> None:
        """A session begins: what the one before had in flight is lost, and counts in full."""
        for reserved in self._open.values():
            row = self._of[reserved.request]
            row.calls, row.lost = row.calls + 1, row.lost + 1
            row.other_tokens += reserved.tokens
            row.dollars += reserved.dollars
        self._open.clear()

    def _replied(self, event: CallReplied) -> None:
        row, reply = self._of.get(event.request), event.reply
        if row is None:
            return
        row.replies += 1
        row.latencies_s.append(reply.latency_s)
        if self._open.pop(event.key, None) is not None:
            row.calls += 1
            row.prompt_tokens += reply.prompt_tokens
            row.completion_tokens += reply.completion_tokens
            row.dollars += reply.dollars

    def _failed(self, event: CallFailed) -> None:
        row = self._of.get(event.request)
        if row is None:
            return
        row.failures[event.failure] += 1
        waited = self._open.pop(event.key, None) is not None
        if waited and event.failure is not Failure.UNREACHABLE:  # else there was nobody to call
            row.calls += 1
            row.other_tokens += event.tokens
            row.dollars += event.dollars
