"""The final measurement: the best beside the task's baselines, and scores by weights."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.dispatch.workbench import Built, Measured
from engine.store.events import Event, from_row, to_row
from engine.store.kinds.contests import Contested, FinalMeasurement
from engine.store.scoreboard import Scoreboard
from evaluators.evaluation import Evaluation, Rejected, Status, Verdict, failed
from evaluators.measuring.headline import headline
from evaluators.measuring.policy import BaselineAnchor
from evaluators.measuring.sittings import Sitting
from evaluators.tasks.baselines import Baseline
from scripts.bench_engine import INFO
from tests.engine.dispatch.test_contests import FAST, SECOND, RacingLane, replayed
from tests.engine.dispatch.test_dispatcher import (
    SEED,
    TASK,
    MemoryJournal,
    compile_at_once,
    dispatcher,
    of_blocks,
)

OVER_SEED = {"torch": 1.6, "mine": 1.2}


class BesideLane(RacingLane):
    """Baselines sit as evaluators let them; names: of those of each sitting."""

    def __init__(self, speedups: dict[str, float]) -> None:
        super().__init__(speedups)
        self.names: list[tuple[str, ...]] = []

    async def sit(self, built: Built, rivals: Sequence[Any], check: bool, turn: int) -> Sitting:
        others = [one for one in rivals if not isinstance(one, BaselineAnchor)]
        beside = [one for one in rivals if isinstance(one, BaselineAnchor)]
        held = await super().sit(built, others, check, turn)
        self.names.append(tuple(one.name for one in beside))
        blocks, failed = dict(held.blocks), dict(held.failed)
        for one in beside:
            if one.name not in OVER_SEED:
                failed[one.kernel_id] = Verdict(status=Status.UNSUPPORTED, reason="it is not here")
                continue
            own = {**self.speedups, **self.truly}[built.kernel_id]
            blocks[one.kernel_id] = of_blocks(own, OVER_SEED[one.name], 12)
        return replace(held, blocks=blocks, failed=failed)


def baseline(folder: Path, name: str, *, source: str = "") -> Baseline:
    file = f"{name}.hip"
    if source:
        (folder / file).write_text(source)
    return Baseline(
        name=name,
        kind="kernel" if source else "torch",
        text=file if source else "x.sum()",
        backends=("cpu",),
        folder=folder,
    )


def test_the_best_is_measured_beside_them_and_which_is_the_fastest_is_known(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        lane, journal = BesideLane({FAST[0]: 2.0}), MemoryJournal()
        named = (
            baseline(tmp_path, "torch"),
            baseline(tmp_path, "mine", source=SECOND[1].source),
            baseline(tmp_path, "gone"),
            baseline(tmp_path, "bad", source="no kernel"),
        )

        async def compile(source: str) -> Built | Evaluation:
            try:
                return await compile_at_once(source)
            except Rejected as rejected:
                return failed("bad", TASK.hash, "class", rejected)

        busy = dispatcher(lane, journal, baselines=named, info=INFO, compile=compile)
        await busy.begin(SEED)
        await busy.evaluate(*FAST)
        await busy.drain()
        assert all(names == () for names in lane.names), "not in the search"
        lane.names.clear()
        await busy.finish(0.0)
        assert lane.names[0] == ("torch", "mine", "gone")
        assert set(lane.names[1:]) == {("torch", "mine")}, "what fails sits no more"
        (final,) = journal.of(FinalMeasurement)
        assert final.baselines.keys() == {"torch", "mine", "gone", "bad"}
        assert final.baselines["gone"].refused == "was not measured: it is not here"
        assert final.baselines["bad"].refused.startswith("was refused: ")
        torch = final.baselines["torch"].ratio
        assert torch is not None and torch[0] == pytest.approx(2.0 / 1.6, rel=0.05)
        found = headline((final.speedup, *final.ci95), final.baselines)
        assert found is not None and (found.name, found.among) == ("torch", 3)
        assert final.gains.keys() == {"a"}
        again = replayed(journal.events).titles.final
        assert again is not None and again.baselines == final.baselines

    asyncio.run(scenario())


class TwoShapes(RacingLane):
    """a has three times b's weight; a kernel is faster on one and slower on the other."""

    by_label: dict[str, dict[str, float]]

    async def measure(self, built: Built, anchor: Any, best: Any) -> Measured:
        made = await super().measure(built, anchor, best)
        ratios = self.by_label.get(built.kernel_id, {"a": 1.0, "b": 1.0})
        gains = {label: math.log(ratio) for label, ratio in ratios.items()}
        evaluation = replace(
            made.evaluation,
            times_us=dict.fromkeys(ratios, 1.0),
            blocks={label: (gain, gain) for label, gain in gains.items()},
            gains=gains,
            weights={"a": 3.0, "b": 1.0},
            speedup=math.exp((3 * gains["a"] + gains["b"]) / 4),
        )
        return replace(made, evaluation=evaluation)

    async def sit(self, built: Built, rivals: Sequence[Any], check: bool, turn: int) -> Sitting:
        held = await super().sit(built, rivals, check, turn)
        ratios = self.by_label[built.kernel_id]
        blocks = {
            rival: {label: (math.log(one),) * 4 for label, one in ratios.items()}
            for rival in held.blocks
        }
        return replace(held, blocks=blocks)


def folded(events: Sequence[Event], *, weights: bool) -> Scoreboard:
    """weights: False: as a store of before there were any has them."""
    scores = Scoreboard()
    for event in events:
        kind, _, _, _, body = to_row(event)
        if not weights:
            body = body.replace('"weights":{"a":3.0,"b":1.0},', "")
        scores.apply(from_row(kind, body))
    return scores


def test_who_wins_is_decided_by_weights() -> None:
    """2x on the heavy shape and 0.5x on the light one is a win; the other way round it is none."""

    async def scenario() -> None:
        lane, journal = TwoShapes({FAST[0]: 1.4, SECOND[0]: 0.7}), MemoryJournal()
        lane.by_label = {FAST[0]: {"a": 2.0, "b": 0.5}, SECOND[0]: {"a": 0.5, "b": 2.0}}
        busy = dispatcher(lane, journal)
        await busy.begin(SEED)
        for one in (FAST, SECOND):
            await busy.evaluate(*one)
            await busy.drain()
        (contest,) = journal.of(Contested)
        assert contest.kernel_id == FAST[0] and contest.outcome == "won"
        assert contest.speedup == pytest.approx(math.sqrt(2), rel=1e-6)
        scores = folded(journal.events, weights=True)
        assert scores.lead(FAST[0]) == 0.0
        assert scores.lead(SECOND[0]) == pytest.approx(-math.log(2))
        assert folded(journal.events, weights=False).lead(SECOND[0]) == pytest.approx(0.0)

    asyncio.run(scenario())
