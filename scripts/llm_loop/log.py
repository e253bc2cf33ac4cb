"""A run of the LLM loop, looked at afterwards: its store, its endpoint's log, its samples."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from engine.store.events import Drafted, EpochStarted, Evaluated
from engine.store.kinds.contests import Contested
from engine.store.kinds.profiles import Profiled
from engine.store.kinds.sessions import SearchEnded, SearchStarted, SessionStarted
from engine.store.store import Stored
from scripts.scripted_model.server import Logged

Interval = tuple[float, float]


@dataclass(frozen=True)
class Log:
    """events: of the whole store. calls: what the endpoint saw. samples: of the driver."""

    events: Sequence[Stored]
    calls: Sequence[Logged]
    samples: Sequence[Mapping[str, Any]]
    devices: int = 1

    def of(self, kind: type[Any]) -> list[tuple[float, Any]]:
        return [(one.at, one.event) for one in self.events if isinstance(one.event, kind)]

    @cached_property
    def evaluated(self) -> dict[str, tuple[float, Evaluated]]:
        """First verdicts, by kernel id."""
        found: dict[str, tuple[float, Evaluated]] = {}
        for at, event in self.of(Evaluated):
            found.setdefault(event.evaluation.kernel_id, (at, event))
        return found

    @cached_property
    def drafted(self) -> dict[str, tuple[float, Drafted]]:
        return {event.key: (at, event) for at, event in self.of(Drafted)}

    @cached_property
    def searching(self) -> list[Interval]:
        """When sessions searched, from the seed's verdict on; the gap after a kill is left out."""
        seed_at = min((at for at, _ in self.evaluated.values()), default=math.inf)
        spans: list[Interval] = []
        for number, begin in ((event.number, at) for at, event in self.of(SearchStarted)):
            ends = [at for at, event in self.of(SearchEnded) if event.number == number]
            next_at = min(
                (at for at, event in self.of(SessionStarted) if event.number > number),
                default=math.inf,
            )
            own = [one.at for one in self.events if begin <= one.at < next_at]
            span = max(begin, seed_at), min([*ends, max(own)])
            if span[1] > span[0]:
                spans.append(span)
        return spans


def held(log: Log) -> list[tuple[str, Interval]]:
    """(what for, when) a device was held, as the stored events tell."""
    origins = origins_of(log)
    found = [
        (
            "mutations" if origins.get(e.evaluation.kernel_id) == "mutation" else "candidates",
            (at - e.evaluation.seconds.get("device", 0.0), at),
        )
        for at, e in log.of(Evaluated)
    ]
    others: tuple[tuple[str, type[Any]], ...] = (
        ("anchors", EpochStarted),
        ("contests", Contested),
        ("profiles", Profiled),
    )
    for use, kind in others:
        found += [(use, (at - event.device_s, at)) for at, event in log.of(kind)]
    return found


def origins_of(log: Log) -> dict[str, str]:
    """How each kernel was drafted first."""
    found: dict[str, str] = {}
    for _, event in log.of(Drafted):
        found.setdefault(event.kernel_id, event.origin)
    return found


def overlap(first: Interval, second: Interval) -> float:
    return max(0.0, min(first[1], second[1]) - max(first[0], second[0]))
