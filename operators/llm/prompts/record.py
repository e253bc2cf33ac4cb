"""The experiment record of a campaign as prompts tell it: what was tried and what came of it."""

from collections.abc import Sequence

from evaluators.measuring.intervals import Spread
from operators.individual import Idea, Individual
from operators.llm.prompts.room import DROPPED_TOGETHER
from operators.llm.prompts.steps import Known, gain_over_base, one_line, outcome, percent, what
from operators.llm.prompts.tables import clip
from operators.operator import Repeat

AT_LENGTH = 0.7
"""Of the record; the rest is for the names of what is older."""
MOST_UNDER_WAY = 24


def record(known: Known, spread: Spread, count: int) -> str:
    """The last `count` steps of all islands, oldest first, each with its paired gain or its trap.

    Mutations of one kernel are one line; of older steps the techniques are named at least.
    """
    steps, tuned = _steps(known)
    recent = steps[max(0, len(steps) - count) :]
    older = steps[: len(steps) - len(recent)]
    lines = [_older(older, known, spread)] if older else []
    lines += [
        f"- {what(one, known)} [on {one.parents[0]}]: {outcome(one, known, spread)}"
        for one in recent
    ]
    latest = list(tuned.items())[-count:]
    lines += [_tuned(parent, made, known, spread) for parent, made in latest]
    return "\n".join(lines)


def record_within(known: Known, spread: Spread, characters: int) -> str:
    """The record, with as many of its steps told at length as so many characters hold.

    Others join the older ones several at once: between, prompts begin alike, and endpoints cache
    that.
    """
    steps, _ = _steps(known)
    whole = record(known, spread, max(1, len(steps)))
    if len(whole) <= characters:
        return whole
    lines = whole.splitlines()
    left = 0
    while left < len(steps) and sum(map(len, lines[left:])) > AT_LENGTH * characters:
        left += DROPPED_TOGETHER
    return clip(record(known, spread, max(1, len(steps) - left)), characters)


def _steps(known: Known) -> tuple[list[Individual], dict[str, list[Individual]]]:
    """Steps without those that were repaired, oldest first; and mutations by what they change."""
    tuned: dict[str, list[Individual]] = {}
    steps = []
    for one in known.values():
        if one.origin == "mutation" and one.parents:
            tuned.setdefault(one.parents[0], []).append(one)
        elif one.parents:
            steps.append(one)
    repaired = {one.repairs for one in steps if one.repairs}
    return [one for one in steps if one.id not in repaired], tuned


def under_way(claimed: Sequence[Idea], known: Known) -> tuple[str, ...]:
    """Ideas that went to a writer and have not come back, on one line each."""
    back = {
        (one.experiment.technique, one.experiment.description)
        for one in known.values()
        if one.experiment is not None
    }
    out = [one for one in claimed if (one.technique, one.description) not in back]
    return tuple(one_line(f"{one.technique}: {one.description}") for one in out[-MOST_UNDER_WAY:])


def repeat_line(repeat: Repeat, known: Known, spread: Spread) -> str:
    """What an idea repeats, and what came of that."""
    came = [
        outcome(one, known, spread)
        for one in known.values()
        if one.experiment is not None
        and one.experiment.technique == repeat.technique
        and one.experiment.description == repeat.description
    ]
    last = came[-1] if came else "it is under way, or was given up"
    earlier = f"{repeat.technique} ({one_line(repeat.description)})"
    return f"{repeat.experiment.technique} repeats {earlier}: {last}"


def _older(steps: Sequence[Individual], known: Known, spread: Spread) -> str:
    """Techniques of before, each once, with the last thing that came of it."""
    found: dict[str, str] = {}
    for one in steps:
        name = one.experiment.technique if one.experiment else one.origin
        ratio = gain_over_base(one, known, spread)
        found[name] = percent(ratio) if ratio else str(one.evaluation.status)
    listed = "; ".join(f"{one_line(name, 60)} ({came})" for name, came in found.items())
    return f"- earlier ({len(steps)} steps): {listed}"


def _tuned(parent: str, made: Sequence[Individual], known: Known, spread: Spread) -> str:
    """Mutations of one kernel, with the best of them."""
    gains = [(ratio, one) for one in made if (ratio := gain_over_base(one, known, spread))]
    if not gains:
        return f"- {len(made)} mutations of {parent}: none passed"
    ratio, best = max(gains, key=lambda pair: pair[0][0])
    return f"- {len(made)} mutations of {parent}: the best, {what(best, known)}, {percent(ratio)}"
