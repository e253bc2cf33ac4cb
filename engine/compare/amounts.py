"""Equal amounts: up to where campaigns can be compared, and which of them cut that short."""

import math
from collections.abc import Iterator, Mapping, Sequence

from engine.compare.arms import listed
from engine.compare.campaign import Campaign, CompareError
from engine.history.trajectory import AXES, Axis

SHORT = 0.5
"""A campaign that reached less than that part of the longest cuts that short."""

Amounts = Mapping[str, Mapping[Axis, float]]
"""By the task's hash and axis: what every campaign of the task spent; an axis on which one of them
spent nothing is missing."""

UNITS: Mapping[Axis, str] = {
    "evaluations": "evaluations",
    "device_s": "device seconds",
    "dollars": "dollars",
}


def equal_amounts(campaigns: Sequence[Campaign], over: Axis, at: float | None) -> Amounts:
    """The largest that every campaign of a task reached; `at`, where it is given, on one axis.

    Raises CompareError where nothing was spent on the axis `over`.
    """
    amounts = {
        task: dict(_of_task([one for one in campaigns if one.task_hash == task]))
        for task in dict.fromkeys(one.task_hash for one in campaigns)
    }
    for task, found in amounts.items():
        if over not in found:
            who = listed([o.name for o in campaigns if o.task_hash == task and not o.spent(over)])
            raise CompareError(
                f"--over {over}: nothing to compare at, as these spent no {UNITS[over]}: {who}"
            )
        if at is not None:
            found[over] = at
    return amounts


def far_enough(
    campaigns: Sequence[Campaign], over: Axis, at: float
) -> tuple[list[Campaign], list[str]]:
    """Those that reached `at`, and a sentence on the others. Raises CompareError."""
    if over == "evaluations" and (at < 1 or at != round(at)):
        raise CompareError(f"--at {at:g}: evaluations are whole; say 1 or more")
    kept = [one for one in campaigns if one.reached(over) >= at]
    short = [one for one in campaigns if one not in kept]
    if len(kept) < 2:
        longest = max(one.spent(over) for one in campaigns)
        raise CompareError(
            f"--at {at:g}: fewer than two campaigns reached {at:g} {UNITS[over]}; the longest "
            f"reached {longest:.4g}"
        )
    if not short:
        return kept, []
    ends = listed([f"{one.name} ({one.spent(over):.4g})" for one in short])
    return kept, [f"left out, as they ended before {at:g} {UNITS[over]}: {ends}"]


def cut_short(campaigns: Sequence[Campaign], over: Axis) -> Iterator[str]:
    """A sentence for each task in which some campaigns ended long before others."""
    for task in dict.fromkeys(one.task_hash for one in campaigns):
        members = [one for one in campaigns if one.task_hash == task]
        longest = max(one.spent(over) for one in members)
        short = [one for one in members if one.reached(over) < SHORT * longest]
        if short:
            ends = listed([f"{one.name} at {one.spent(over):.4g}" for one in short])
            yield (
                f"all are compared where the shortest ended; long before the others ended {ends} "
                f"{UNITS[over]}, while the longest went on to {longest:.4g}: leave short ones out, "
                "or say --at N"
            )


def amount_text(amounts: Amounts, axis: Axis, tasks: Sequence[str]) -> str:
    """ "60 evaluations"; "equal evaluations" where tasks have amounts of their own."""
    values = {amounts[task][axis] for task in tasks if axis in amounts[task]}
    if len(values) != 1:
        return f"equal {UNITS[axis]}"
    (value,) = values
    text = f"{value:.0f}" if axis == "evaluations" or value >= 100 else f"{value:.3g}"
    return f"{text} {UNITS[axis]}"


def _of_task(members: Sequence[Campaign]) -> Iterator[tuple[Axis, float]]:
    for axis in AXES:
        if not all(one.spent(axis) > 0 for one in members):
            continue
        least = min(one.reached(axis) for one in members)
        # Where all tried every kernel there is, none would find more.
        yield axis, least if least < math.inf else max(one.spent(axis) for one in members)
