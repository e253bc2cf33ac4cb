"""What an ablation found: each arm's best by task, and beside the reference, with intervals."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from engine.compare.arms import Arm
from engine.compare.campaign import Campaign
from engine.compare.comparison import Comparison, compare
from engine.compare.pairs import Estimate, Pair, Question

Names = Mapping[str, str]
"""A campaign's name -> its arm's."""


def compared(campaigns: Sequence[Campaign], arms: Names) -> Comparison:
    """Arms under their own names; the first campaign's is the one that others stand beside.

    Raises CompareError.
    """
    found = compare(campaigns, Question(reference=campaigns[0].name))
    pairs = tuple(
        replace(pair, first=_named(pair.first, arms), second=_named(pair.second, arms))
        for pair in found.pairs
    )
    return replace(found, arms=tuple(_named(arm, arms) for arm in found.arms), pairs=pairs)


def _named(arm: Arm, arms: Names) -> Arm:
    """Campaigns of one configuration are of one arm."""
    (name,) = {arms[one.name] for one in arm.campaigns}
    return replace(arm, name=name)


def figures(found: Comparison) -> dict[str, Any]:
    """By arm and task. best: the best speedup over the naive seed when the evaluations were spent;
    area: the mean of the best so far over the evaluations; both geometric means over campaigns.
    ratio, and all of over_tasks: to the reference.
    """
    return {
        "reference": found.arms[0].name,
        "device": ", ".join(sorted({one.device for one in found.campaigns})),
        "compared_at_evaluations": {
            found.tasks[task]: amounts["evaluations"] for task, amounts in found.amounts.items()
        },
        "arms": {arm.name: _of_arm(found, arm) for arm in found.arms},
        "notes": list(found.notes),
    }


def _of_arm(found: Comparison, arm: Arm) -> dict[str, Any]:
    pair = next((pair for pair in found.pairs if pair.second.name == arm.name), None)
    return {
        "campaigns": len(arm.campaigns),
        "tasks": {found.tasks[task]: _of_task(found, arm, task, pair) for task in arm.tasks},
        "over_tasks": _over_tasks(pair) if pair else None,
        "curves": [_curve(found, one) for one in arm.campaigns],
    }


def _of_task(found: Comparison, arm: Arm, task: str, pair: Pair | None) -> dict[str, Any]:
    alone = replace(arm, campaigns=arm.of_task(task))
    return {
        "campaigns": len(alone.campaigns),
        "best": _estimate(found.level(alone, "best", "evaluations")),
        "area": _estimate(found.level(alone, "area", "evaluations")),
        "ratio": _estimate(_ratio(pair, task)) if pair else None,
    }


def _ratio(pair: Pair, task: str) -> Estimate | None:
    if task in pair.by_task:
        return pair.by_task[task]
    cell = pair.cell("best", "evaluations")  # of one task alone
    return cell.ratio if cell and task in pair.tasks else None


def _over_tasks(pair: Pair) -> dict[str, Any]:
    cells = {quantity: pair.cell(quantity, "evaluations") for quantity in ("best", "area")}
    return {
        **{name: _estimate(cell.ratio if cell else None) for name, cell in cells.items()},
        "verdict": asdict(pair.verdict),
    }


def _estimate(of: Estimate | None) -> dict[str, Any] | None:
    if of is None:
        return None
    ends = None if of.ci95 is None else [round(end, 4) for end in of.ci95]
    return {"value": round(of.value, 4), "ci95": ends}


def _curve(found: Comparison, one: Campaign) -> dict[str, Any]:
    amount = round(found.amounts[one.task_hash]["evaluations"])
    best = [one.trajectory.best_at("evaluations", n) for n in range(1, amount + 1)]
    return {
        "task": one.task_name,
        "seed": one.seed,
        "ended": one.ended,
        "best_so_far": [round(value, 4) for value in best],
    }


# --- a table to read --------------------------------------------------------------------------


def table(result: Mapping[str, Any]) -> str:
    """Markdown: a row an arm, a column a task. Arms that were not run are empty."""
    asked = result["asked"]
    header = ["arm", *asked["tasks"], f"beside {result['reference']}"]
    rows = [header, ["---"] * len(header)]
    for name, arm in result["arms"].items():
        if "not_run" in arm:
            rows.append([f"{name}: not run, {arm['not_run']}", *[""] * (len(header) - 1)])
            continue
        cells = [_text(arm["tasks"].get(task, {}).get("best"), "x") for task in asked["tasks"]]
        rows.append([f"{name}: {arm['about']}", *cells, beside(arm["over_tasks"])])
    return "\n".join(map(_row, rows)) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def beside(over_tasks: Mapping[str, Any] | None) -> str:
    """ "1.12x (1.03 to 1.21), shown": the ratio to the reference at the end."""
    if over_tasks is None:
        return ""
    shown = {"real": "shown", "not shown": "not shown", "too few": "too few seeds to show it"}
    outcome = shown[over_tasks["verdict"]["outcome"]]
    return f"{_text(over_tasks['best'], 'x')}, {outcome}"


def _text(estimate: Mapping[str, Any] | None, unit: str) -> str:
    """ "12.34x (11.02 to 13.80)"."""
    if estimate is None:
        return ""
    ends = estimate["ci95"]
    interval = f" ({ends[0]:.2f} to {ends[1]:.2f})" if ends else ""
    return f"{estimate['value']:.2f}{unit}{interval}"
