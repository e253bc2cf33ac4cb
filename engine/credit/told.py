"""What credit decides now, in one short line."""

from collections.abc import Mapping

from engine.credit.choices import AVENUE, OPERATOR

MOST_ARMS = 4
"""Of a choice, those with the highest chances."""
LEAST = 0.005

Shares = Mapping[str, Mapping[str, float]]


def shares_text(shares: Shares) -> str:
    """ "tuning 55%, experiment 30%; writer: strong 93%, fast 7%": operators, then models; avenues
    are too many for a line. shares: choice -> arm -> chance. "" where credit decides nothing."""
    parts = [_arms(shares[OPERATOR])] if OPERATOR in shares else []
    models = (choice for choice in shares if choice not in (OPERATOR, AVENUE))
    parts += [f"{choice}: {_arms(shares[choice])}" for choice in models]
    return "; ".join(parts)


def _arms(chances: Mapping[str, float]) -> str:
    ranked = sorted(chances.items(), key=lambda one: -one[1])[:MOST_ARMS]
    return ", ".join(f"{arm} {100 * chance:.0f}%" for arm, chance in ranked if chance >= LEAST)
