"""Calls of models and what they cost, by role and model."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from engine.history.calls import Asked, CallsByRole


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """latency_s: a reply's median. failures: kinds with their number, most first."""

    role: str
    model: str
    calls: int
    replies: int
    prompt_tokens: int
    completion_tokens: int
    other_tokens: int
    dollars: float
    latency_s: float | None
    failures: tuple[tuple[str, int], ...]


def costs_of(calls: CallsByRole) -> tuple[Cost, ...]:
    """A row each, and their sum where there are several; () where no model was asked."""
    rows = calls.rows()
    if len(rows) < 2:
        return tuple(map(_cost, rows))
    return (*map(_cost, rows), _cost(_sum(rows)))


def _cost(asked: Asked) -> Cost:
    failures = Counter({str(kind): many for kind, many in asked.failures.items()})
    failures["lost in kills"] = asked.lost
    failures["questions given up"] = asked.given_up
    return Cost(
        role=asked.role,
        model=asked.model,
        calls=asked.calls,
        replies=asked.replies,
        prompt_tokens=asked.prompt_tokens,
        completion_tokens=asked.completion_tokens,
        other_tokens=asked.other_tokens,
        dollars=asked.dollars,
        latency_s=median(asked.latencies_s) if asked.latencies_s else None,
        failures=tuple(
            sorted(
                ((kind.replace("_", " "), many) for kind, many in (+failures).items()),
                key=lambda one: (-one[1], one[0]),
            )
        ),
    )


def _sum(rows: Iterable[Asked]) -> Asked:
    whole = Asked("all", "")  # type: ignore[arg-type]
    for row in rows:
        whole.calls += row.calls
        whole.replies += row.replies
        whole.prompt_tokens += row.prompt_tokens
        whole.completion_tokens += row.completion_tokens
        whole.other_tokens += row.other_tokens
        whole.dollars += row.dollars
        whole.lost += row.lost
        whole.given_up += row.given_up
        whole.failures += row.failures
        whole.latencies_s += row.latencies_s
    return whole
