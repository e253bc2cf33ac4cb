"""What prompts say of individuals: tables, listings with their one-step analysis, verdicts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.evaluation import Evaluation
from evaluators.measuring.gain import gain, gains_over_seed
from evaluators.measuring.intervals import Spread
from operators.individual import Individual
from operators.llm.prompts.diagnosis import diagnosis
from operators.llm.prompts.steps import (
    Known,
    base_of,
    changes,
    failures,
    one_line,
    outcome,
    percent,
    what,
)

REASON_CHARACTERS = 1_500
REPORT_CHARACTERS = 1_200
EXPERIMENT_CHARACTERS = 1_200
PROFILE_CHARACTERS = 400  # of one sentence
MOST_PROFILE_LINES = 8


def clip(text: str, limit: int) -> str:
    """At most limit characters: the beginning and the end, and how much was left out between."""
    if len(text) <= limit:
        return text
    if limit < 80:
        return text[:limit]
    note = f"\n... ({len(text) - limit} characters left out) ...\n"
    kept = limit - len(note)
    return text[: kept * 2 // 3] + note + text[len(text) - kept + kept * 2 // 3 :]


def table(individuals: Sequence[Individual], known: Known, spread: Spread) -> str:
    """One row an individual: id, parents, speedups over the seed (paired, in all and by shape),
    gain over its Base, what was changed."""
    measured = [one.evaluation.times_us or one.evaluation.costs for one in individuals]
    labels = list(dict.fromkeys(label for one in measured for label in one))
    timed = all(one.evaluation.timed for one in individuals)
    figure = "speedup" if timed else "cost over the seed's (nothing was timed)"
    head = ["id", "parents", "island", figure, *labels, "gain over its first parent", "made by"]
    rows = [head, ["---"] * len(head)]
    for one in individuals:
        evaluation = one.evaluation
        rows.append(
            [
                one.id,
                " ".join(one.parents) or "-",
                str(one.island),
                _speedup(evaluation),
                *(_cell(evaluation, label) for label in labels),
                outcome(one, known, spread) or "-",
                what(one, known),
            ]
        )
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _speedup(evaluation: Evaluation) -> str:
    if not evaluation.passed:
        return str(evaluation.status)
    if not evaluation.timed:
        return f"{1 / (evaluation.over_seed or 1.0):.3g}"
    if not evaluation.blocks and evaluation.anchor_id is None and evaluation.speedup in (None, 1.0):
        return "1 (seed)"
    interval = evaluation.ci95
    spread = f" ({interval[0]:.3g}..{interval[1]:.3g})" if interval else ""
    return f"{evaluation.speedup:.3g}x{spread}"


def _cell(evaluation: Evaluation, label: str) -> str:
    """ "3.2x (45%)": the paired speedup over the seed on the shape, and of the speed of light."""
    over_seed = gains_over_seed(evaluation).get(label)
    if over_seed is None:
        return "-"
    if not evaluation.timed:
        return f"{math.exp(-over_seed):.3g}"
    light = evaluation.speed_of_light.get(label)
    reached = f" ({100 * light:.3g}%)" if light is not None else ""
    return f"{math.exp(over_seed):.3g}x{reached}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A kernel's code with its one-step analysis."""

    id: str
    lineage: str
    experiment: str
    report: str
    times: str
    diagnosis: tuple[str, ...]
    source: str


def listing(
    one: Individual, known: Known, spread: Spread, limit: int, *, profile: Sequence[str] = ()
) -> Listing:
    """limit: characters of source; profile: a profiler's advice."""
    experiment = ""
    if one.experiment is not None:
        experiment = clip(
            f"{one.experiment.description} Rubric: {one.experiment.rubric}", EXPERIMENT_CHARACTERS
        )
    return Listing(
        id=one.id,
        lineage=_lineage(one, known, spread),
        experiment=experiment,
        report=clip(one.report.strip(), REPORT_CHARACTERS),
        times=_times(one, known, spread),
        diagnosis=diagnosis(one.evaluation, profile_lines(profile)),
        source=clip(one.candidate.source.strip(), limit),
    )


def _lineage(one: Individual, known: Known, spread: Spread) -> str:
    """Where it comes from, with its gain; of a repaired one all that failed before it."""
    if not one.parents:
        return f"Origin: {one.origin}."
    base = base_of(one, known)
    parents = " and ".join([base.id if base else one.parents[0], *one.parents[1:]])
    origin = "experiment" if one.origin == "repair" and one.experiment else one.origin
    made = f" ({changes(one, known)})" if origin == "mutation" and base else ""
    lines = [f"Made from {parents} by {origin}{made}."]
    for before in failures(one, known):
        report = f" Its report: {one_line(before.report, 400)}" if before.report.strip() else ""
        lines.append(
            f"Kernel {before.id} was tried before it, and was repaired: "
            f"{before.evaluation.status}, {one_line(before.evaluation.reason, 300)}.{report}"
        )
    if one.evaluation.passed and (came := outcome(one, known, spread)):
        lines.append(f"Gain over {base.id if base else one.parents[0]}: {came}.")
    return " ".join(lines)


def _times(one: Individual, known: Known, spread: Spread) -> str:
    """Its times, and by shape how it compares with its Base."""
    evaluation = one.evaluation
    if not evaluation.passed:
        return f"No times: {evaluation.status}, {one_line(evaluation.reason, 400)}"
    if not evaluation.timed:
        return _costs(evaluation)
    base = base_of(one, known)
    over = f"gain over {base.id}" if base else "gain over its Base"
    rows = [f"| shape | us | % of the speed of light | {over} |", "|---|---|---|---|"]
    for label, time_us in evaluation.times_us.items():
        light = evaluation.speed_of_light.get(label)
        found = gain(evaluation, base.evaluation, spread, label=label) if base else None
        rows.append(
            f"| {label} | {time_us:.4g} | {'-' if light is None else f'{100 * light:.3g}'} "
            f"| {percent(found) if found else '-'} |"
        )
    return "\n".join([f"Speedup over the naive seed: {_speedup(evaluation)}.", "", *rows])


def _costs(evaluation: Evaluation) -> str:
    """By shape, of a kernel that ran on an emulated device."""
    rows = ["| shape | cost | over the seed's |", "|---|---|---|"]
    for label, cost in evaluation.costs.items():
        rows.append(f"| {label} | {cost:.4g} | {_cell(evaluation, label)} |")
    said = "Nothing was timed: costs are estimated issue cycles a SIMD, in emulation."
    return "\n".join([said, "", *rows])


def profile_lines(advice: Sequence[str]) -> tuple[str, ...]:
    """A profiler's first sentences, of the kernels that take longest, each on one line."""
    return tuple(one_line(sentence, PROFILE_CHARACTERS) for sentence in advice[:MOST_PROFILE_LINES])


def verdict(failed: Individual) -> str:
    evaluation = failed.evaluation
    lines = [f"{evaluation.status}: {clip(evaluation.reason, REASON_CHARACTERS)}"]
    worst = sorted(evaluation.errors.items(), key=lambda item: -item[1])[:4]
    lines += [f"- {place}: error {size:.3g} times the limit" for place, size in worst]
    return "\n".join(lines)
