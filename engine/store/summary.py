"""A campaign's result from its store: the summary, and the best kernel's file."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engine.store.ratios import COSTS, NOTHING_TIMED
from engine.store.replay import Replay
from engine.store.scoreboard import Best
from engine.store.spending import Spending
from evaluators.evaluation import Beside, Evaluation
from evaluators.measuring.headline import Headline, baseline_lines, headline, headline_text
from evaluators.measuring.sittings import meaning
from evaluators.weights import Weights, mean_text, of_whole

TO_MEASURE, MOST_TO_MEASURE = "to_measure", 5
"""The folder of a campaign's kernels to take to a real device, where nothing was timed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestFound:
    """parents: the kernel's own; technique: of the step that made it; lineage_length: steps.

    speedup, ci95, ci99: over the naive seed, as meaning says; where nothing was timed the first is
    the seed's cost over its own (see costs), and is written as cost_ratio. search: the search's own
    speedup and ci95, from one race. busy: a sentence where the machine was at the end. mean: of
    what over shapes speedup is, "" for one shape; weights: of the shapes, {} where none are stated;
    whole: how many times as fast all calls together are (see of_whole()), None without weights.
    fastest: beside the fastest of the task's baselines, where others than the naive seed were
    measured at the end; baselines: beside each. launching_us: see Evaluation. beyond: speedups on
    shapes that the search did not time (search_shapes). engines: a sentence where the naive seed
    was timed by another.
    """

    id: str
    speedup: float
    ci95: tuple[float, float] | None
    ci99: tuple[float, float] | None  # by which a win is told
    meaning: str
    sittings: int
    busy: str
    search: Mapping[str, Any]
    times_us: Mapping[str, float]
    speed_of_light: Mapping[str, float]
    arithmetic: str  # whose peak that is of
    parents: tuple[str, ...]
    lineage_length: int
    technique: str
    costs: Mapping[str, float]
    mean: str = ""
    weights: Weights = field(default_factory=dict)
    whole: float | None = None
    fastest: Headline | None = None
    baselines: Mapping[str, Beside] = field(default_factory=dict)
    launching_us: Mapping[str, float] = field(default_factory=dict)
    beyond: Mapping[str, float] = field(default_factory=dict)
    engines: str = ""

    @property
    def headline(self) -> str:
        """ "1.42x over torch (the fastest of 3 baselines), 3.10x over the naive seed"."""
        if self.fastest is None:
            return f"{self.speedup:.2f}x the naive seed"
        return headline_text(self.fastest, self.speedup)

    @property
    def baseline_lines(self) -> tuple[str, ...]:
        """See measuring.baselines.baseline_lines()."""
        low, high = self.ci95 or (0.0, 0.0)
        return tuple(baseline_lines((self.speedup, low, high), self.baselines))

    @property
    def shown_faster(self) -> bool:
        """Whether no interval that was computed leaves room for the naive seed's own speed."""
        return all(low > 1.0 for low, _ in filter(None, (self.ci95, self.ci99)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """runs/<name>/summary.json."""

    campaign: str
    run_dir: str
    task: str
    backend: str
    device: str
    evaluations: Mapping[str, Any]  # total, in_idle_time of them, by_status
    baseline: Mapping[str, Any]  # id, times_us
    best: BestFound | None
    elapsed_s: float
    searched_s: float  # of these, what budgets.wall_time_s counts
    evaluations_per_s: float  # over the sessions that evaluated anything
    device_busy_fraction: float
    resumed: bool
    ended: str  # why
    faults: int
    demotions: int = 0  # bests that a kernel known before was shown to be faster than
    wrong: tuple[str, ...] = ()  # ids of what seemed faster than the best, and was wrong elsewhere
    calls: Spending | None = None  # of models; None where none was asked
    timed: bool = True  # False: devices were emulated, and kernels ordered by their costs
    to_measure: tuple[str, ...] = ()  # ids of kernels to take to a real device, where it is so

    def to_json(self) -> dict[str, Any]:
        values = asdict(self)
        del values["run_dir"]  # a path of this machine says nothing elsewhere
        if self.best is not None and not self.timed:
            values["best"]["cost_ratio"] = values["best"].pop("speedup")
            del values["best"]["search"]
        return values


def summarise(replay: Replay, run_dir: Path) -> Summary:
    """What a stored campaign found, whether it ended in order or was killed."""
    scores, config = replay.scores, replay.campaign.config
    baseline = scores.evaluations.get(replay.campaign.baseline_id)
    total = scores.by_status.total()
    last = replay.sessions[-1] if replay.sessions else None
    devices = max((session.started.devices for session in replay.sessions), default=0)
    # A session that evaluated nothing says nothing of how fast the others were.
    worked = [session for session in replay.sessions if session.evaluated]
    worked_s = sum(session.elapsed_s for session in worked)
    busy_s = sum(session.device_s for session in worked)
    spending = replay.calls.totals.spending()
    return Summary(
        campaign=run_dir.name,
        run_dir=str(run_dir),
        task=Path(str(config["task"])).name,
        backend=str(config["backend"]),
        device=last.started.device if last else "",
        evaluations={
            "total": total,
            "in_idle_time": scores.tuned,
            "by_status": dict(sorted(scores.by_status.items())),
        },
        baseline={
            "id": replay.campaign.baseline_id,
            "times_us": dict(baseline.times_us) if baseline else {},
        },
        best=_best(replay),
        elapsed_s=replay.elapsed_s,
        searched_s=replay.searched_s,
        evaluations_per_s=total / worked_s if worked_s else 0.0,
        device_busy_fraction=min(1.0, busy_s / (worked_s * devices)) if worked_s else 0.0,
        resumed=len(replay.sessions) > 1,
        ended=replay.ended,
        faults=replay.faults,
        demotions=len(scores.titles.demotions),
        wrong=tuple(one.kernel_id for one in scores.titles.wrong),
        calls=spending if spending.calls else None,
        timed=replay.timed,
        to_measure=() if replay.timed else tuple(_to_measure(replay)),
    )


def _best(replay: Replay) -> BestFound | None:
    best = replay.scores.best
    if best is None:
        return None
    evaluation, final = replay.scores.evaluations[best.kernel_id], replay.scores.titles.final
    if not best.final:
        final = None
    baselines = final.baselines if final is not None else {}
    gains = (final and final.gains) or replay.scores.titles.places.get(best.kernel_id, {})
    lineage = replay.lineage(best.kernel_id)
    drafted = lineage[0] if lineage else None
    experiment = drafted.experiment if drafted else None
    return BestFound(
        id=best.kernel_id,
        speedup=best.speedup,
        ci95=best.ci95,
        ci99=best.ci99,
        meaning=meaning_of(best),
        sittings=best.sittings,
        busy=final.busy if final is not None else "",
        search={"speedup": evaluation.speedup, "ci95": evaluation.ci95},
        times_us=evaluation.times_us,
        speed_of_light=evaluation.speed_of_light,
        arithmetic=evaluation.arithmetic,
        parents=drafted.parents if drafted else (),
        lineage_length=max(0, len(lineage) - 1),
        technique=experiment.technique if experiment else (drafted.origin if drafted else ""),
        costs=evaluation.costs,
        mean=mean_text(
            max(len(gains), len(evaluation.times_us or evaluation.costs)), evaluation.weights
        ),
        weights=evaluation.weights,
        whole=of_whole(evaluation.times_us, gains, evaluation.weights),
        fastest=headline((best.speedup, *(best.ci95 or (0.0, 0.0))), baselines),
        baselines=baselines,
        launching_us=evaluation.launching_us,
        beyond={
            label: math.exp(gain)
            for label, gain in gains.items()
            if evaluation.timed and label not in evaluation.times_us
        },
        engines=engines_text(
            evaluation, replay.scores.evaluations.get(replay.campaign.baseline_id)
        ),
    )


def engines_text(best: Evaluation, seed: Evaluation | None) -> str:
    """Beware where two engines timed them, one of which may be many times as fast."""
    if seed is None or seed.engine == best.engine or not (seed.engine and best.engine):
        return ""
    return (
        f"engines differ: {best.engine} timed it and {seed.engine} the naive seed, so the figure "
        "is of the engines as much as of the kernels"
    )


def _to_measure(replay: Replay) -> Iterator[str]:
    """The best, and those that cost least after it, and less than the naive seed."""
    best, seed_id = replay.scores.best, replay.campaign.baseline_id
    if best is not None and best.kernel_id != seed_id:
        yield best.kernel_id
        for one in replay.scores.ranked(MOST_TO_MEASURE - 1):
            if (replay.scores.evaluations[one].over_seed or 0.0) > 1:
                yield one


def meaning_of(best: Best) -> str:
    """What its figures mean, for a person."""
    if not best.timed:
        return f"{NOTHING_TIMED}: {COSTS}"
    if best.final:
        return meaning(best.sittings)
    if best.sittings:
        return (
            "the product of contests from the naive seed to it, each with the best before it in "
            "new processes on new inputs; not measured against the seed itself"
        )
    return "from one race of the search; not measured again"


def write_results(whole: Replay, run_dir: Path) -> Summary:
    """summary.json and best.hip, from the store."""
    summary = summarise(whole, run_dir)
    write_summary(summary, run_dir)
    best = whole.scores.best
    if best is not None and best.kernel_id in whole.first_drafts:
        write_best(whole.first_drafts[best.kernel_id].candidate.source, run_dir)
    for place, kernel_id in enumerate(summary.to_measure):
        if kernel_id in whole.first_drafts:
            source = whole.first_drafts[kernel_id].candidate.source
            (run_dir / TO_MEASURE).mkdir(exist_ok=True)
            _put(run_dir / TO_MEASURE / f"{place + 1}.hip", source)
    return summary


def write_summary(summary: Summary, run_dir: Path) -> None:
    _put(run_dir / "summary.json", json.dumps(summary.to_json(), indent=2) + "\n")


def write_best(source: str, run_dir: Path) -> None:
    _put(run_dir / "best.hip", source)


def _put(path: Path, text: str) -> None:
    """In one step: a reader, or a kill, never meets half a file."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text)
    partial.replace(path)
