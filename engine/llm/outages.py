"""Outages: which endpoints nothing listens at, since when, and how long they are waited for."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.snapshot import Outage

if TYPE_CHECKING:
    from operators.llm.endpoint import Endpoint

TRIES_AT_FIRST_CONTACT = 3


class Outages:
    """An endpoint may be away for outage_s once it has answered, else for a few tries."""

    def __init__(self, outage_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._outage_s, self._clock = outage_s, clock
        self._known: set[Endpoint] = set()  # those that answered once
        self._away: dict[Endpoint, tuple[float, Outage]] = {}  # since when, by the clock

    def answered(self, endpoint: "Endpoint") -> None:
        self._known.add(endpoint)
        self._away.pop(endpoint, None)

    def failed(self, endpoint: "Endpoint", tries: int) -> bool:
        """Nothing listened, at so many tries of one question; whether to wait no longer."""
        if endpoint not in self._known:
            return tries >= TRIES_AT_FIRST_CONTACT
        now = self._clock()
        if endpoint not in self._away:
            since = time.time()
            outage = Outage(base_url=endpoint.base_url, since=since, until=since + self._outage_s)
            self._away[endpoint] = now, outage
        return now - self._away[endpoint][0] >= self._outage_s

    def now(self) -> tuple[Outage, ...]:
        """The longest one first."""
        return tuple(outage for _, outage in self._away.values())
