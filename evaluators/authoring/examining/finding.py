"""What was found of a task: one sentence each, how much it matters, and what to do."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["wrong", "weak", "note"]
"""wrong: no campaign means anything before it is mended. weak: a wrong kernel may win, or a right
one be refused. note: to know."""
SEVERITIES: tuple[Severity, ...] = ("wrong", "weak", "note")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """part: what was looked at, in a word. advice: what to do; "" for nothing."""

    severity: Severity
    part: str
    found: str
    advice: str = ""


def wrong(part: str, found: str, advice: str = "") -> Finding:
    return Finding(severity="wrong", part=part, found=found, advice=advice)


def weak(part: str, found: str, advice: str = "") -> Finding:
    return Finding(severity="weak", part=part, found=found, advice=advice)


def note(part: str, found: str, advice: str = "") -> Finding:
    return Finding(severity="note", part=part, found=found, advice=advice)
