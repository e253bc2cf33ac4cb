"""The final measurement: the best against the naive seed itself, and beside its runners-up."""

import time
from collections.abc import Mapping, Sequence

from engine.dispatch.arena import Arena
from engine.dispatch.contests import Contests
from engine.dispatch.setting import DispatchSetting
from engine.store.kinds.contests import FinalMeasurement
from engine.store.scoreboard import Best, Scoreboard
from evaluators.evaluation import Beside, Evaluation
from evaluators.measuring.baselines import anchor_of, anchor_of_kernel, besides
from evaluators.measuring.intervals import Blocks, Sittings
from evaluators.measuring.policy import BaselineAnchor
from evaluators.measuring.sittings import LEAST, MOST, Sitting, busy_text
from evaluators.tasks.task import TaskError, read_text

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
        beside, refused = await self._baselines()
        held = await self._hold(best, [seed_id, *field], beside, seconds)
        right = all(one.verdict.passed for one in held)
        lost = await self._contests.settle(best, field, held, "end")
        measured = right and not lost and bool(_blocks(held, seed_id))
        if measured:
            spread, weights = self._setting.spread, self._scores.weights
            names = {one.kernel_id: one.name for one in beside}
            baselines = {**besides(held, names, spread, weights), **refused}
            await self._store(best, seed_id, field, held, baselines)
        return measured

    async def _baselines(self) -> tuple[list[BaselineAnchor], dict[str, Beside]]:
        """Those that the task names: to be raced with, and those that do not compile."""
        anchors: list[BaselineAnchor] = []
        refused: dict[str, Beside] = {}
        for one in self._setting.baselines:
            if one.kind != "kernel" and self._setting.info is not None:
                anchors.append(anchor_of(one, self._setting.info))
                continue
            try:
                made = await self._arena.compiled(read_text(one.file))
            except TaskError as error:
                refused[one.name] = Beside(refused=f"was refused: {error}")
                continue
            if isinstance(made, Evaluation):
                refused[one.name] = Beside(refused=f"was refused: {made.reason}")
            else:
                anchors.append(anchor_of_kernel(one, made.kernel, made.compiled))
        return anchors, refused

    async def _hold(
        self,
        best: Best,
        rivals: Sequence[str],
        beside: Sequence[BaselineAnchor],
        seconds: float,
    ) -> list[Sitting]:
        """A baseline that fails sits no more."""
        held: list[Sitting] = []
        until = time.monotonic() + seconds
        while len(held) < LEAST or time.monotonic() < until:
            turn = len(held)
            one = await self._arena.sit(
                best.kernel_id, rivals, check=False, turn=turn, to=turn, baselines=beside
            )
            held.append(one)
            beside = [rival for rival in beside if rival.kernel_id not in one.failed]
            if not one.verdict.passed or len(held) == MOST:
                break
        return held

    async def _store(
        self,
        best: Best,
        seed_id: str,
        field: Sequence[str],
        held: Sequence[Sitting],
        baselines: Mapping[str, Beside],
    ) -> None:
        spread, weights = self._setting.spread, self._scores.weights
        made = Sittings(_blocks(held, seed_id), spread, weights)
        estimate, *ci95 = made.ratio(0.95, later=True)
        _, *ci99 = made.ratio(0.99, later=True)
        raced = {one: _blocks(held, one) for one in field if _blocks(held, one)}
        event = FinalMeasurement(
            number=self._setting.session,
            kernel_id=best.kernel_id,
            speedup=estimate,
            ci95=(ci95[0], ci95[1]),
            ci99=(ci99[0], ci99[1]),
            sittings=made.count,
            rivals={
                one: Sittings(blocks, spread, weights).ratio(0.95) for one, blocks in raced.items()
            },
            busy=busy_text([one.pressure for one in held]),
            device_s=sum(one.seconds for one in held),
            gains=made.means(),
            baselines=baselines,
        )
        await self._setting.journal.commit(event)
        self._scores.apply(event)


def _blocks(held: Sequence[Sitting], rival_id: str) -> list[Blocks]:
    return [one.blocks[rival_id] for one in held if rival_id in one.blocks]
