"""What is left of a campaign's budgets, in words, and what ends it first."""

from engine.cli.spans import span
from engine.store.budget import Left


def left_text(left: Left, evaluations_per_s: float | None = None) -> str:
    """ "30 evaluations, 1200 s, 0.52 dollars; ends in about 12 min": said where the evaluations
    are spent before the time is, and some are left."""
    parts = []
    if left.evaluations is not None:
        parts.append(f"{left.evaluations} evaluations")
    if left.wall_time_s is not None:
        parts.append(f"{left.wall_time_s:.0f} s")
    if left.calls is not None:
        parts.append(f"{left.calls} calls")
    if left.tokens is not None:
        parts.append(f"{left.tokens} tokens")
    if left.dollars is not None:
        parts.append(f"{left.dollars:.2f} dollars")
    text = ", ".join(parts)
    if not left.evaluations or not evaluations_per_s:
        return text
    ends_s = left.evaluations / evaluations_per_s
    sooner = left.wall_time_s is None or ends_s < left.wall_time_s
    return f"{text}; ends in about {span(ends_s)}" if sooner else text


def ending_text(left: Left, evaluations_per_s: float | None, lasting: str) -> str:
    """What is left, and the one thing that ends it first: lasting, where a budget of calls does."""
    if not lasting:
        return left_text(left, evaluations_per_s)
    return f"{left_text(left)}; {lasting}"
