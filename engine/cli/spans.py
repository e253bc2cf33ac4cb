"""Spans of time as a person reads them."""

import time


def span(seconds: float) -> str:
    """ "8 s", "12 min", "3.5 h", "9 days": in the unit that fits, and no more digits than help."""
    if seconds < 99.5:
        return f"{max(0.0, seconds):.0f} s"
    for unit, name in ((60, "min"), (3600, "h")):
        value = seconds / unit
        if value < 9.95 and name == "h":
            return f"{value:.1f} h"
        if value < 99.5:
            return f"{value:.0f} {name}"
    return f"{seconds / 86400:.0f} days"


def ago(at: float, now: float | None = None) -> str:
    """ "12 s ago". at, now: seconds since 1970."""
    return f"{span((time.time() if now is None else now) - at)} ago"
