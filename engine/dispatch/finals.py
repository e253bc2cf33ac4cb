"""The final measurement: the best against the naive seed itself, and beside its runners-up."""

import time
from collections.abc import Sequence

from engine.dispatch.arena import Arena
from engine.dispatch.contests import Contests
from engine.dispatch.setting import DispatchSetting
from engine.store.kinds.contests import FinalMeasurement
from engine.store.scoreboard import Best, Scoreboard
from evaluators.measuring.intervals import Blocks, Sittings
from evaluators.measuring.sittings import LEAST, MOST, Sitting, busy_text

RUNNERS_UP = 3

TRIES = 4
"""Final measurements of a session: another one where the best lost its place in the last."""


class Finals:
    """Sittings apart in time, on one device and core after another, rivals in random order."""

    def __init__(
        self, setting: DispatchSetting, scores: Scoreboard, arena: Arena, contests: Contests
    ) -> None:
        self._setting, self._scores = setting, scores
        self._arena, self._contests = arena, contests

    async def finish(self, seed_id: str, seconds: float) -> None:
        """Store what the best is worth in the end.

        seconds: for contests that are left, one at least; and for its sittings, LEAST at least.
        Where nothing is timed there is nothing to do.
        """
        if not self._setting.timed:
            return
        await self._contests.pending(seconds)
        for _ in range(TRIES):
            best = self._scores.best
            if best is None or best.kernel_id == seed_id:
                return
            field = [one for one in self._arena.field() if one != seed_id][:RUNNERS_UP]
            with self._arena.staying(*field):
                if await self._once(best, seed_id, field, seconds):
                    return

    async def _once(self, best: Best, seed_id: str, field: Sequence[str], seconds: float) -> bool:
        """Whether the best is still that, and was measured."""
        held = await self._hold(best, seed_id, [seed_id, *field], seconds)
        right = all(one.verdict.passed for one in held)
        lost = await self._contests.settle(best, field, held, "end")
        measured = right and not lost and bool(_blocks(held, seed_id))
        if measured:
            await self._store(best, seed_id, field, held)
        return measured

    async def _hold(
        self, best: Best, seed_id: str, rivals: Sequence[str], seconds: float
    ) -> list[Sitting]:
        held: list[Sitting] = []
        until = time.monotonic() + seconds
        while len(held) < LEAST or time.monotonic() < until:
            turn = len(held)
            one = await self._arena.sit(best.kernel_id, rivals, check=False, turn=turn, to=turn)
            held.append(one)
            if not one.verdict.passed or len(held) == MOST:
                break
        return held

    async def _store(
        self, best: Best, seed_id: str, field: Sequence[str], held: Sequence[Sitting]
    ) -> None:
        spread, weights = self._setting.spread, self._scores.weights
        made = Sittings(_blocks(held, seed_id), spread, weights)
        estimate, *ci95 = made.ratio(0.95, later=True)
        _, *ci99 = made.ratio(0.99, later=True)
        beside = {one: _blocks(held, one) for one in field if _blocks(held, one)}
        event = FinalMeasurement(
            number=self._setting.session,
            kernel_id=best.kernel_id,
            speedup=estimate,
            ci95=(ci95[0], ci95[1]),
            ci99=(ci99[0], ci99[1]),
            sittings=made.count,
            rivals={
                one: Sittings(blocks, spread, weights).ratio(0.95)
                for one, blocks in beside.items()
                if blocks
            },
            busy=busy_text([one.pressure for one in held]),
            device_s=sum(one.seconds for one in held),
        )
        await self._setting.journal.commit(event)
        self._scores.apply(event)


def _blocks(held: Sequence[Sitting], rival_id: str) -> list[Blocks]:
    return [one.blocks[rival_id] for one in held if rival_id in one.blocks]
