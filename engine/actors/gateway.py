"""How islands ask models: the gateway as an actor, and an island's way to it."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ray.actor import ActorHandle
from ray.exceptions import RayTaskError

from engine.actors.journal import StoreJournal, root_cause
from engine.actors.lifeline import Driver, live_with
from engine.config_errors import ConfigError
from engine.ending import CampaignFailed, Stopped
from engine.llm.config import Llm
from engine.llm.gateway import CallsOver, Gateway
from engine.llm.idea_book import IdeaBook
from engine.llm.preflight import preflight
from engine.llm.probe_book import ProbeBook
from engine.snapshot import Outage
from engine.store.kinds.ideas import IdeaEvent
from engine.store.kinds.probes import ProbeLog, ProbeWritten
from engine.store.spending import CallBudget, CallHistory, Spending
from operators.individual import Experiment, Idea
from operators.llm.question import (
    Failure,
    ModelUnavailable,
    Prompt,
    Reply,
    Request,
    Role,
    Unanswered,
)
from operators.operator import AskedProbe, ProbesLeft

QUESTIONS_AT_ONCE = 100_000
"""Ray's bound on calls of one actor that wait at the same time; the gateway has its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayState:
    """The gateway at a glance. over: why nothing is answered any more; empty while it is."""

    spending: Spending
    over: str
    outages: tuple[Outage, ...] = ()


def look_at_endpoints(config: Llm) -> None:
    """Before anything is started. Raises ConfigError: no key; CampaignFailed: no endpoint, no such
    model."""
    try:
        for name in config.models:
            config.key_of(name, os.environ)
    except ModelUnavailable as no_key:
        raise ConfigError(str(no_key)) from None
    try:
        asyncio.run(preflight(config))
    except ModelUnavailable as unavailable:
        raise CampaignFailed(str(unavailable)) from None


class GatewayActor:
    """The only process that holds keys; an unavailable model ends the campaign."""

    def __init__(self, writer: ActorHandle[Any], driver: Driver) -> None:
        live_with(driver)
        self._journal = StoreJournal(writer)
        self._gateway: Gateway | None = None
        self._ideas = IdeaBook(self._journal)
        self._probes = ProbeBook(self._journal)

    async def begin(
        self,
        config: Llm,
        budget: CallBudget,
        history: CallHistory,
        ideas: Sequence[IdeaEvent],
        shared: bool,
        environment: Mapping[str, str],
    ) -> None:
        """ideas: of the sessions before; shared: see IdeaBook. environment: the driver's variables
        that this process needs. Raises CampaignFailed: no key."""
        os.environ.update(environment)
        try:
            gateway = Gateway(config, budget, self._journal)
        except ModelUnavailable as unavailable:
            raise CampaignFailed(str(unavailable)) from None
        gateway.restore(history)
        self._ideas = IdeaBook(self._journal, shared=shared, earlier=ideas)
        self._gateway = gateway

    async def begin_probes(self, most: int, probes: ProbeLog) -> None:
        """See ProbeBook; probes: of the sessions before."""
        self._probes = ProbeBook(self._journal, most=most, log=probes)

    @property
    def _begun(self) -> Gateway:
        if self._gateway is None:
            raise CampaignFailed("a model was asked before the gateway began")
        return self._gateway

    async def complete(self, request: Request) -> Reply | Unanswered:
        """Raises CallsOver, CampaignFailed."""
        try:
            return await self._begun.complete(request)
        except ModelUnavailable as unavailable:
            raise CampaignFailed(str(unavailable)) from None

    async def claim(
        self, island: int, cycle: int, number: int, experiment: Experiment, again: bool
    ) -> Idea | None:
        return await self._ideas.claim(island, cycle, number, experiment, again=again)

    async def tell(self, island: int, cycle: int) -> tuple[Idea, ...]:
        return await self._ideas.tell(island, cycle)

    async def tell_probes(self, island: int, cycle: int) -> ProbesLeft:
        return await self._probes.tell(island, cycle)

    async def claim_probe(self, island: int, cycle: int, number: int, asked: AskedProbe) -> bool:
        return await self._probes.claim(island, cycle, number, asked)

    async def write_probe(self, event: ProbeWritten) -> bool:
        return await self._probes.write(event)

    async def turned_away(self, request: Request, kind: Failure, reason: str) -> None:
        self._begun.turned_away(request, kind, reason)

    async def pause(self, paused: bool) -> None:
        await self._begun.pause(paused=paused)

    async def stop(self, reason: str) -> None:
        self._begun.stop(reason)

    async def reopen(self) -> None:
        """For the campaign's own last question, after stop() or drain()."""
        self._begun.reopen()

    async def state(self) -> GatewayState:
        gateway = self._begun
        return GatewayState(
            spending=gateway.spending(), over=gateway.over, outages=gateway.outages.now()
        )

    async def drain(self) -> None:
        """Return when all that islands asked is settled and stored; nothing more is answered."""
        await self._drain(lasting=False)

    async def end(self) -> None:
        """The same of all that was asked, the campaign's own question too."""
        await self._drain(lasting=True)

    async def _drain(self, *, lasting: bool) -> None:
        self._begun.stop("the campaign has ended", lasting=lasting)
        await self._begun.settled(lasting=lasting)
        await self._journal.flush()


class GatewayModel:
    """What an island's operators ask."""

    def __init__(self, gateway: ActorHandle[Any], models: Mapping[Role, str]) -> None:
        """models: role -> a name in the configuration's models, where it is not the role's own."""
        self._gateway = gateway
        self._models = models

    async def complete(self, request: Request) -> Reply | Unanswered:
        """Raises Stopped when no further question is answered, and what ends the campaign."""
        named = replace(request, model=request.model or self._models.get(request.role, ""))
        try:
            outcome: Reply | Unanswered = await self._gateway.complete.remote(named)
        except RayTaskError as error:
            cause = root_cause(error)
            if isinstance(cause, CallsOver):
                raise Stopped from None
            raise cause from error
        return outcome

    async def claim(
        self,
        island: int,
        cycle: int,
        number: int,
        experiment: Experiment,
        *,
        again: bool,
    ) -> Idea | None:
        """See IdeaBook."""
        earlier: Idea | None = await self._gateway.claim.remote(
            island, cycle, number, experiment, again
        )
        return earlier

    async def tell(self, island: int, cycle: int) -> tuple[Idea, ...]:
        ideas: tuple[Idea, ...] = await self._gateway.tell.remote(island, cycle)
        return ideas

    def turned_away(self, request: Request, kind: Failure, reason: str) -> None:
        bare = replace(request, prompt=Prompt(messages=(), template=""), schema=None)
        self._gateway.turned_away.remote(bare, kind, reason)


class GatewayProbes:
    """An island's way to the book of probes; see ProbeBook."""

    def __init__(self, gateway: ActorHandle[Any]) -> None:
        self._gateway = gateway

    async def tell(self, island: int, cycle: int) -> ProbesLeft:
        left: ProbesLeft = await self._gateway.tell_probes.remote(island, cycle)
        return left

    async def claim(self, island: int, cycle: int, number: int, asked: AskedProbe) -> bool:
        return bool(await self._gateway.claim_probe.remote(island, cycle, number, asked))

    async def write(self, event: ProbeWritten) -> bool:
        return bool(await self._gateway.write_probe.remote(event))
