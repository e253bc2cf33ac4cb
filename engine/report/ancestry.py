"""The way from a seed to the best, step by step, as the page shows it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

from engine.report.predictions import gain_percent, predicted
from engine.report.sources import Diff, diff_listing
from engine.report.texts import short
from engine.store.lineage import Step, technique
from engine.store.ratios import standing
from engine.store.replay import Replay

MOST_STEPS = 40
MOST_TEXT = 4000
"""Characters of a description or a report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """A second kernel that a step drew on."""

    role: str  # "second parent" or "Reference"
    id: str
    speedup: str
    technique: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One kernel on the way. number: of the step, 0 for the seed. height: 0..1, how far it is on
    a logarithmic scale from the slowest to the fastest of them. held: "as predicted", "less than
    predicted" or "more than predicted"; "" where a prediction or a measured gain is missing."""

    number: int
    id: str
    origin: str
    island: int
    cycle: int
    speedup: str
    height: float
    what: str
    gain: str
    predicted: str
    held: str
    parent: Parent | None
    description: str
    rubric: str
    report: str
    diff: Diff | None


def rungs(replay: Replay, steps: Sequence[Step]) -> tuple[Rung, ...]:
    """The seed first; of a long way the seed and the last MOST_STEPS - 1."""
    shown = steps if len(steps) <= MOST_STEPS else [steps[0], *steps[1 - MOST_STEPS :]]
    first = len(steps) - len(shown)
    heights = list(_heights(steps))
    return tuple(
        _rung(replay, step, number=place + first * (place > 0), height=heights[steps.index(step)])
        for place, step in enumerate(shown)
    )


def _heights(steps: Sequence[Step]) -> Iterator[float]:
    known = [log(step.evaluation.over_seed) for step in steps if step.evaluation.over_seed]
    low, high = min(known, default=0.0), max(known, default=0.0)
    for step in steps:
        value = log(step.evaluation.over_seed) if step.evaluation.over_seed else low
        yield (value - low) / (high - low) if high > low else 0.0


def _rung(replay: Replay, step: Step, *, number: int, height: float) -> Rung:
    drafted, base, experiment = step.drafted, step.base, step.drafted.experiment
    range_ = predicted(drafted) if base else None
    gain = gain_percent(step.evaluation, base.evaluation) if base else None
    source = drafted.candidate.source
    return Rung(
        number=number,
        id=drafted.kernel_id,
        origin=drafted.origin,
        island=drafted.island,
        cycle=drafted.cycle,
        speedup=step.speedup.replace("x", "×"),
        height=height,
        what=step.text,
        gain=step.gain,
        predicted=f"{range_[0]:+g} to {range_[1]:+g}%" if range_ else "",
        held=_held(range_, gain) if range_ and gain is not None else "",
        parent=_second_parent(replay, step),
        description=_some(experiment.description if experiment else ""),
        rubric=_some(experiment.rubric if experiment else ""),
        report=_some(drafted.report),
        diff=diff_listing(base.drafted.candidate.source, source) if base else None,
    )


def _held(range_: tuple[float, float], gain: float) -> str:
    low, high = range_
    if gain < low:
        return "less than predicted"
    return "as predicted" if gain <= high else "more than predicted"


def _second_parent(replay: Replay, step: Step) -> Parent | None:
    if len(step.drafted.parents) < 2:
        return None
    kernel_id = step.drafted.parents[1]
    evaluation = replay.scores.evaluations.get(kernel_id)
    drafted = replay.first_drafts.get(kernel_id)
    return Parent(
        role="second parent" if step.drafted.origin == "crossover" else "Reference",
        id=short(kernel_id),
        speedup=standing(evaluation).replace("x", "×") if evaluation and evaluation.passed else "",
        technique=technique(drafted) if drafted else "",
    )


def _some(text: str) -> str:
    text = text.strip()
    return text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + " …"
