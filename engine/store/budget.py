"""Budgets of a stored campaign: which one is spent, and how to go on all the same."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.store.replay import Replay
from engine.store.spending import CallBudget


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
