"""Contests: what seems faster than the best is measured again, apart, before it is announced."""

import asyncio
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.dispatch.allowance import LARGE_SHARE, SHARE, Allowance
from engine.dispatch.arena import Arena
from engine.dispatch.setting import DispatchSetting
from engine.dispatch.workbench import Built, overruled
from engine.store.events import Evaluated
from engine.store.kinds.contests import Contested, Outcome, Why
from engine.store.scoreboard import Best, Scoreboard
from evaluators.evaluation import Verdict
from evaluators.measuring.intervals import Blocks, Ratio, Sittings, half_width, product
from evaluators.measuring.sittings import Sitting

LOOKS = (1, 3, 6)
"""After so many sittings a contest may be decided; the last of them ends it. One is enough for
a kernel that is far ahead; few looks keep the confidence what it says (Armitage et al., Repeated
Significance Tests on Accumulating Data, JRSS A 1969)."""

DOUBT = 0.01
"""What no gain may be worth: 99% confidence for the first that challenges a best, and for the
k-th in a row that does DOUBT / k, as many tries find some luck (alpha spending; Foster and Stine,
Alpha-Investing, JRSS B 2008)."""

SEEMS = 0.8
"""The confidence at which the search's own blocks must exclude no gain: a weak one."""

REMATCHES_FROM = 64
"""Evaluations before the first rematch; their number doubles from one to the next."""

REMATCH_SITTINGS = 3

JUMP = math.log(1.5)
"""A lead that is worth a contest soon; smaller ones wait until there is more time for them."""

PENDING = 8
"""Of the fastest, how many may still have their contest when the search has ended."""

FAILURES = 3
"""Sittings in a row in which the best fails, before its verdict is withdrawn."""


class Contests:
    """Who is the best. One contest at a time: the next is against whoever won."""

    def __init__(self, setting: DispatchSetting, scores: Scoreboard, arena: Arena) -> None:
        self._setting, self._scores, self._arena = setting, scores, arena
        self._allowance = Allowance(lambda: setting.devices, arena.asked_s, setting.pause)
        self._turn = asyncio.Lock()
        self._waiting: set[str] = set()
        self._failures = 0
        self._next_rematch = REMATCHES_FROM

    def begin(self) -> None:
        """Rematches that an earlier session held are not held again."""
        while self._next_rematch <= self._scores.by_status.total():
            self._next_rematch *= 2
        self._allowance.begin()

    def stop(self) -> None:
        """The search is over: what waits for its contest is left to pending()."""
        self._allowance.end()

    def seems_faster(self, kernel_id: str) -> bool:
        """Whether it is worth a contest: neither noise of blocks nor many tries explain its lead.

        Of m equal kernels the luckiest seems ahead by about sqrt(2 ln m) standard deviations.
        """
        evaluation, lead = self._scores.evaluations[kernel_id], self._scores.lead(kernel_id)
        if not evaluation.passed or lead <= 0 or kernel_id in self._scores.titles.settled:
            return False
        if not evaluation.timed:  # costs need no race
            return False
        tries = 2 * math.log1p(self._scores.titles.lost)
        luck = self._setting.spread.of_sittings(lead) * math.sqrt(tries)
        return lead > luck + half_width(evaluation.blocks, SEEMS, weights=evaluation.weights)

    async def challenge(self, kernel_id: str) -> Built | None:
        """Let a kernel race the best, or, of those that wait, the one that is furthest ahead.

        It waits until contests have taken no more than a share of the devices' time, a larger one
        where it is far ahead. Returns the new best, if one came of it.
        """
        with self._arena.staying(kernel_id):
            self._waiting.add(kernel_id)
            while await self._allowance.due(self._share_for(kernel_id)):
                async with self._turn:
                    if not self._allowance.due_in(self._share_for(kernel_id)):
                        return await self._furthest()
            self._waiting.discard(kernel_id)
            return None

    async def pending(self, seconds: float) -> None:
        """Challenge for those that an earlier session, or a stop, left without a contest: for the
        fastest, and for others until the seconds are over."""
        until = time.monotonic() + seconds
        for kernel_id in self._scores.ranked(PENDING):
            if self._arena.knows(kernel_id) and self.seems_faster(kernel_id):
                with self._arena.staying(kernel_id):
                    async with self._turn:
                        self._waiting.add(kernel_id)
                        await self._furthest()
                if time.monotonic() >= until:
                    return

    def rematch_is_due(self) -> bool:
        """True asks for rematch(), and only once for each number of evaluations."""
        if not self._setting.timed or self._scores.by_status.total() < self._next_rematch:
            return False
        self._next_rematch *= 2
        return True

    async def rematch(self) -> bool:
        """Measure the best and the next few together; whether one of them takes its place.

        Like a small lead it waits until there is time for it.
        """
        while await self._allowance.due():
            async with self._turn:
                if not self._allowance.due_in():
                    return await self._rematch()
        return False

    async def settle(
        self, best: Best, field: Sequence[str], held: Sequence[Sitting], why: Why
    ) -> bool:
        """What sittings of the best beside its rivals amount to: whether it lost its place."""
        wrong = next((one.verdict for one in held if not one.verdict.passed), None)
        if wrong is not None:
            await self._failed(best.kernel_id, wrong)
            return False
        turned = {one: [_turned(sitting, best.kernel_id, one) for sitting in held] for one in field}
        leads = {one: self._lead(_blocks(turned[one], best.kernel_id)) for one in field}
        ahead = max(field, key=lambda one: leads[one], default="")
        if not ahead or leads[ahead] <= 0:
            return False
        more = await self._race(ahead, best.kernel_id, turned[ahead])
        return await self._decide(ahead, best, [*turned[ahead], *more], why)

    # --- how a contest goes ----------------------------------------------------------------------

    def _share_for(self, kernel_id: str) -> float:
        return LARGE_SHARE if self._scores.lead(kernel_id) >= JUMP else SHARE

    async def _furthest(self) -> Built | None:
        """The contest of the one that is furthest ahead of those that wait."""
        first = max(self._waiting, key=self._scores.lead, default="")
        self._waiting.discard(first)
        won = bool(first) and await self._challenge(first)
        return self._arena.built(first) if won else None

    async def _rematch(self) -> bool:
        best, field = self._scores.best, self._arena.field()
        if best is None or not field:
            return False
        with self._arena.staying(best.kernel_id, *field):
            held = [
                await self._arena.sit(best.kernel_id, field, check=False, turn=turn)
                for turn in range(REMATCH_SITTINGS)
            ]
            return await self.settle(best, field, held, "rematch")

    async def _challenge(self, kernel_id: str) -> bool:
        best = self._scores.best
        if best is None or best.kernel_id == kernel_id or not self.seems_faster(kernel_id):
            return False
        held = await self._race(kernel_id, best.kernel_id, [])
        return await self._decide(kernel_id, best, held, "contender")

    async def _race(self, kernel_id: str, rival_id: str, before: list[Sitting]) -> list[Sitting]:
        """Sittings until a look decides. One checks the kernel on every shape: where it is far
        ahead the first, else one more, since few of the others win."""
        held: list[Sitting] = []
        checked = self._scores.lead(kernel_id) >= JUMP
        for turn in range(1, 1 + LOOKS[-1]):
            check = checked and not held
            held.append(await self._arena.sit(kernel_id, [rival_id], check=check, turn=turn))
            if _failed(held[-1], rival_id) or self._decided(_blocks([*before, *held], rival_id)):
                break
        if not checked and self._would_win([*before, *held], rival_id):
            turn = len(held) + 1
            held.append(await self._arena.sit(kernel_id, [rival_id], check=True, turn=turn))
        return held

    def _would_win(self, held: Sequence[Sitting], rival_id: str) -> bool:
        if _failed(held[-1], rival_id):
            return False
        return self._sittings(_blocks(held, rival_id)).wins(self._confidence)

    def _decided(self, blocks: Sequence[Blocks]) -> bool:
        made = self._sittings(blocks)
        if made.ln_ratio <= 0:
            return True
        if made.count not in LOOKS:
            return made.count > LOOKS[-1]
        hopeless = made.count > 1 and made.ln_ratio < made.error()
        return hopeless or made.wins(self._confidence)

    @property
    def _confidence(self) -> float:
        return 1 - DOUBT / (1 + self._scores.titles.lost)

    async def _decide(self, kernel_id: str, best: Best, held: list[Sitting], why: Why) -> bool:
        """Store how it ended, and what follows from it."""
        if best.kernel_id in held[-1].failed:
            await self._failed(best.kernel_id, held[-1].failed[best.kernel_id])
            return False
        self._failures = 0
        verdict = next((one.verdict for one in held if not one.verdict.passed), None)
        if verdict is not None:
            await self._overrule(kernel_id, verdict)
        event = self._contested(kernel_id, best, held, why, verdict)
        await self._setting.journal.commit(event)
        self._scores.apply(event)
        return event.outcome == "won"

    def _contested(
        self, kernel_id: str, best: Best, held: list[Sitting], why: Why, verdict: Verdict | None
    ) -> Contested:
        event = Contested(
            number=self._scores.titles.contests,
            kernel_id=kernel_id,
            rival_id=best.kernel_id,
            why=why,
            outcome="wrong",
            reason=verdict.reason if verdict else "",
            sittings=len(held),
            device_s=sum(one.seconds for one in held),
        )
        if verdict is not None:
            return event
        made = self._sittings(_blocks(held, best.kernel_id))
        outcome: Outcome = "won" if made.wins(self._confidence) else "not shown"
        event = replace(event, outcome=outcome, ratio=made.ratio(0.99))
        if outcome == "not shown":
            return event
        estimate, *ci95 = product(_figure(best, 0.95), made.ratio(0.95))
        _, *ci99 = product(_figure(best, 0.99), made.ratio(0.99))
        return replace(
            event,
            gains=made.means(),
            speedup=estimate,
            ci95=(ci95[0], ci95[1]),
            ci99=(ci99[0], ci99[1]),
        )

    async def _failed(self, kernel_id: str, verdict: Verdict) -> None:
        """The best itself failed: after a few in a row the one before it is the best again."""
        self._failures += 1
        if self._failures >= FAILURES and kernel_id not in self._scores.anchors[:1]:
            self._failures = 0
            await self._overrule(kernel_id, verdict)

    async def _overrule(self, kernel_id: str, verdict: Verdict) -> None:
        """Its earlier verdict counts no more, for the store and for the islands."""
        number = self._scores.next_number(kernel_id)
        evaluation = overruled(self._scores.evaluations[kernel_id], verdict)
        event = Evaluated(evaluation=evaluation, number=number)
        await self._setting.journal.commit(event)
        self._scores.apply(event)
        self._setting.revised(number, evaluation)

    def _lead(self, blocks: Sequence[Blocks]) -> float:
        """ln of how far ahead a kernel was, less a standard error."""
        if not blocks:
            return -math.inf
        made = self._sittings(blocks)
        return made.ln_ratio - made.error()

    def _sittings(self, blocks: Sequence[Blocks]) -> Sittings:
        return Sittings(blocks, self._setting.spread, self._scores.weights)


def _blocks(held: Sequence[Sitting], rival_id: str) -> list[Blocks]:
    return [one.blocks[rival_id] for one in held if rival_id in one.blocks]


def _failed(sitting: Sitting, rival_id: str) -> bool:
    """Whether either of the two did."""
    return not sitting.verdict.passed or rival_id in sitting.failed


def _turned(sitting: Sitting, best_id: str, rival_id: str) -> Sitting:
    """A sitting of the best as one of its rival, which was raced there and not checked."""
    values: Mapping[str, Sequence[float]] = sitting.blocks.get(rival_id, {})
    blocks = {label: tuple(-value for value in one) for label, one in values.items()}
    return replace(sitting, blocks={best_id: blocks} if blocks else {}, failed={})


def _figure(best: Best, level: float) -> Ratio:
    low, high = (best.ci95 if level < 0.99 else best.ci99) or (best.speedup, best.speedup)
    return best.speedup, low, high
