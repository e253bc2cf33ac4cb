"""What a campaign's log says over time: metric points for the campaign and for each island."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from engine.config import CampaignConfig
from engine.islands.population import Population
from engine.store.contests import Contested, FinalMeasurement
from engine.store.events import Added, Evaluated, Fault, Migrated
from engine.store.replay import Replay
from engine.store.revisions import Revised
from engine.store.scoreboard import Best
from engine.store.sessions import SessionFinished, SessionStarted
from engine.store.store import Stored
from engine.store.summary import meaning_of
from evaluators.evaluation import Status

EVERY_S = 1.0
"""Points of one series are this far apart, except where the best improves."""

METRICS: Mapping[str, str] = {
    "best_speedup": "of the best over the naive seed: by contests, in the end measured against it",
    "best_speedup_low": "lower end of its 95% interval",
    "best_speedup_high": "upper end of its 95% interval",
    "contests": "kernels that seemed faster than the best, and were measured again beside it",
    "evaluations": "kernels with a verdict",
    **{f"evaluations/{status}": f"of these, {status}" for status in Status},
    "evaluations_per_s": "over the session so far",
    "device_busy_fraction": "share of the session that devices spent on kernels",
    "diversity": "effective number of kernel structures, mean over islands",
    "faults": "processes lost, and other breakage of infrastructure",
}
"""Of a campaign's run; the step is the number of evaluations."""

ISLAND_METRICS: Mapping[str, str] = {
    "best_speedup": "of the island's fastest correct kernel over the naive seed",
    "evaluations": "verdicts that the island was told",
    "population": "kernels in its population",
    "diversity": "effective number of kernel structures in it",
}
"""Of an island's run; the step is the number of the island's evaluations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One value. seq: of the event it follows from; island: None for the campaign itself;
    at_ms: milliseconds since 1970."""

    seq: int
    island: int | None
    name: str
    value: float
    step: int
    at_ms: int


@dataclass(slots=True)
class _Island:
    population: Population
    evaluations: int = 0
    best: float = 0.0
    sampled_at: float = 0.0


class Sampler:
    """Follows a log from its beginning; the same events always give the same points."""

    def __init__(self, replay: Replay, config: CampaignConfig) -> None:
        """replay: of the log so far, which is its first event."""
        self.replay = replay
        self._islands = {
            index: _Island(Population(config.islands.capacity))
            for index in range(config.islands.count)
        }
        self._best: Best | None = None
        self._sampled_at = 0.0
        self._faults = 0
        self._session_evaluations = 0

    def feed(self, stored: Stored) -> Iterator[Point]:
        """The points that follow from one more event."""
        self.replay.apply(stored)
        match stored.event:
            case SessionStarted():
                self._session_evaluations = 0
            case Evaluated():
                self._session_evaluations += 1
                yield from self._sample_if_due(stored)
            case Contested() | FinalMeasurement():
                yield from self._sample_if_due(stored)
            case Added() as added:
                island = self._islands[added.island]
                island.evaluations += 1
                self._take_in(island, (added.key,))
                yield from self._sample_island_if_due(added.island, stored)
            case Migrated() as migrated:
                self._take_in(self._islands[migrated.island], migrated.drafts)
            case Revised() as revised:
                verdict = self.replay.scores.verdict(revised.kernel_id, revised.number)
                self._islands[revised.island].population.revise(revised.kernel_id, verdict)
            case Fault():
                self._faults += 1
            case SessionFinished():
                yield from self._sample(stored)
                for index in self._islands:
                    yield from self._sample_island(index, stored)
            case _:
                pass  # decisions and cycles are in the store for people and reports

    def _take_in(self, island: _Island, keys: tuple[str, ...]) -> None:
        for key in keys:
            drafted = self.replay.drafts[key]
            evaluation = self.replay.scores.first(drafted.kernel_id)
            island.population.add(drafted.individual(evaluation))

    def _sample_if_due(self, stored: Stored) -> Iterator[Point]:
        best = self.replay.scores.best
        news = best != self._best
        if news or stored.at - self._sampled_at >= EVERY_S:
            yield from self._sample(stored)

    def _sample(self, stored: Stored) -> Iterator[Point]:
        scores, session = self.replay.scores, self.replay.sessions[-1]
        self._sampled_at = stored.at
        evaluations = scores.by_status.total()
        elapsed_s = stored.at - session.began_at
        values: dict[str, float] = {"evaluations": evaluations, "faults": self._faults}
        values["contests"] = scores.titles.contests
        if scores.best is not None:
            self._best = scores.best
            values["best_speedup"] = scores.best.speedup
            if scores.best.ci95 is not None:
                values["best_speedup_low"], values["best_speedup_high"] = scores.best.ci95
        for status, count in scores.by_status.items():
            values[f"evaluations/{status}"] = count
        if elapsed_s > 0 and self._session_evaluations:  # else they stay as they were
            values["evaluations_per_s"] = self._session_evaluations / elapsed_s
            busy = session.device_s / (elapsed_s * session.started.devices)
            values["device_busy_fraction"] = min(1.0, busy)
        populations = [island.population for island in self._islands.values()]
        values["diversity"] = fmean(population.diversity() for population in populations)
        yield from _points(stored, None, values, evaluations)

    def _sample_island_if_due(self, index: int, stored: Stored) -> Iterator[Point]:
        island = self._islands[index]
        improved = _fastest(island.population) > island.best
        if improved or stored.at - island.sampled_at >= EVERY_S:
            yield from self._sample_island(index, stored)

    def _sample_island(self, index: int, stored: Stored) -> Iterator[Point]:
        island = self._islands[index]
        island.sampled_at, island.best = stored.at, _fastest(island.population)
        values: dict[str, float] = {
            "evaluations": island.evaluations,
            "population": len(island.population),
            "diversity": island.population.diversity(),
        }
        if island.best:
            values["best_speedup"] = island.best
        yield from _points(stored, index, values, island.evaluations)


def _fastest(population: Population) -> float:
    best = next(iter(population), None)
    return (best.evaluation.speedup or 0.0) if best else 0.0


def _points(
    stored: Stored, island: int | None, values: Mapping[str, float], step: int
) -> Iterator[Point]:
    at_ms = int(stored.at * 1000)
    for name, value in values.items():
        yield Point(
            seq=stored.seq, island=island, name=name, value=float(value), step=step, at_ms=at_ms
        )


def flatten(
    values: Mapping[str, Any] | Sequence[Any], prefix: str = ""
) -> Iterator[tuple[str, str]]:
    """Nested mappings and lists -> ("islands.count", "2"), ("operators.0.kind", "catalog"), ..."""
    pairs = values.items() if isinstance(values, Mapping) else enumerate(values)
    for key, value in pairs:
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) or (isinstance(value, list | tuple) and value):
            yield from flatten(value, f"{name}.")
        else:
            yield name, str(value)


def session_tags(replay: Replay) -> dict[str, str]:
    """What the list of runs shows beside the metrics."""
    if not replay.sessions:
        return {}
    last, best = replay.sessions[-1], replay.scores.best
    return {
        "best_speedup_means": meaning_of(best) if best else "",
        "device": last.started.device,
        "device_class": last.started.device_class,
        "compiler": last.started.compiler,
        "harness": last.started.harness,
        "sessions": str(len(replay.sessions)),
        "ended": last.finished.reason if last.finished else "killed",
    }
