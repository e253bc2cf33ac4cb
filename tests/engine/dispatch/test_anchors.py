"""An anchor that fails is no candidate's fault: it is withdrawn, and the one before it is back."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from engine.dispatch.epochs import ANCHOR_FAILURES
from engine.dispatch.retries import ATTEMPTS
from engine.dispatch.workbench import AnchorBroken, Built, Measured
from engine.ending import CampaignFailed
from engine.store.events import EpochStarted, Evaluated, Event, Fault
from engine.store.kinds.revisions import AnchorWithdrawn
from engine.store.scoreboard import Scoreboard
from engine.store.toolchain import Toolchain
from evaluators.evaluation import Evaluation, Status
from tests.engine.dispatch.test_dispatcher import (
    SEED,
    SEED_ID,
    TOOLCHAIN,
    MemoryJournal,
    ScriptedLane,
    compile_at_once,
    dispatcher,
    kernel,
    passed,
)

FAST, FAST_CANDIDATE = kernel(1)


class AnchoredLane(ScriptedLane):
    """Some anchors fail on it, as often as it is told."""

    def __init__(self, speedups: dict[str, float], name: str = "device 0") -> None:
        super().__init__(speedups, name)
        self.bad_anchors: dict[str, int] = {}  # kernel id -> how many times it still fails

    async def measure(self, built: Built, anchor: Any, best: Any) -> Measured:
        measured = await super().measure(built, anchor, best)
        if anchor and self.bad_anchors.get(anchor[0], 0):
            self.bad_anchors[anchor[0]] -= 1
            raise AnchorBroken(Status.WRONG, "WRONG: y[0] is 0, expected 2 on N=64")
        return measured


async def settled() -> None:
    for _ in range(60):
        await asyncio.sleep(0)


def test_an_anchor_that_fails_costs_no_kernel_an_attempt() -> None:
    async def scenario() -> None:
        lane, journal = AnchoredLane({}), MemoryJournal()
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        lane.bad_anchors = {SEED_ID: ANCHOR_FAILURES - 1}
        name, candidate = kernel(2)
        lane.breaks = {name: ATTEMPTS - 1}
        assert (await busy.evaluate(name, candidate)).passed
        lane.bad_anchors = {SEED_ID: ANCHOR_FAILURES - 1}  # not in a row with those before
        assert (await busy.evaluate(*kernel(3))).passed
        assert lane.well and busy.state().quarantined == 0

    asyncio.run(scenario())


def test_after_a_few_in_a_row_the_anchor_before_is_back() -> None:
    async def scenario() -> None:
        lanes = [AnchoredLane({FAST: 2.0}, f"device {number}") for number in range(2)]
        revised: list[tuple[int, Evaluation]] = []
        journal = MemoryJournal()
        busy = dispatcher(
            lanes[0], journal, lanes[1], revised=lambda *verdict: revised.append(verdict)
        )
        await busy.begin(SEED)
        await busy.evaluate(FAST, FAST_CANDIDATE)
        await settled()
        best = busy.state().best
        assert best is not None and best.kernel_id == FAST and busy.state().epoch == 1
        for lane in lanes:
            lane.bad_anchors = {FAST: 1000}
        answers = await asyncio.gather(*(busy.evaluate(*kernel(n)) for n in range(2, 6)))
        assert all(one.passed for one in answers) and all(lane.well for lane in lanes)
        (withdrawn,) = journal.of(AnchorWithdrawn)
        assert (withdrawn.kernel_id, withdrawn.anchor_id) == (FAST, SEED_ID)
        assert "y[0] is 0, expected 2" in withdrawn.reason
        check_withdrawn(journal.of(Evaluated), busy.state().best, revised)
        assert lanes[0].anchors[-1] in ((SEED_ID, 0), None)
        assert {one.kernel_id for one in journal.of(Fault)} <= {kernel(n)[0] for n in range(2, 6)}
        check_replayed(journal.events)

    asyncio.run(scenario())


def check_withdrawn(
    events: Sequence[Evaluated], best: Any, revised: list[tuple[int, Evaluation]]
) -> None:
    """The kernel's verdict is WRONG now, for the store and for those who are told."""
    ((number, verdict),) = revised
    assert (verdict.kernel_id, verdict.status, number) == (FAST, Status.WRONG, 1)
    assert [e.number for e in events if e.evaluation.kernel_id == FAST] == [0, 1]
    assert best.kernel_id == SEED_ID


def check_replayed(events: Sequence[Event]) -> None:
    scores = Scoreboard()
    for event in events:
        scores.apply(event)
    assert scores.anchors == (SEED_ID,) and scores.links == ()
    assert scores.best is not None and scores.best.kernel_id == SEED_ID
    assert scores.evaluations[FAST].status is Status.WRONG and scores.first(FAST).passed
    assert scores.by_status == {"PASSED": 5, "WRONG": 1}
    assert [one.kernel_id for one in scores.withdrawn] == [FAST]


def test_a_link_is_measured_to_the_anchor_that_is_back() -> None:
    class FailingLink(AnchoredLane):
        async def link(self, built: Built, anchor: Any) -> Any:
            blocks = await super().link(built, anchor)
            if anchor[0] == FAST:
                raise AnchorBroken(Status.CRASHED, "CRASHED: SIGABRT")
            return blocks

    async def scenario() -> None:
        faster, candidate = kernel(2)
        lane, journal = FailingLink({FAST: 2.0, faster: 4.0}), MemoryJournal()
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        for ask in ((FAST, FAST_CANDIDATE), (faster, candidate)):
            await busy.evaluate(*ask)
            await settled()
        assert [one.anchor_id for one in journal.of(EpochStarted)] == [SEED_ID, FAST, faster]
        assert [one.number for one in journal.of(EpochStarted)] == [0, 1, 2]
        assert [one.kernel_id for one in journal.of(AnchorWithdrawn)] == [FAST]
        await busy.evaluate(*kernel(3))
        assert lane.anchors[-1] == (faster, 1)

    asyncio.run(scenario())


def test_a_seed_that_fails_as_the_anchor_ends_the_campaign_with_a_sentence() -> None:
    async def scenario() -> None:
        lane = AnchoredLane({})
        busy = dispatcher(lane, MemoryJournal())
        await busy.begin(SEED)
        lane.bad_anchors = {SEED_ID: 1000}
        with pytest.raises(CampaignFailed, match=r"the naive seed.*fails now.*y\[0\] is 0"):
            await busy.evaluate(*kernel(2))
        assert lane.well

    asyncio.run(scenario())


# --- on resume -----------------------------------------------------------------------------------


def board(*events: Event) -> Scoreboard:
    """After a first session that ended with FAST as the anchor."""
    scores = Scoreboard()
    for stored in (passed(SEED_ID, 1.0), passed(FAST, 3.0)):
        scores.apply(Evaluated(evaluation=stored, verified=True))
    scores.apply(EpochStarted(number=0, anchor_id=SEED_ID))
    scores.apply(EpochStarted(number=1, anchor_id=FAST, link={"a": (1.0,)}))
    for event in events:
        scores.apply(event)
    return scores


def test_an_anchor_that_no_longer_compiles_on_resume() -> None:
    async def compile(source: str) -> Built | Evaluation:
        if source == FAST_CANDIDATE.source:
            return replace(passed(FAST, 1.0), status=Status.COMPILE_ERROR, reason="no", times_us={})
        return await compile_at_once(source)

    async def scenario() -> None:
        lane, journal = AnchoredLane({}), MemoryJournal()
        busy = dispatcher(lane, journal, compile=compile, scores=board())
        await busy.begin(SEED, {FAST: FAST_CANDIDATE})
        assert [one.anchor_id for one in journal.of(AnchorWithdrawn)] == [SEED_ID]
        await busy.evaluate(*kernel(2))
        assert lane.anchors == [(SEED_ID, 0)]

    asyncio.run(scenario())


def test_a_kill_between_the_verdict_and_the_withdrawal() -> None:
    async def scenario() -> None:
        verdict = replace(
            passed(FAST, 1.0), status=Status.WRONG, reason="it fails", times_us={}, speedup=None
        )
        scores = board(Evaluated(evaluation=verdict, number=1))
        lane, journal = AnchoredLane({}), MemoryJournal()
        busy = dispatcher(lane, journal, scores=scores)
        await busy.begin(SEED, {FAST: FAST_CANDIDATE})
        assert [type(event) for event in journal.events] == [AnchorWithdrawn]
        assert busy.state().best is not None and scores.anchors == (SEED_ID,)

    asyncio.run(scenario())


# --- another toolchain ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "here", [Toolchain(harness="2", compiler="c 1.0"), Toolchain(harness="1", compiler="c 2.0")]
)
def test_with_another_toolchain_the_best_is_measured_again(here: Toolchain) -> None:
    async def scenario() -> None:
        scores = board()
        scores.toolchain = TOOLCHAIN
        lane, journal = AnchoredLane({FAST: 2.5}), MemoryJournal()
        busy = dispatcher(lane, journal, scores=scores, toolchain=here)
        await busy.begin(SEED, {FAST: FAST_CANDIDATE})
        (started,) = journal.of(EpochStarted)
        assert (started.number, started.anchor_id, started.link) == (2, SEED_ID, {})
        again = [(e.evaluation.kernel_id, e.number) for e in journal.of(Evaluated)]
        assert again == [(SEED_ID, 1), (FAST, 1)]
        assert lane.anchors == [None, (SEED_ID, 0)] and lane.bounds == [{}, {}]
        best = busy.state().best
        assert best is not None
        assert best.kernel_id == FAST and best.speedup == pytest.approx(2.5)
        assert scores.links == () and scores.first(FAST).speedup == 3.0

    asyncio.run(scenario())


def test_a_best_that_fails_with_another_toolchain_makes_way_for_the_next() -> None:
    async def scenario() -> None:
        second, candidate = kernel(2)
        scores = board(Evaluated(evaluation=passed(second, 2.0), verified=True))
        scores.toolchain = Toolchain(harness="0", compiler="c 1.0")
        lane = AnchoredLane({second: 1.7})
        lane.breaks = {FAST: 1000}
        others = [AnchoredLane({second: 1.7}, f"device {n}") for n in (1, 2, 3)]
        for one in others:
            one.breaks = {FAST: 1000}
        journal = MemoryJournal()
        busy = dispatcher(lane, journal, *others, scores=scores)
        await busy.begin(SEED, {FAST: FAST_CANDIDATE, second: candidate})
        best = busy.state().best
        assert best is not None
        assert best.kernel_id == second and best.speedup == pytest.approx(1.7)
        assert scores.evaluations[FAST].status is Status.CRASHED
        assert busy.state().by_status == {"PASSED": 2, "CRASHED": 1}

    asyncio.run(scenario())
