"""Islands: what each found, and who sent elites to whom."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from engine.history.history import History
from engine.report.plots import SERIES, Plot, counting_axis, log_axis, plot
from engine.report.texts import count
from engine.store.events import Added, CycleFinished, CycleStarted, Migrated
from engine.store.ratios import axis_text, ratio_text
from engine.store.replay import Replay

MOST_LINES = 8
"""Islands in the plot: further colours look like these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Island:
    """verdicts: that it was told; joined: of these, how many its population took in; received:
    elites of other islands; restarts: how often its population began again; best: the speedup of
    the fastest kernel among all these as it was first measured, 0.0: none; rises: the number of
    its verdicts, and the best from then on."""

    index: int
    kind: str
    cycles: int
    verdicts: int
    passed: int
    joined: int
    received: int
    restarts: int
    best: float
    best_id: str
    rises: tuple[tuple[int, float], ...]
    timed: bool = True


def islands_of(replay: Replay) -> tuple[Island, ...]:
    return tuple(
        _island(replay, index, _kind(replay.campaign.config, index)) for index in _indices(replay)
    )


def _indices(replay: Replay) -> Sequence[int]:
    stated = int(replay.campaign.config.get("islands", {}).get("count", 1))
    return range(max(stated, 1 + max((one.island for one in replay.drafts.values()), default=0)))


def _kind(config: Mapping[str, Any], index: int) -> str:
    mixes = config.get("operators") or [{}]
    return str(mixes[index % len(mixes)].get("kind", ""))


def _island(replay: Replay, index: int, kind: str) -> Island:
    cycles = verdicts = passed = joined = received = restarts = 0
    best, best_id = 0.0, ""
    rises: list[tuple[int, float]] = []
    for event, individuals in replay.history(index):
        if isinstance(event, CycleFinished):
            cycles += 1
        elif isinstance(event, CycleStarted):
            restarts += event.restarted
        elif isinstance(event, Added):
            verdicts += 1
            passed += sum(one.evaluation.passed for one in individuals)
            joined += event.status != "NOT_ADDED"
        elif isinstance(event, Migrated):
            received += len(event.drafts)
        for one in individuals if isinstance(event, Added | Migrated) else ():
            speedup = one.evaluation.over_seed or 0.0
            if one.evaluation.passed and speedup > best:
                best, best_id = speedup, one.id
                rises.append((verdicts, best))
    return Island(
        index=index,
        kind=kind,
        cycles=cycles,
        verdicts=verdicts,
        passed=passed,
        joined=joined,
        received=received,
        restarts=restarts,
        best=best,
        best_id=best_id,
        rises=(*rises, (verdicts, best)) if rises else (),
        timed=replay.timed,
    )


def islands_plot(islands: Sequence[Island]) -> Plot | None:
    """None where there is one island only, or none found anything."""
    shown = [one for one in islands if one.rises][:MOST_LINES]
    if len(islands) < 2 or not shown:
        return None

    def draw(figure: Figure) -> None:
        panel = figure.subplots()
        for one, colour in zip(shown, SERIES, strict=False):
            panel.step(
                [number for number, _ in one.rises],
                [value for _, value in one.rises],
                where="post",
                color=colour,
                linewidth=1.5,
                label=f"island {one.index}",
            )
        log_axis(panel, "y")
        counting_axis(panel)
        panel.set_xlabel("verdicts that the island was told")
        panel.set_ylabel(axis_text(timed=islands[0].timed))
        panel.legend(loc="lower right", ncols=4, bbox_to_anchor=(1.0, 1.0))

    says = "The best of each island: " + ", ".join(
        f"island {one.index} {ratio_text(one.best, timed=one.timed)}".replace("x", "×")
        for one in shown
    )
    return plot("islands", says + ".", draw, width=8.4, height=3.2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrations:
    """elites: how many, by (source, island that received them); rounds: arrivals."""

    elites: Mapping[tuple[int, int], int]
    rounds: int

    @property
    def sentence(self) -> str:
        if not self.rounds:
            return "No island sent elites to another."
        elites = count(sum(self.elites.values()), "elite")
        return f"{elites} travelled in {count(self.rounds, 'migration')}."


def migrations_of(history: History) -> Migrations:
    elites: dict[tuple[int, int], int] = {}
    for one in history.migrations:
        pair = one.source, one.island
        elites[pair] = elites.get(pair, 0) + len(one.drafts)
    return Migrations(elites=elites, rounds=len(history.migrations))
