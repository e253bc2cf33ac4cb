"""Verdicts by kind, and the commonest reasons of each."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass

from engine.report.texts import first_line
from engine.store.scoreboard import Scoreboard

REASONS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """text: of one kernel; many: how many have it, but for numbers in it."""

    text: str
    many: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """Of one kind. others: kernels with further reasons."""

    status: str
    many: int
    share: float
    reasons: tuple[Reason, ...]
    others: int


def verdicts_of(scores: Scoreboard) -> tuple[Verdicts, ...]:
    """The latest verdict on each kernel; most first."""
    total = len(scores.evaluations)
    reasons: defaultdict[str, Counter[str]] = defaultdict(Counter)
    example: dict[str, str] = {}
    for evaluation in scores.evaluations.values():
        text = first_line(evaluation.reason)
        kind = re.sub(r"[-+]?\d[\d.e+-]*", "#", text)
        example.setdefault(kind, text)
        reasons[str(evaluation.status)][kind] += 1
    return tuple(
        _verdicts(status, kinds, example, total)
        for status, kinds in sorted(reasons.items(), key=lambda one: (-one[1].total(), one[0]))
    )


def _verdicts(status: str, kinds: Counter[str], example: dict[str, str], total: int) -> Verdicts:
    many = kinds.total()
    common = sorted(kinds.items(), key=lambda one: (-one[1], one[0]))[:REASONS]
    reasons = tuple(Reason(text=example[kind], many=count) for kind, count in common if kind)
    return Verdicts(
        status=status,
        many=many,
        share=many / total,
        reasons=reasons,
        others=many - sum(count for _, count in common),
    )
