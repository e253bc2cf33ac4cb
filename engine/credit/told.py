"""What credit decides now, in one short line."""

from collections.abc import Mapping

MOST_ARMS = 4
"""Of a choice, those with the highest chances."""
LEAST = 0.005

Shares = Mapping[str, Mapping[str, float]]


def shares_text(shares: Shares) -> str:
    """ "tuning 55%, experiment 30%; writer: strong 93%, fast 7%": operators first, by their
    chances; choice -> arm -> chance. "" where credit decides nothing."""
    parts = [_arms(shares["operator"])] if "operator" in shares else []
    parts += [f"{choice}: {_arms(arms)}" for choice, arms in shares.items() if choice != "operator"]
    return "; ".join(parts)


def _arms(chances: Mapping[str, float]) -> str:
    ranked = sorted(chances.items(), key=lambda one: -one[1])[:MOST_ARMS]
    return ", ".join(f"{arm} {100 * chance:.0f}%" for arm, chance in ranked if chance >= LEAST)
