"""Contests: what wins is confirmed, what loses its place is told, and a kill loses nothing."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine.dispatch.workbench import Broken, Built
from engine.store.events import EpochStarted, Evaluated, Event, from_row, to_row
from engine.store.kinds.contests import Contested, FinalMeasurement
from engine.store.scoreboard import Scoreboard
from evaluators.evaluation import Evaluation, Status, Verdict
from evaluators.measuring.sittings import MOST, Sitting
from tests.engine.dispatch.test_dispatcher import (
    SEED,
    SEED_ID,
    MemoryJournal,
    ScriptedLane,
    dispatcher,
    kernel,
    of_blocks,
    passed,
)

FAST, SECOND = kernel(1), kernel(2)


class RacingLane(ScriptedLane):
    """Sittings may see other speeds than the search does."""

    def __init__(self, speedups: dict[str, float], name: str = "device 0") -> None:
        super().__init__(speedups, name)
        self.truly: dict[str, float] = {}

    async def sit(self, built: Built, rivals: Sequence[Any], check: bool, turn: int) -> Sitting:
        found, self.speedups = self.speedups, {**self.speedups, **self.truly}
        try:
            return await super().sit(built, rivals, check, turn)
        finally:
            self.speedups = found


def replayed(events: Sequence[Event]) -> Scoreboard:
    """From what a store keeps of them."""
    scores = Scoreboard()
    for event in events:
        kind, _, _, _, body = to_row(event)
        scores.apply(from_row(kind, body))
    return scores


def test_what_only_seems_faster_is_measured_again_and_does_not_win() -> None:
    async def scenario() -> None:
        lane, journal = RacingLane({FAST[0]: 1.09}), MemoryJournal()
        lane.truly = {FAST[0]: 1.0}
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        assert (await busy.evaluate(*FAST)).speedup == 1.09
        await busy.drain()
        (contest,) = journal.of(Contested)
        assert (contest.kernel_id, contest.rival_id) == (FAST[0], SEED_ID)
        assert contest.outcome == "not shown" and contest.speedup is None
        best = busy.state().best
        assert best is not None and best.kernel_id == SEED_ID
        assert replayed(journal.events).best == best

    asyncio.run(scenario())


def test_the_figure_told_is_that_of_the_contest() -> None:
    async def scenario() -> None:
        lane, journal = RacingLane({FAST[0]: 2.0, SECOND[0]: 3.0}), MemoryJournal()
        lane.truly = {FAST[0]: 1.8, SECOND[0]: 2.7}
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        for one in (FAST, SECOND):
            await busy.evaluate(*one)
            await busy.drain()
        best = busy.state().best
        assert best is not None and best.kernel_id == SECOND[0]
        assert best.ci95 is not None and best.ci95[0] < 2.7 < best.ci95[1]
        assert lane.sat[0] == (FAST[0], (SEED_ID,), True)  # checked on every shape again
        assert replayed(journal.events).best == best

    asyncio.run(scenario())


def test_only_what_would_win_by_little_is_checked_again() -> None:
    """Checks cost more than races, and few of the kernels that are a little ahead win."""

    async def scenario() -> None:
        lane, journal = RacingLane({FAST[0]: 1.3, SECOND[0]: 1.4}), MemoryJournal()
        lane.truly = {FAST[0]: 1.0, SECOND[0]: 1.4}
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        for one in (FAST, SECOND):
            await busy.evaluate(*one)
            await busy.drain()
        assert [one.outcome for one in journal.of(Contested)] == ["not shown", "won"]
        checked = [(one, check) for one, _, check in lane.sat]
        assert (FAST[0], True) not in checked
        assert checked[-1] == (SECOND[0], True) and checked[-2] == (SECOND[0], False)

    asyncio.run(scenario())


def test_what_would_win_by_little_and_is_wrong_elsewhere_does_not() -> None:
    async def scenario() -> None:
        lane, journal = RacingLane({FAST[0]: 1.3}), MemoryJournal()
        lane.wrong_elsewhere = {FAST[0]}
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        await busy.evaluate(*FAST)
        await busy.drain()
        (contest,) = journal.of(Contested)
        assert contest.outcome == "wrong" and "held-out" in contest.reason
        best = busy.state().best
        assert best is not None and best.kernel_id == SEED_ID

    asyncio.run(scenario())


def test_what_is_wrong_elsewhere_is_overruled_and_told() -> None:
    async def scenario() -> None:
        revised: list[tuple[int, Evaluation]] = []
        lane, journal = RacingLane({FAST[0]: 4.0, SECOND[0]: 2.0}), MemoryJournal()
        lane.wrong_elsewhere = {FAST[0]}
        busy = dispatcher(lane, journal, revised=lambda *verdict: revised.append(verdict))
        await busy.begin(SEED)
        for one in (FAST, SECOND):
            await busy.evaluate(*one)
            await busy.drain()
        best = busy.state().best
        assert best is not None and best.kernel_id == SECOND[0]
        assert [(number, one.status) for number, one in revised] == [(1, Status.WRONG)]
        (wrong,) = busy.state().wrong
        assert (wrong.kernel_id, wrong.outcome) == (FAST[0], "wrong")
        scores = replayed(journal.events)
        assert scores.best == best and scores.evaluations[FAST[0]].status is Status.WRONG

    asyncio.run(scenario())


def test_of_those_that_wait_the_one_furthest_ahead_races_first() -> None:
    async def scenario() -> None:
        rising = {kernel(number)[0]: 1.0 + number / 10 for number in range(1, 6)}
        lane, journal = RacingLane(rising), MemoryJournal()
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        lane.gate = asyncio.Event()
        asks = [busy.evaluate(*kernel(number)) for number in range(1, 6)]
        asked = asyncio.gather(*asks)
        lane.gate.set()
        await asked
        await busy.drain()
        held = journal.of(Contested)
        assert len(held) < 5 and held[-1].kernel_id == kernel(5)[0]

    asyncio.run(scenario())


def test_of_equals_that_are_tried_often_fewer_and_fewer_are_measured_again() -> None:
    async def scenario() -> None:
        many = [kernel(number) for number in range(10, 60)]
        lane, journal = RacingLane({one: 1.002 for one, _ in many}), MemoryJournal()
        lane.truly = {one: 1.0 for one, _ in many}
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        for one in many:
            await busy.evaluate(*one)
        await busy.drain()
        assert len(journal.of(Contested)) < 10

    asyncio.run(scenario())


def test_a_lucky_best_loses_its_place_when_it_is_measured_again() -> None:
    async def scenario() -> None:
        lane, journal = RacingLane({FAST[0]: 2.0, SECOND[0]: 1.9}), MemoryJournal()
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        for one in (FAST, SECOND):
            await busy.evaluate(*one)
            await busy.drain()
        lane.truly = {FAST[0]: 1.6, SECOND[0]: 1.9}
        await busy.finish(0.0)
        (demotion,) = busy.state().demotions
        assert (demotion.kernel_id, demotion.rival_id, demotion.why) == (SECOND[0], FAST[0], "end")
        best = busy.state().best
        assert best is not None and best.kernel_id == SECOND[0] and best.final
        assert [one.kernel_id for one in journal.of(FinalMeasurement)] == [SECOND[0]]
        scores = replayed(journal.events)
        assert scores.best == best and scores.titles.demotions == [demotion]

    asyncio.run(scenario())


def test_every_so_often_the_top_few_are_measured_together() -> None:
    async def scenario() -> None:
        lane, journal = RacingLane({FAST[0]: 2.0, SECOND[0]: 1.9}), MemoryJournal()
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        for one in (FAST, SECOND):
            await busy.evaluate(*one)
        await busy.drain()
        lane.truly = {FAST[0]: 1.6, SECOND[0]: 1.9}
        for number in range(10, 80):
            await busy.evaluate(*kernel(number))
        await busy.drain()
        (demotion,) = busy.state().demotions
        assert (demotion.kernel_id, demotion.why) == (SECOND[0], "rematch")
        together = [rivals for one, rivals, _ in lane.sat if one == FAST[0] and len(rivals) > 1]
        assert together and all(SECOND[0] in rivals for rivals in together)

    asyncio.run(scenario())


def test_at_the_end_the_best_is_measured_against_the_seed_itself_on_every_device() -> None:
    async def scenario() -> None:
        speeds = {FAST[0]: 2.0, SECOND[0]: 1.9}
        lanes = [RacingLane(speeds), RacingLane(speeds, "device 1")]
        journal = MemoryJournal()
        busy = dispatcher(lanes[0], journal, lanes[1])
        await busy.begin(SEED)
        for one in (FAST, SECOND):
            await busy.evaluate(*one)
            await busy.drain()
        for lane in lanes:
            lane.sat.clear()
        await busy.finish(60.0)
        (final,) = journal.of(FinalMeasurement)
        assert final.sittings == MOST and set(final.rivals) == {SECOND[0]}
        assert final.ci95[0] < 2.0 < final.ci95[1]
        assert all(lane.sat for lane in lanes)
        assert all({SEED_ID, SECOND[0]} == set(rivals) for _, rivals, _ in lanes[0].sat)
        best = busy.state().best
        assert best is not None and (best.speedup, best.ci95) == (final.speedup, final.ci95)

    asyncio.run(scenario())


def test_without_anything_faster_there_is_no_final_measurement() -> None:
    async def scenario() -> None:
        lane, journal = RacingLane({}), MemoryJournal()
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        await busy.finish(60.0)
        assert lane.sat == [] and journal.of(FinalMeasurement) == []

    asyncio.run(scenario())


def test_a_kill_before_the_contest_loses_no_contender() -> None:
    """The evaluation is stored, its contest is not: it is held in the next session."""

    async def scenario() -> None:
        scores = Scoreboard()
        scores.apply(Evaluated(evaluation=passed(SEED_ID, 1.0), verified=True))
        scores.apply(EpochStarted(number=0, anchor_id=SEED_ID))
        fast = replace(passed(FAST[0], 2.0), anchor_id=SEED_ID, blocks=of_blocks(2.0, 1.0, 4))
        scores.apply(Evaluated(evaluation=fast))
        assert FAST[0] in scores.wanted()
        lane, journal = RacingLane({FAST[0]: 2.0}), MemoryJournal()
        resumed = dispatcher(lane, journal, scores=scores)
        await resumed.begin(SEED, {FAST[0]: FAST[1]})
        await resumed.finish(0.0)
        assert [one.outcome for one in journal.of(Contested)] == ["won"]
        best = resumed.state().best
        assert best is not None and best.kernel_id == FAST[0] and best.final
        assert lane.measured == []

    asyncio.run(scenario())


def test_a_best_that_fails_again_and_again_makes_way() -> None:
    class FailingBest(RacingLane):
        async def sit(self, built: Built, rivals: Any, check: bool, turn: int) -> Sitting:
            made = await super().sit(built, rivals, check, turn)
            if built.kernel_id == FAST[0] and not check:
                verdict = replace(made.verdict, status=Status.WRONG, reason="y[0] is 0")
                return replace(made, verdict=verdict, blocks={})
            return made

    async def scenario() -> None:
        lane, journal = FailingBest({FAST[0]: 2.0}), MemoryJournal()
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        await busy.evaluate(*FAST)
        await busy.drain()
        await busy.finish(0.0)
        best = busy.state().best
        assert best is not None and best.kernel_id == SEED_ID
        assert replayed(journal.events).evaluations[FAST[0]].status is Status.WRONG

    asyncio.run(scenario())


def test_races_are_watched_for_on_the_host_while_the_device_goes_on() -> None:
    async def scenario() -> None:
        lane, journal = RacingLane({FAST[0]: 3.0}), MemoryJournal()
        watching, seen = asyncio.Event(), asyncio.Event()
        told = Verdict(status=Status.WRONG, reason="on the cpu, two threads write y[3]")

        async def watch(built: Built, turn: int) -> Verdict:
            assert built.kernel_id == FAST[0]
            watching.set()
            await seen.wait()
            return told

        busy = dispatcher(lane, journal, watch=watch)
        await busy.begin(SEED)
        await busy.evaluate(*FAST)
        await watching.wait()
        assert (await busy.evaluate(*SECOND)).passed  # the one device is free meanwhile
        seen.set()
        await busy.drain()
        (contest,) = journal.of(Contested)
        assert contest.outcome == "wrong" and "two threads write" in contest.reason
        best = busy.state().best
        assert best is not None and best.kernel_id == SEED_ID

    asyncio.run(scenario())


def test_races_are_watched_for_while_the_sitting_is_held() -> None:
    watched = asyncio.Event()

    class Waiting(RacingLane):
        async def sit(self, built: Built, rivals: Sequence[Any], check: bool, turn: int) -> Sitting:
            await asyncio.wait_for(watched.wait(), 60.0)
            return await super().sit(built, rivals, check, turn)

    async def scenario() -> None:
        lane, journal = Waiting({FAST[0]: 3.0}), MemoryJournal()

        async def watch(built: Built, turn: int) -> Verdict:
            watched.set()
            return Verdict(status=Status.PASSED, log="three orders were tried")

        busy = dispatcher(lane, journal, watch=watch)
        await busy.begin(SEED)
        await busy.evaluate(*FAST)
        await busy.drain()
        (contest,) = journal.of(Contested)
        assert contest.outcome == "won"

    asyncio.run(scenario())


def test_a_kernel_that_takes_every_process_of_the_host_does_not_win() -> None:
    async def scenario() -> None:
        lane, journal = RacingLane({FAST[0]: 3.0}), MemoryJournal()
        tries = 0

        async def watch(built: Built, turn: int) -> Verdict:
            nonlocal tries
            tries += 1
            raise Broken("the process was lost")

        busy = dispatcher(lane, journal, watch=watch)
        await busy.begin(SEED)
        await busy.evaluate(*FAST)
        await busy.drain()
        (contest,) = journal.of(Contested)
        assert contest.outcome == "wrong" and "processes were lost" in contest.reason
        assert tries == 3 and busy.state().faults == 3

    asyncio.run(scenario())
