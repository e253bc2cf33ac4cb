"""Gateway: the one way to the models; the only holder of keys and of the calls' budget."""

import asyncio
import os
from collections.abc import Mapping
from functools import partial

from engine.llm.backoff import backoff_s
from engine.llm.booking import Booking, most
from engine.llm.config import Llm
from engine.llm.open_questions import OpenQuestions, cancelled_itself
from engine.llm.outages import Outages
from engine.llm.preflight import endpoints
from engine.llm.too_long import TooLong
from engine.store.attempts import Attempts
from engine.store.kinds.calls import (
    CallFailed,
    CallJournal,
    CallReplied,
    CallReserved,
    GivenUp,
    TurnedAway,
)
from engine.store.spending import CallBudget, CallHistory, Spending, SpendingTotals
from operators.llm.call import NoReply
from operators.llm.question import (
    CAMPAIGN,
    FATAL,
    RETRIED,
    Failure,
    ModelUnavailable,
    Reply,
    Request,
    Unanswered,
)

MOST_UNSUPPORTED = 12
"""Options and roles that one question may find refused, before it is given up."""


class CallsOver(Exception):
    """No further question is answered: the budget is spent, or the campaign ends. One sentence."""


class Gateway:
    """Answers questions: from what is stored, else by calls within the budget."""

    def __init__(
        self,
        config: Llm,
        budget: CallBudget,
        journal: CallJournal,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """Raises ModelUnavailable when a key's variable is not set."""
        self._config = config
        self._journal = journal
        self._budget = budget
        self._totals = SpendingTotals()
        self._endpoints = endpoints(config, environment)
        self.outages = Outages(config.outage_s)
        self._paused = False
        self._slots = asyncio.Semaphore(config.concurrency)
        self._settled = asyncio.Condition()
        self._outcomes: dict[str, Reply | Unanswered] = {}  # stored by a session before, unused
        self._attempts = Attempts()
        self._too_long = TooLong()
        self._counted: set[str] = set()  # turned away by a session before
        self._over: CallsOver | ModelUnavailable | None = None  # for all questions from now on
        self._stopped: CallsOver | None = None  # that, where stop() was the reason
        self._open = OpenQuestions()

    # --- life -----------------------------------------------------------------------------------

    def restore(self, history: CallHistory) -> None:
        """Go on where former sessions ended. What was in flight is lost, and stays spent."""
        self._totals = history.totals
        self._totals.write_off()
        self._outcomes = history.outcomes
        self._counted = history.turned_away
        self._attempts = history.attempts

    def stop(self, reason: str, *, lasting: bool = False) -> None:
        """Answer nothing from now on; calls in flight are cut off, and count as far as they came.

        The campaign's own are answered still, or are cut off too (lasting). Where something else
        stopped it before, that stays the reason.
        """
        self._stopped = self._stopped or CallsOver(reason)
        self._end(self._stopped)
        self._open.cut(lasting=lasting)

    def reopen(self) -> None:
        """Answer again after stop(). What else ended it, as a spent budget, ends it still."""
        if self._over is self._stopped:
            self._over = self._stopped = None
            self.outages.begin()

    def _end(self, why: CallsOver | ModelUnavailable) -> CallsOver | ModelUnavailable:
        """What all questions are told from now on: why, unless something else came before."""
        self._over = self._over or why
        self.outages.end()
        return self._over

    async def pause(self, *, paused: bool) -> None:
        """Make no call until it is taken back, or stop(); those in flight are answered."""
        async with self._settled:
            self._paused = paused
            self._settled.notify_all()

    @property
    def over(self) -> str:
        """Why nothing is answered any more; empty while it is."""
        return str(self._over or "")

    def spending(self) -> Spending:
        return self._totals.spending()

    async def settled(self, *, lasting: bool = False) -> None:
        """Return when nothing is asked any more: after stop(), that every call is accounted for.

        lasting: the campaign's own too.
        """
        await self._open.ended(lasting=lasting)

    async def close(self) -> None:
        for endpoint in set(self._endpoints.values()):
            await endpoint.close()

    # --- questions ------------------------------------------------------------------------------

    async def complete(self, request: Request) -> Reply | Unanswered:
        """The stored outcome, else a new one. Raises CallsOver, ModelUnavailable."""
        if request.key in self._outcomes:
            return self._outcomes[request.key]
        if self._over:
            raise self._over
        try:
            own = request.island == CAMPAIGN
            return await self._open.answer(self._answer(request), lasting=own)
        except asyncio.CancelledError:
            if self._over and not cancelled_itself():
                raise self._over from None  # by stop()
            raise

    async def _answer(self, request: Request) -> Reply | Unanswered:
        failed = unsupported = 0
        while True:
            if self._over:
                raise self._over
            outcome = await self._attempt(request)
            if isinstance(outcome, Reply):
                self._attempts.close(request.key)
                return outcome
            if self._over:
                raise self._over
            if outcome.kind is Failure.UNSUPPORTED_OPTION and unsupported < MOST_UNSUPPORTED:
                unsupported += 1
                continue
            if outcome.kind is Failure.UNREACHABLE:
                self._check_outage(request, outcome)
            elif outcome.kind not in RETRIED or failed >= self._config.retries:
                return await self._give_up(request, outcome, failed + 1)
            else:
                failed += 1
                await asyncio.sleep(backoff_s(failed, outcome.retry_after_s))

    def turned_away(self, request: Request, kind: Failure, reason: str) -> None:
        """Count a reply that an operator could not use; once, also when it is read again."""
        if request.key in self._counted:
            return
        event = TurnedAway(
            island=request.island,
            cycle=request.cycle,
            request=request.key,
            failure=kind,
            reason=reason,
        )
        self._totals.take(event)
        self._journal.post(event)

    async def _attempt(self, request: Request) -> Reply | NoReply:
        """One call: reserved, made, settled. None of an endpoint that is away for too long."""
        name = self._model_of(request)
        model, endpoint = self._config.models[name], self._endpoints[name]
        tokens, dollars = most(request, model)
        payable = partial(self._totals.payable, self._budget, name, tokens=tokens, dollars=dollars)
        async with self.outages.place(endpoint, self._slots, payable) as absent:
            if self._over:
                raise self._over
            if absent is not None:
                return absent
            reserved = await self._reserve(request, name, tokens, dollars)
            booking = Booking(reserved, request, model)

            def lost(kind: Failure, reason: str) -> CallFailed:
                return booking.failed(kind, reason, hidden=not self._totals.shows_all(name))

            try:
                await self._journal.commit(reserved)
                options = self._config.options(name, request.island)
                reply = await endpoint.call(request, options, booking.send())
            except NoReply as failed:
                if failed.kind is not Failure.UNREACHABLE:
                    self.outages.answered(endpoint)
                event = lost(failed.kind, failed.reason)
                self._attempts.take(event)
                await self._settle(event)
                return failed
            except asyncio.CancelledError:
                event = lost(Failure.CANCELLED, "the campaign ended first")
                self._totals.take(event)
                self._journal.post(event)
                async with self._settled:
                    self._settled.notify_all()
                raise
            self.outages.answered(endpoint)
            replied = booking.replied(reply, self._attempts.vain(request.key))
            await self._settle(replied)
            return replied.reply

    async def _reserve(
        self, request: Request, name: str, tokens: int, dollars: float
    ) -> CallReserved:
        """Wait until the call may be made, and count it as spent. Raises CallsOver."""
        async with self._settled:
            shortage = partial(
                self._totals.shortage, self._budget, name, tokens=tokens, dollars=dollars
            )
            while (short := shortage()) or self._paused:
                if short and not self._totals.in_flight:
                    self._end(CallsOver(short))
                if self._over:
                    self._settled.notify_all()
                    raise self._over
                await self._settled.wait()
            tokens, dollars = self._totals.reckoned(name, tokens, dollars)
            reserved = CallReserved(
                island=request.island,
                cycle=request.cycle,
                request=request.key,
                number=self._attempts.calls(request.key),
                role=request.role,
                model=name,
                prompt_hash=request.prompt_hash,
                template=request.prompt.template,
                tokens=tokens,
                dollars=dollars,
                prompt=request.prompt.messages if self._config.keep_prompts else (),
            )
            self._attempts.take(reserved)
            self._totals.take(reserved)
            return reserved

    async def _settle(self, event: CallReplied | CallFailed) -> None:
        with self._open.uncut():
            await self._journal.commit(event)
            async with self._settled:
                self._totals.take(event)
                self._settled.notify_all()

    async def _give_up(self, request: Request, failed: NoReply, calls: int) -> Unanswered:
        name, answered = self._model_of(request), self._totals.answered
        if failed.kind in FATAL or self._too_long.never_fits(request, name, failed, answered):
            raise self._end(ModelUnavailable(failed.reason))
        times = f" ({calls} calls)" if calls > 1 else ""
        reason = f"{failed.reason}{times}"
        event = GivenUp(
            island=request.island,
            cycle=request.cycle,
            request=request.key,
            failure=failed.kind,
            reason=reason,
            vain=self._attempts.vain(request.key),
        )
        with self._open.uncut():
            await self._journal.commit(event)
        self._attempts.close(request.key)
        return event.outcome

    def _model_of(self, request: Request) -> str:
        return self._config.model_name(request.role, request.model, request.island)

    def _check_outage(self, request: Request, failed: NoReply) -> None:
        endpoint = self._endpoints[self._model_of(request)]
        if not self.outages.failed(endpoint):
            return
        if self.outages.knows(endpoint):
            away_s = self._config.outage_s
            raise self._end(
                CallsOver(
                    f"nothing answers at {endpoint.base_url}, and did not for {away_s:g} s: start "
                    "the server there again"
                )
            )
        raise self._end(ModelUnavailable(failed.reason))
