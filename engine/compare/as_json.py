"""A comparison as plain JSON values."""

from collections.abc import Mapping, Sequence
from typing import Any

from engine.compare.arms import Arm, in_common
from engine.compare.campaign import Campaign
from engine.compare.comparison import Comparison
from engine.compare.finals import told_apart, told_together
from engine.compare.pairs import QUANTITIES, Estimate, Pair
from engine.compare.sentences import headlines
from engine.compare.winners import Remeasured
from engine.history.trajectory import AXES
from evaluators.measuring.intervals import Ratio


def comparison_json(
    comparison: Comparison, remeasured: Sequence[Remeasured] = (), plot: str = ""
) -> dict[str, Any]:
    """What `compare --json` prints.

    verdicts, winners, notes: the sentences a person reads. question: by ("best": speedup over the
    naive seed of the best so far; "area": exp of the mean of its logarithm until then), over (the
    axis) and at (what --at said, or null). amounts: by task and axis, where campaigns were
    compared. repetitions: all are of one configuration, and each stands for itself in arms.
    arms: letter, name, settings (what differs from the defaults), campaigns by name, and levels:
    by quantity and axis {value, ci95}, the geometric mean over campaigns; ci95 is null for one.
    pairs: first and second by letter, campaigns (of each), tasks, ratios (by quantity and axis
    {value, ci95, p}: how many times as good the second is), by_task, and verdict: outcome ("real",
    "not shown", "too few"), p (adjusted for the number of pairs), least and needed (campaigns of
    each and task), needed_for (the ratio that these would show).
    campaigns: name, arm, task, task_hash, seed, config_hash, device, toolchain, state, ended, spent
    (by axis) and best (kernel_id, speedup, ci95, final). remeasured: by task, sittings, seconds,
    device, over_seed (by campaign [speedup, low, high]), duels (first, second, ratio, shown), wrong
    and busy. plot: the file, or "".
    """
    return {
        "verdicts": list(headlines(comparison)),
        "winners": [
            *told_apart(comparison),
            *(line for made in remeasured for line in told_together(made)),
        ],
        "notes": list(comparison.notes),
        "question": {
            "by": comparison.question.by,
            "over": comparison.question.over,
            "at": comparison.question.at,
        },
        "repetitions": comparison.repetitions,
        "in_common": in_common(comparison.arms),
        "amounts": {
            comparison.tasks[task]: dict(amounts) for task, amounts in comparison.amounts.items()
        },
        "arms": [_arm(comparison, arm) for arm in comparison.arms],
        "pairs": [_pair(comparison, pair) for pair in comparison.pairs],
        "campaigns": [_campaign(arm, one) for arm in comparison.arms for one in arm.campaigns],
        "remeasured": [_remeasured(made) for made in remeasured],
        "plot": plot,
    }


def _arm(comparison: Comparison, arm: Arm) -> dict[str, Any]:
    levels = {
        quantity: {
            axis: _estimate(level)
            for axis in AXES
            if (level := comparison.level(arm, quantity, axis)) is not None
        }
        for quantity in QUANTITIES
    }
    return {
        "letter": arm.letter,
        "name": arm.name,
        "settings": dict(arm.campaigns[0].settings),
        "campaigns": [one.name for one in arm.campaigns],
        "levels": levels,
    }


def _pair(comparison: Comparison, pair: Pair) -> dict[str, Any]:
    ratios: dict[str, dict[str, Any]] = {quantity: {} for quantity in QUANTITIES}
    for cell in pair.cells:
        ratios[cell.quantity][cell.axis] = {**_estimate(cell.ratio), "p": cell.p}
    verdict = pair.verdict
    return {
        "first": pair.first.letter,
        "second": pair.second.letter,
        "campaigns": list(pair.counts),
        "tasks": [comparison.tasks[task] for task in pair.tasks],
        "ratios": ratios,
        "by_task": {comparison.tasks[k]: _estimate(v) for k, v in pair.by_task.items()},
        "verdict": {
            "outcome": verdict.outcome,
            "p": verdict.p,
            "least": verdict.least,
            "needed": verdict.needed,
            "needed_for": verdict.needed_for,
        },
    }


def _campaign(arm: Arm, one: Campaign) -> dict[str, Any]:
    best = one.best
    assert best is not None  # others were left out
    return {
        "name": one.name,
        "arm": arm.letter,
        "task": one.task_name,
        "task_hash": one.task_hash,
        "seed": one.seed,
        "config_hash": one.config_hash,
        "device": one.device,
        "device_class": one.device_class,
        "toolchain": one.toolchain,
        "state": one.state,
        "ended": one.ended,
        "spent": {axis: one.spent(axis) for axis in AXES},
        "best": {
            "kernel_id": best.kernel_id,
            "speedup": best.speedup,
            "ci95": best.ci95,
            "final": best.final,
        },
    }


def _remeasured(made: Remeasured) -> dict[str, Any]:
    names = {one.kernel_id: ", ".join(one.names) for one in made.winners}

    def by_name(found: Mapping[str, Ratio] | Mapping[str, str]) -> dict[str, Any]:
        return {names[identity]: value for identity, value in found.items()}

    return {
        "task": made.task,
        "device": made.device.name,
        "device_class": made.device.device_class,
        "sittings": made.sittings,
        "seconds": made.seconds,
        "over_seed": by_name(made.over_seed),
        "duels": [
            {
                "first": names[duel.first.kernel_id],
                "second": names[duel.second.kernel_id],
                "ratio": list(duel.ratio),
                "shown": duel.shown,
            }
            for duel in made.duels
        ],
        "wrong": by_name(made.wrong),
        "busy": made.busy,
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {"value": estimate.value, "ci95": list(estimate.ci95) if estimate.ci95 else None}
