"""Budgets of a stored campaign: which one is spent, and how to go on all the same."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from engine.store.replay import Replay
from engine.store.spending import CallBudget, Spending


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """A budget that is used up. of_calls: it is one of the models' calls."""

    name: str
    limit: float
    used: float
    of_calls: bool

    @property
    def override(self) -> str:
        """Twice as much as a command's argument; more where even that is used already."""
        return f"budgets.{self.name}={figure(max(2 * self.limit, self.used + self.limit))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What budgets leave to do, never less than nothing; None: no such budget."""

    evaluations: int | None = None
    wall_time_s: float | None = None
    calls: int | None = None
    tokens: int | None = None
    dollars: float | None = None


def left(
    *,
    evaluations: int | None,
    wall_time_s: float | None,
    calls: Spending | None,
    budget: CallBudget,
) -> Left:
    """evaluations, wall_time_s: what is left of them. calls: those made, None where none is."""
    return Left(
        evaluations=evaluations,
        wall_time_s=wall_time_s,
        calls=_rest(budget.calls, calls.calls if calls else 0),
        tokens=_rest(budget.tokens, calls.tokens if calls else 0),
        dollars=_rest(budget.dollars, calls.dollars if calls else 0.0),
    )


_Number = TypeVar("_Number", int, float)


def _rest(limit: _Number | None, used: _Number) -> _Number | None:
    return None if limit is None else max(limit - used, type(limit)(0))


def left_of(replay: Replay, *, searching_s: float = 0.0) -> Left:
    """Of a stored campaign's budgets. searching_s: of a search under way, since its last event."""
    budgets, wall_s = replay.budgets, replay.budgets.get("wall_time_s")
    return left(
        evaluations=_rest(budgets.get("evaluations"), replay.scores.asked),
        wall_time_s=_rest(wall_s, replay.searched_s + searching_s) if wall_s else None,
        calls=replay.calls.totals.spending(),
        budget=CallBudget(**{name: budgets.get(name) for name in ("calls", "tokens", "dollars")}),
    )


def spent(replay: Replay, budgets: Mapping[str, Any]) -> Spent | None:
    """The first of these budgets that leaves nothing to do; None when all leave something.

    budgets: the section's keys, None for no limit. A budget of calls is also spent when the last
    session ended because the next call did not fit.
    """
    calls = replay.calls.totals.spending()
    used = {
        "evaluations": replay.scores.asked,
        "wall_time_s": replay.searched_s,
        "calls": calls.calls,
        "tokens": calls.tokens,
        "dollars": calls.dollars,
    }
    limits = {name: budgets[name] for name in used if budgets.get(name) is not None}
    of_calls = [name for name in ("calls", "tokens", "dollars") if name in limits]
    short = CallBudget(**{name: limits[name] for name in of_calls}).spent(replay.ended)
    for name, limit in limits.items():
        if used[name] >= limit or name == short:
            return Spent(name=name, limit=limit, used=used[name], of_calls=name in of_calls)
    return None


def figure(value: float) -> str:
    """Without a fraction where there is none: 10, not 10.0 and never 1e+06."""
    return str(int(value)) if value == int(value) else f"{value:g}"
