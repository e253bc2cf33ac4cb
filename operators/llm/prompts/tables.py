"""What prompts say of individuals: tables, listings with their one-step analysis, verdicts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluators.evaluation import Evaluation
from operators.individual import Individual
from operators.llm.prompts.diagnosis import diagnosis

LINE_CHARACTERS = 160
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


def one_line(text: str, limit: int = LINE_CHARACTERS) -> str:
    line = " ".join(text.split()).replace("|", "/")
    return line if len(line) <= limit else line[: limit - 3] + "..."


def table(individuals: Sequence[Individual], known: Mapping[str, Individual]) -> str:
    """One row an individual: id, parents, speedup, a column a shape, the experiment's one line."""
    labels = list(dict.fromkeys(label for one in individuals for label in one.evaluation.times_us))
    head = ["id", "parents", "island", "speedup", *labels, "measured gain", "experiment"]
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
                gain_text(one, known) or "-",
                _made_by(one),
            ]
        )
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _speedup(evaluation: Evaluation) -> str:
    if not evaluation.passed:
        return str(evaluation.status)
    if evaluation.speedup is None:
        return "1 (seed)"
    interval = evaluation.ci95
    spread = f" ({interval[0]:.3g}..{interval[1]:.3g})" if interval else ""
    return f"{evaluation.speedup:.3g}x{spread}"


def _cell(evaluation: Evaluation, label: str) -> str:
    if label not in evaluation.times_us:
        return "-"
    light = evaluation.speed_of_light.get(label)
    reached = f" ({100 * light:.3g}%)" if light is not None else ""
    return f"{evaluation.times_us[label]:.4g}{reached}"


def _made_by(one: Individual) -> str:
    if one.experiment is None:
        return one.origin
    technique = f"{one.experiment.technique}: " if one.experiment.technique else ""
    return one_line(technique + one.experiment.description)


def gain_percent(one: Individual, known: Mapping[str, Individual]) -> float | None:
    """Measured uplift over the first parent in percent, over the shapes that both have times of."""
    parent = known.get(one.parents[0]) if one.parents else None
    if parent is None:
        return None
    mine, theirs = one.evaluation.times_us, parent.evaluation.times_us
    logs = [math.log(theirs[label] / mine[label]) for label in mine if label in theirs]
    return 100 * math.expm1(sum(logs) / len(logs)) if logs else None


def gain_text(one: Individual, known: Mapping[str, Individual]) -> str:
    gain = gain_percent(one, known)
    if gain is None:
        return "" if one.evaluation.passed else str(one.evaluation.status)
    if one.experiment is None:
        return f"{gain:+.3g}%"
    low, high = one.experiment.performance
    return f"{gain:+.3g}% (predicted {low:g}..{high:g})"


def totals(known: Mapping[str, Individual], count: int) -> str:
    """The last experiments: what was tried, predicted and measured; failures with their reason."""
    made = [one for one in known.values() if one.experiment is not None]
    lines = []
    for one in made[len(made) - min(count, len(made)) :]:
        reason = "" if one.evaluation.passed else f": {one_line(one.evaluation.reason)}"
        lines.append(f"- {_made_by(one)} -> {gain_text(one, known) or 'no parent known'}{reason}")
    return "\n".join(lines)


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
    one: Individual, known: Mapping[str, Individual], limit: int, *, profile: Sequence[str] = ()
) -> Listing:
    """limit: characters of source; profile: a profiler's advice."""
    experiment = ""
    if one.experiment is not None:
        experiment = clip(
            f"{one.experiment.description} Rubric: {one.experiment.rubric}", EXPERIMENT_CHARACTERS
        )
    gain = gain_text(one, known)
    parents = " and ".join(one.parents)
    lineage = f"Made from {parents} by {one.origin}." if parents else f"Origin: {one.origin}."
    if gain and one.evaluation.passed:
        lineage += f" Measured gain over {one.parents[0]}: {gain}."
    return Listing(
        id=one.id,
        lineage=lineage,
        experiment=experiment,
        report=clip(one.report.strip(), REPORT_CHARACTERS),
        times=_times(one, known),
        diagnosis=diagnosis(one.evaluation, profile_lines(profile)),
        source=clip(one.candidate.source.strip(), limit),
    )


def _times(one: Individual, known: Mapping[str, Individual]) -> str:
    """Its own times beside its first parent's."""
    evaluation = one.evaluation
    if not evaluation.passed:
        return f"No times: {evaluation.status}, {one_line(evaluation.reason, 400)}"
    parent = known.get(one.parents[0]) if one.parents else None
    rows = ["| shape | us | % of the speed of light | its parent, us |", "|---|---|---|---|"]
    for label, time_us in evaluation.times_us.items():
        light = evaluation.speed_of_light.get(label)
        before = parent.evaluation.times_us.get(label) if parent else None
        rows.append(
            f"| {label} | {time_us:.4g} | {'-' if light is None else f'{100 * light:.3g}'} "
            f"| {'-' if before is None else f'{before:.4g}'} |"
        )
    return "\n".join([f"Speedup over the naive seed: {_speedup(evaluation)}.", "", *rows])


def profile_lines(advice: Sequence[str]) -> tuple[str, ...]:
    """A profiler's first sentences, of the kernels that take longest, each on one line."""
    return tuple(one_line(sentence, PROFILE_CHARACTERS) for sentence in advice[:MOST_PROFILE_LINES])


def verdict(failed: Individual) -> str:
    evaluation = failed.evaluation
    lines = [f"{evaluation.status}: {clip(evaluation.reason, REASON_CHARACTERS)}"]
    worst = sorted(evaluation.errors.items(), key=lambda item: -item[1])[:4]
    lines += [f"- {place}: error {size:.3g} times the limit" for place, size in worst]
    return "\n".join(lines)
