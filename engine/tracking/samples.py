"""What a campaign's log says over time: metric points for the campaign and for each island."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import fmean

from engine.config import CampaignConfig
from engine.islands.population import Population
from engine.store.events import Added, CycleStarted, Evaluated, Fault, Migrated
from engine.store.kinds.contests import Contested, FinalMeasurement
from engine.store.kinds.findings import Distilled
from engine.store.kinds.revisions import Revised
from engine.store.kinds.sessions import SearchEnded, SessionFinished
from engine.store.replay import Replay
from engine.store.scoreboard import Best
from engine.store.store import Stored
from evaluators.evaluation import Evaluation, Status
from evaluators.measuring.headline import headline
from evaluators.weights import of_whole

EVERY_S = 1.0
"""Points of one series are this far apart, except where the best improves."""

DIGITS = 5
"""Of what is no whole number: MLflow's pages show all that there are."""

METRICS: Mapping[str, str] = {
    "best_speedup": "of the best over the naive seed: by contests, in the end measured against it",
    "best_cost_ratio": "naive seed's estimated cost over the best's; nothing was timed",
    "best_speedup_low": "lower end of its 95% interval",
    "best_speedup_high": "upper end of its 95% interval",
    "best_found_at": "number of evaluations with which the best was first measured",
    "device_s": "seconds that devices worked, all of them together",
    "dollars": "spent on models, where a model was called",
    "contests": "kernels that seemed faster than the best, and were measured again beside it",
    "evaluations": "kernels with a verdict",
    **{f"evaluations/{status}": f"of these, {status}" for status in Status},
    "evaluations_per_s": "over the sessions that evaluated anything",
    "device_busy_fraction": "share of these sessions that devices spent on kernels",
    "diversity": "effective number of kernel structures, mean over islands",
    "findings": "rules that results bear out, and that stand",
    "faults": "processes lost, and other breakage of infrastructure",
    "final_speedup": "of the best over the naive seed, measured against it at the end",
    "final_low": "lower end of its 95% interval",
    "final_high": "upper end of its 95% interval",
    "final_over_fastest": "of the best over the fastest of the task's baselines, at the end",
    "whole_speedup": "of all calls together, where the shapes' weights count calls",
}
"""Of a campaign's run; the step is the number of evaluations."""

SHAPE_METRICS: Mapping[str, str] = {
    "time_us": "microseconds of the best so far",
    "cost": "estimated, of the best so far, where nothing was timed",
    "speed_of_light": "its share of what memory and arithmetic allow; 1 is the roofline",
}
"""Of a campaign's run, each for every shape: "time_us/N1024"; when the best changes."""

BASELINE_METRICS: Mapping[str, str] = {
    "final_over": "of the best over that baseline, measured at the end",
}
"""Of a campaign's run, each for every baseline that was measured: "final_over/torch"."""

ISLAND_METRICS: Mapping[str, str] = {
    "best_speedup": "of the island's fastest correct kernel over the naive seed",
    "evaluations": "verdicts that the island was told",
    "population": "kernels in its population",
    "diversity": "effective number of kernel structures in it",
}
"""Of an island's run; the step is the number of the island's evaluations. Where credit decides,
"credit/operator/tuning" and the like are the chances in its last draw."""


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
    shares: dict[str, Mapping[str, float]] = field(default_factory=dict)


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
        self._found_at: dict[str, int] = {}  # by kernel id
        self._shown: Evaluation | None = None  # the best's, whose shapes were told last

    def feed(self, stored: Stored) -> Iterator[Point]:
        """The points that follow from one more event."""
        self.replay.apply(stored)
        match stored.event:
            case Evaluated() as evaluated:
                self._found_at.setdefault(evaluated.evaluation.kernel_id, self._evaluations)
                yield from self._sample_if_due(stored)
            case Contested():
                yield from self._sample_if_due(stored)
            case FinalMeasurement() as final:
                yield from self._sample_if_due(stored)
                yield from _points(stored, None, _final(final), self._evaluations)
            case Distilled() as distilled:
                standing = sum(not one.fallen for one in distilled.findings)
                yield from _points(stored, None, {"findings": standing}, self._evaluations)
            case Added() as added:
                island = self._islands[added.island]
                island.evaluations += 1
                self._take_in(island, (added.key,))
                yield from self._sample_island_if_due(added.island, stored)
            case CycleStarted() as started:
                self._islands[started.island].shares.update(started.shares)
            case Migrated() as migrated:
                self._take_in(self._islands[migrated.island], migrated.drafts)
            case Revised() as revised:
                verdict = self.replay.scores.verdict(revised.kernel_id, revised.number)
                self._islands[revised.island].population.revise(revised.kernel_id, verdict)
            case Fault():
                self._faults += 1
            case SearchEnded():
                yield from self._sample(stored)
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
        scores = self.replay.scores
        self._sampled_at = stored.at
        evaluations = self._evaluations
        values: dict[str, float] = {}  # in the order in which MLflow's pages list them
        if scores.best is not None:
            self._best = scores.best
            values[name_of(scores.best.timed)] = scores.best.speedup
            values["best_found_at"] = self._found_at[scores.best.kernel_id]
            if scores.best.ci95 is not None:
                values["best_speedup_low"], values["best_speedup_high"] = scores.best.ci95
            values |= self._whole(scores.best)
        values |= {"evaluations": evaluations, "faults": self._faults}
        values["contests"] = scores.titles.contests
        values["device_s"] = sum(one.device_s for one in self.replay.sessions)
        calls = self.replay.calls.totals.spending()
        if calls.calls:
            values["dollars"] = calls.dollars
        for status, count in scores.by_status.items():
            values[f"evaluations/{status}"] = count
        values |= self._rates()
        populations = [island.population for island in self._islands.values()]
        values["diversity"] = fmean(population.diversity() for population in populations)
        values |= self._shapes()
        yield from _points(stored, None, values, evaluations)

    def _whole(self, best: Best) -> dict[str, float]:
        """Where the task states weights."""
        scores = self.replay.scores
        evaluation, final = scores.evaluations[best.kernel_id], scores.titles.final
        gains = final.gains if final is not None and best.final else {}
        places = gains or scores.titles.places.get(best.kernel_id, {})
        whole = of_whole(evaluation.times_us, places, evaluation.weights)
        return {} if whole is None else {"whole_speedup": whole}

    @property
    def _evaluations(self) -> int:
        return self.replay.scores.by_status.total()

    def _rates(self) -> dict[str, float]:
        """As the summary has them: a resumption that evaluates nothing leaves them."""
        worked = [session for session in self.replay.sessions if session.evaluated]
        worked_s = sum(session.elapsed_s for session in worked)
        if not worked_s:
            return {}
        devices = max(session.started.devices for session in self.replay.sessions)
        busy_s = sum(session.device_s for session in worked)
        return {
            "evaluations_per_s": self._evaluations / worked_s,
            "device_busy_fraction": min(1.0, busy_s / (worked_s * devices)),
        }

    def _shapes(self) -> dict[str, float]:
        """By shape, of the best, where they were not told yet."""
        best = self.replay.scores.best
        evaluation = self.replay.scores.evaluations[best.kernel_id] if best else None
        if evaluation is None or evaluation == self._shown:
            return {}
        self._shown = evaluation
        return {
            f"{name}/{shape_name(label)}": value
            for name, of_label in (
                ("time_us", evaluation.times_us),
                ("speed_of_light", evaluation.speed_of_light),
                ("cost", evaluation.costs),
            )
            for label, value in of_label.items()
        }

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
            values[name_of(self.replay.timed)] = island.best
        for choice, arms in island.shares.items():
            for arm, share in arms.items():
                values[metric_name(f"credit/{choice}/{arm}")] = share
        yield from _points(stored, index, values, island.evaluations)


def _fastest(population: Population) -> float:
    best = next(iter(population), None)
    return (best.evaluation.over_seed or 0.0) if best else 0.0


def _points(
    stored: Stored, island: int | None, values: Mapping[str, float], step: int
) -> Iterator[Point]:
    at_ms = int(stored.at * 1000)
    for name, value in values.items():
        shown = float(value) if float(value).is_integer() else float(f"{value:.{DIGITS}g}")
        yield Point(seq=stored.seq, island=island, name=name, value=shown, step=step, at_ms=at_ms)


def name_of(timed: bool) -> str:
    """Of the metric of a best beside the naive seed, where nothing was timed by costs."""
    return "best_speedup" if timed else "best_cost_ratio"


def metric_name(name: str) -> str:
    """What MLflow takes of it."""
    return re.sub(r"[^\w. :/-]", "_", name, flags=re.ASCII)


def shape_name(label: str) -> str:
    """ "M=256 N=256" -> "M256 N256": what MLflow takes as a metric's name."""
    return re.sub(r"[^\w. :-]", "_", label.replace("=", ""), flags=re.ASCII)


def _final(final: FinalMeasurement) -> dict[str, float]:
    low, high = final.ci95
    told = {"final_speedup": final.speedup, "final_low": low, "final_high": high}
    fastest = headline((final.speedup, low, high), final.baselines)
    if fastest is not None:
        told["final_over_fastest"] = fastest.ratio[0]
    for name, one in final.baselines.items():
        if one.ratio is not None:
            told[f"final_over/{metric_name(name)}"] = one.ratio[0]
    return told
