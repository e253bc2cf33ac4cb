"""How many evaluations each budget still pays for, at the rate of the campaign so far."""

from collections.abc import Mapping

from engine.store.budget import Left, left_of
from engine.store.replay import Replay
from engine.store.spending import Spending

LEAST_EVALUATIONS = 10
"""Before so many no rate is told: the naive seed and the first cycles say little."""


def evaluations_paid(
    left: Left, *, asked: int, searched_s: float | None, calls: Spending | None
) -> Mapping[str, float]:
    """By budget. asked: evaluations that budgets.evaluations counts. searched_s: for how long was
    searched, None where it is not known. A budget without a rate yet is left out."""
    paid: dict[str, float] = {}
    if left.evaluations is not None:
        paid["evaluations"] = float(left.evaluations)
    if asked < LEAST_EVALUATIONS:
        return paid
    used = {
        "wall_time_s": searched_s or 0.0,
        "calls": calls.calls if calls else 0,
        "tokens": calls.tokens if calls else 0,
        "dollars": calls.dollars if calls else 0.0,
    }
    for name, spent in used.items():
        rest = getattr(left, name)
        if rest is not None and spent:
            paid[name] = asked * rest / spent
    return paid


def evaluations_left(whole: Replay) -> float | None:
    """By the budget that ends first; None: nothing tells yet."""
    paid = evaluations_paid(
        left_of(whole),
        asked=whole.scores.asked,
        searched_s=whole.searched_s,
        calls=whole.calls.totals.spending(),
    )
    return min(paid.values(), default=None)


def lasting_text(left: Left, *, asked: int, calls: Spending | None) -> str:
    """ "at this rate the dollars last for 230 more evaluations": of the budget of calls that ends
    the search; empty where none does, or none is known to."""
    paid = evaluations_paid(left, asked=asked, searched_s=None, calls=calls)
    if not paid:
        return ""
    first = min(paid, key=lambda name: paid[name])
    if first == "evaluations":
        return ""
    return f"at this rate the {first} last for {paid[first]:.0f} more evaluations"
