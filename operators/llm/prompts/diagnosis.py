"""A few lines on one kernel: what a profiler measured, what its compiler tells, what to try."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

LINES = 10
LINE_CHARACTERS = 480
MEASURED = "measured by a profiler on the largest shape: "
EXECUTED = "counted in emulation: "


class Built(Protocol):
    """An Evaluation, with advice on what was executed in emulation, or what was only compiled."""

    @property
    def resources(self) -> tuple[Mapping[str, Any], ...]: ...


def diagnosis(
    built: Built, profile_advice: Sequence[str] = (), limit: int = LINES
) -> tuple[str, ...]:
    """At most limit lines, each sentence once: first what was measured, then what to change, then
    plain facts, for the first of which there is always room.

    Kernels in an old store have advice without facts, or neither.
    """
    facts = list(dict.fromkeys(_facts(built)))
    said = [MEASURED + sentence for sentence in profile_advice]
    said += [EXECUTED + sentence for sentence in getattr(built, "advice", ())]
    said += [sentence for one in built.resources for sentence in one.get("advice", ())]
    urgent = list(dict.fromkeys(said))[: limit - bool(facts)]
    return tuple(_line(sentence) for sentence in (*urgent, *facts)[:limit])


def _facts(built: Built) -> Iterator[str]:
    for one in built.resources:
        name = one.get("kernel", "").partition(" [")[0]
        for fact in one.get("facts", ()):
            yield f"{name}: {fact}" if name else fact


def _line(sentence: str) -> str:
    line = " ".join(sentence.split())
    return line if len(line) <= LINE_CHARACTERS else line[: LINE_CHARACTERS - 3] + "..."
