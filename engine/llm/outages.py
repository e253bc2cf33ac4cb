"""Outages: which endpoints nothing listens at, since when, and who looks whether they are back."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.llm.backoff import backoff_s
from engine.snapshot import Outage
from operators.llm.call import NoReply
from operators.llm.question import Failure

if TYPE_CHECKING:
    from operators.llm.endpoint import Endpoint

TRIES_AT_FIRST_CONTACT = 3


@dataclass(slots=True)
class _Silence:
    """Of one endpoint. since: by the clock; looks: in vain, after the call that found it.

    looking: one question does; news: set when it has looked, or is gone.
    """

    since: float
    outage: Outage
    looks: int = 0
    looking: bool = False
    news: asyncio.Event = field(default_factory=asyncio.Event)


class Outages:
    """An endpoint may be away for outage_s once it has answered, else for a few tries.

    While it is away one question looks whether it is back, at growing intervals; the others wait.
    """

    def __init__(self, outage_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._outage_s, self._clock = outage_s, clock
        self._known: set[Endpoint] = set()  # those that answered once
        self._away: dict[Endpoint, _Silence] = {}
        self._ended = asyncio.Event()

    def answered(self, endpoint: "Endpoint") -> None:
        """A call was answered. It may be older than an outage, so only a look ends that."""
        self._known.add(endpoint)

    def knows(self, endpoint: "Endpoint") -> bool:
        """Whether it answered once."""
        return endpoint in self._known

    def failed(self, endpoint: "Endpoint") -> bool:
        """Nothing listened; whether to wait no longer."""
        if endpoint not in self._away:
            at = time.time()
            outage = Outage(base_url=endpoint.base_url, since=at, until=at + self._outage_s)
            self._away[endpoint] = _Silence(self._clock(), outage)
        if endpoint not in self._known:
            return 1 + self._away[endpoint].looks >= TRIES_AT_FIRST_CONTACT
        return self._left_s(endpoint) <= 0

    def now(self) -> tuple[Outage, ...]:
        """The longest one first."""
        return tuple(one.outage for place, one in self._away.items() if place in self._known)

    def end(self) -> None:
        """Let all that wait go on: nothing is asked any more."""
        self._ended.set()

    def begin(self) -> None:
        """Let questions wait again, after end()."""
        self._ended.clear()

    @asynccontextmanager
    async def place(
        self, endpoint: "Endpoint", places: asyncio.Semaphore, payable: Callable[[], bool]
    ) -> AsyncIterator[NoReply | None]:
        """A place among the calls in flight, once the endpoint is there; who waits holds none.

        payable: whether the call may be paid for; nobody waits with one that may not. Where the
        endpoint is no longer waited for: what the last look said, without a place.
        """
        while True:
            async with places:
                if endpoint not in self._away or self._ended.is_set() or not payable():
                    yield None
                    return
            if absent := await self._wait(endpoint):
                yield absent
                return

    async def _wait(self, endpoint: "Endpoint") -> NoReply | None:
        """Until there is news, looking oneself where nobody does; see place() for the rest."""
        silence = self._away[endpoint]
        if silence.looking:
            await silence.news.wait()
            return None
        silence.looking = True
        try:
            return await self._look(endpoint)
        finally:
            silence.looking = False
            silence.news.set()
            silence.news = asyncio.Event()

    async def _look(self, endpoint: "Endpoint") -> NoReply | None:
        """After a pause; what was said, where the endpoint is no longer waited for."""
        if await self._ended_within(self._pause_s(endpoint)):
            return None
        absent = await _absent(endpoint)
        if absent is None:
            self._known.add(endpoint)
            del self._away[endpoint]
            return None
        self._away[endpoint].looks += 1
        return absent if self.failed(endpoint) else None

    def _pause_s(self, endpoint: "Endpoint") -> float:
        """The last look comes when the wait is over."""
        grown = backoff_s(1 + self._away[endpoint].looks, None)
        return min(grown, self._left_s(endpoint)) if endpoint in self._known else grown

    def _left_s(self, endpoint: "Endpoint") -> float:
        return self._outage_s - (self._clock() - self._away[endpoint].since)

    async def _ended_within(self, pause_s: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(pause_s):
                await self._ended.wait()
        return self._ended.is_set()


async def _absent(endpoint: "Endpoint") -> NoReply | None:
    """None: something answers. A list of models costs nothing and comes at once, unlike a reply."""
    try:
        await endpoint.models()
    except NoReply as failed:
        return failed if failed.kind is Failure.UNREACHABLE else None
    return None
