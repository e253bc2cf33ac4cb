"""What model calls have cost and how they failed; what of them a resumption still needs."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from engine.store.attempts import Attempts
from engine.store.kinds.calls import (
    CallEvent,
    CallFailed,
    CallReplied,
    CallReserved,
    GivenUp,
    TurnedAway,
)
from operators.llm.call import hides_tokens
from operators.llm.question import Failure, Reply, Role, Unanswered

_SPENT = "the budget of {limit:g} {name} is spent"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBudget:
    """None: no limit."""

    calls: int | None = None
    tokens: int | None = None
    dollars: float | None = None

    def spent(self, reason: str) -> str:
        """Which limit a shortage() speaks of; empty when it is another's reason."""
        for name, limit in asdict(self).items():
            if limit is not None and reason.startswith(_SPENT.format(limit=limit, name=name)):
                return name
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Calls at a glance. calls, tokens, dollars: settled and lost ones, not those in flight.
    Attempts at an endpoint that is away stand in failures and are no calls.

    lost: calls that were in flight when a session was killed; they count in full.
    """

    calls: int
    tokens: int
    dollars: float
    in_flight: int
    replies: int
    lost: int
    failures: Mapping[str, int]  # by kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Excess:
    """Times as much as was reckoned that a model's calls have taken, the most seen; at least 1."""

    tokens: float = 1.0
    dollars: float = 1.0


_AS_RECKONED = Excess()


@dataclass(frozen=True, slots=True)
class _Open:
    """A call in flight, and the model's excess that its reservation reckoned with."""

    reserved: CallReserved
    excess: Excess


class SpendingTotals:
    """Told of every call event in order. answered: roles and models that replied once; hidden:
    models that were seen to generate more than they show; excess: models whose calls took more
    than was reserved for them, so that more is reserved from then on."""

    def __init__(self) -> None:
        self.answered: set[tuple[Role, str]] = set()
        self.hidden: set[str] = set()
        self.excess: dict[str, Excess] = {}
        self._calls = 0
        self._tokens = 0
        self._dollars = 0.0
        self._replies = 0
        self._lost = 0
        self._open: dict[str, _Open] = {}
        self._failures: Counter[str] = Counter()

    def take(self, event: CallEvent) -> None:
        match event:
            case CallReserved():
                excess = self.excess.get(event.model, _AS_RECKONED)
                self._open[event.key] = _Open(event, excess)
            case CallReplied():
                reply = event.reply
                self._replies += 1
                if call := self._open.get(event.key):
                    self.answered.add((call.reserved.role, call.reserved.model))
                    if hides_tokens(reply):
                        self.hidden.add(call.reserved.model)
                tokens = reply.prompt_tokens + reply.completion_tokens
                self._settle(event.key, tokens, reply.dollars)
            case CallFailed():
                self._failures[event.failure] += 1
                if event.failure is Failure.UNREACHABLE:
                    self._open.pop(event.key, None)  # there was nobody to call
                else:
                    self._settle(event.key, event.tokens, event.dollars)
            case TurnedAway():
                self._failures[event.failure] += 1
            case GivenUp():
                pass  # its calls have been counted

    def _settle(self, key: str, tokens: int, dollars: float) -> None:
        call = self._open.pop(key, None)
        if call is None:
            return  # written off already, in full
        self._learn(call, tokens, dollars)
        self._calls += 1
        self._tokens += tokens
        self._dollars += dollars

    def _learn(self, call: _Open, tokens: int, dollars: float) -> None:
        """Of a call that took more than was reserved: so may the others of its model."""
        model, reserved = call.reserved.model, call.reserved
        known = self.excess.get(model, _AS_RECKONED)
        seen = Excess(
            tokens=max(known.tokens, call.excess.tokens * _ratio(tokens, reserved.tokens)),
            dollars=max(known.dollars, call.excess.dollars * _ratio(dollars, reserved.dollars)),
        )
        if seen != known:
            self.excess[model] = seen

    def shows_all(self, model: str) -> bool:
        """Whether it was seen to reply, and never with more than it showed."""
        replied = {name for _, name in self.answered}
        return model in replied and model not in self.hidden

    def reckoned(self, model: str, tokens: int, dollars: float) -> tuple[int, float]:
        """What to reserve for a call of a model, by what its calls took before."""
        excess = self.excess.get(model, _AS_RECKONED)
        return math.ceil(tokens * excess.tokens), dollars * excess.dollars

    def _held(self) -> tuple[float, float]:
        """Tokens and dollars that calls in flight may take, by what is known by now."""
        tokens = dollars = 0.0
        for call in self._open.values():
            excess = self.excess.get(call.reserved.model, _AS_RECKONED)
            tokens += call.reserved.tokens * excess.tokens / call.excess.tokens
            dollars += call.reserved.dollars * excess.dollars / call.excess.dollars
        return tokens, dollars

    def write_off(self) -> None:
        """Count what is in flight as lost and spent: its session was killed."""
        for call in list(self._open.values()):
            self._settle(call.reserved.key, call.reserved.tokens, call.reserved.dollars)
            self._lost += 1

    @property
    def in_flight(self) -> int:
        return len(self._open)

    def shortage(self, budget: CallBudget, model: str, *, tokens: int, dollars: float) -> str:
        """Why one more call of at most this size does not fit; empty when it does. tokens, dollars:
        as long as the model keeps to what it is told."""
        tokens, dollars = self.reckoned(model, tokens, dollars)
        held_tokens, held_dollars = self._held()
        for name, limit, spent, needed in (
            ("calls", budget.calls, self._calls + len(self._open), 1),
            ("tokens", budget.tokens, self._tokens + held_tokens, tokens),
            ("dollars", budget.dollars, self._dollars + held_dollars, dollars),
        ):
            if limit is not None and spent + needed > limit:
                if not spent:
                    return (
                        f"the budget of {limit:g} {name} is too small for a call, which may take "
                        f"{_figure(needed)}; raise budgets.{name}"
                    )
                return (
                    f"{_SPENT.format(limit=limit, name=name)}: {_figure(spent)} are used, and the "
                    f"next call may take {_figure(needed)}"
                )
        return ""

    def payable(self, budget: CallBudget, model: str, *, tokens: int, dollars: float) -> bool:
        """Whether such a call fits, or may do so when those in flight are settled."""
        short = self.shortage(budget, model, tokens=tokens, dollars=dollars)
        return bool(self._open) or not short

    def spending(self) -> Spending:
        return Spending(
            calls=self._calls,
            tokens=self._tokens,
            dollars=self._dollars,
            in_flight=len(self._open),
            replies=self._replies,
            lost=self._lost,
            failures={str(kind): count for kind, count in sorted(self._failures.items())},
        )


class CallHistory:
    """A log's call events folded: its totals, and the outcomes of questions that may come again."""

    def __init__(self) -> None:
        self.totals = SpendingTotals()
        self.outcomes: dict[str, Reply | Unanswered] = {}  # by the question's key
        self.attempts = Attempts()
        self.turned_away: set[str] = set()  # questions whose reply could not be used

    def take(self, event: CallEvent) -> None:
        self.totals.take(event)
        match event:
            case CallReserved() | CallFailed():
                self.attempts.take(event)
            case CallReplied():
                self.outcomes[event.request] = event.reply
            case GivenUp():
                self.outcomes[event.request] = event.outcome
            case TurnedAway():
                self.turned_away.add(event.request)

    def forget(self, prefix: str) -> None:
        """Drop a finished cycle's: its questions won't be asked again."""
        for key in self.attempts.under(prefix):
            self.attempts.close(key)
            self.outcomes.pop(key, None)
            self.turned_away.discard(key)


def _ratio(taken: float, reserved: float) -> float:
    return taken / reserved if reserved else 1.0


def _figure(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4g}"
