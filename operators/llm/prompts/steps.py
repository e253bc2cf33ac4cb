"""What prompts say of one step: the Base it was made from, what was changed, what it brought."""

from collections.abc import Mapping
from functools import lru_cache

from evaluators.evaluation import Evaluation, Rejected, Status
from evaluators.kernel.source import parse_kernel
from evaluators.measuring.gain import gain
from evaluators.measuring.intervals import Ratio, Spread
from operators.individual import Individual

Known = Mapping[str, Individual]
"""Individuals that may be looked up, by id."""

LINE_CHARACTERS = 160
MOST_CHANGES = 6


def one_line(text: str, limit: int = LINE_CHARACTERS) -> str:
    line = " ".join(text.split()).replace("|", "/")
    return line if len(line) <= limit else line[: limit - 3] + "..."


def base_of(one: Individual, known: Known) -> Individual | None:
    """The Base of the step that made it; None: not known, or it is nobody's child.

    Where a stored repair names the kernel that failed as its parent, it is that one's Base.
    """
    met = {one.id}
    base = known.get(one.parents[0]) if one.parents else None
    while base is not None and one.origin == "repair" and _failed(base) and base.parents:
        if base.id in met:
            return None
        met.add(base.id)
        base = known.get(base.parents[0])
    return base


def failures(one: Individual, known: Known) -> list[Individual]:
    """The kernels that failed before it in the same slot, the first one first."""
    chain: list[Individual] = []
    identity = one.repairs or (one.parents[0] if one.origin == "repair" and one.parents else "")
    while (before := known.get(identity)) is not None and _failed(before):
        if before in chain:
            break
        chain.insert(0, before)
        identity = before.repairs or (before.parents[0] if before.origin == "repair" else "")
    return chain


def _failed(one: Individual) -> bool:
    return one.evaluation.status not in (Status.PASSED, Status.STOPPED_EARLY)


def gain_over_base(one: Individual, known: Known, spread: Spread) -> Ratio | None:
    """How many times as fast as its Base; None: no Base is known, or one of them has no times."""
    base = base_of(one, known)
    return gain(one.evaluation, base.evaluation, spread) if base else None


def percent(ratio: Ratio) -> str:
    """ "+32% (+28..+36)"; where the interval holds no gain at all, that is what it says."""
    estimate, low, high = (100 * (value - 1) for value in ratio)
    if low <= 0 <= high:
        return f"within noise ({low:+.2g}..{high:+.2g}%)"
    return f"{_signed(estimate)}% ({_signed(low)}..{_signed(high)})"


def _signed(value: float) -> str:
    return f"{value:+.3g}" if abs(value) < 1000 else f"{value:+.0f}"


def outcome(one: Individual, known: Known, spread: Spread) -> str:
    """The paired gain over its Base beside the prediction, or how it failed; "" for a seed."""
    found = gain_over_base(one, known, spread)
    if found is None:
        return _without_gain(one.evaluation) if one.parents or not one.evaluation.passed else ""
    said = percent(found) if one.evaluation.timed else f"{1 / found[0]:.3g} of its cost"
    if one.experiment is None or one.experiment.by_a_person or one.origin == "mutation":
        return said
    low, high = one.experiment.performance
    return f"{said}, predicted {low:+g}..{high:+g}%"


def _without_gain(evaluation: Evaluation) -> str:
    if evaluation.passed:
        return "its Base is not known here"
    return f"{evaluation.status}: {one_line(evaluation.reason)}"


def what(one: Individual, known: Known) -> str:
    """What was changed, on one line: the experiment, the parameters, or what was united."""
    if one.origin == "mutation":
        return f"mutation: {changes(one, known) or 'parameters within its space'}"
    if one.origin == "crossover":
        said = f": {one.report}" if one.report.strip() else ""
        return one_line(f"crossover of {' and '.join(one.parents)}{said}")
    if one.experiment is None:
        return one.origin
    technique = f"{one.experiment.technique}: " if one.experiment.technique else ""
    repaired = ", repaired" if one.origin == "repair" else ""
    return one_line(technique + one.experiment.description) + repaired


def changes(one: Individual, known: Known) -> str:
    """ "ROWS 1 -> 8, V 4 -> 8": the parameters that differ from its Base's."""
    base = base_of(one, known)
    if base is None:
        return ""
    before, after = params_of(base.candidate.source), params_of(one.candidate.source)
    changed = [
        f"{name} {before.get(name, '-')} -> {after.get(name, '-')}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    more = f" and {len(changed) - MOST_CHANGES} more" if len(changed) > MOST_CHANGES else ""
    return ", ".join(changed[:MOST_CHANGES]) + more


@lru_cache(maxsize=2000)
def params_of(source: str) -> Mapping[str, int]:
    """The parameters that a kernel file sets; none where it can't be read."""
    try:
        return dict(parse_kernel(source).params)
    except Rejected:
        return {}
