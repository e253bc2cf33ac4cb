"""Compares configurations that are equal by construction, and counts false alarms; prints JSON.

The two differ in islands.patience, 200 or 201, which no campaign so short comes near, and every
campaign has a seed of its own. They are run in turn, with --cores several at once; a run that was
interrupted goes on where it was. `kernel-scientist compare` is asked of each pair, of all
together, and of halves of them under labels that are dealt at random: every difference that it
calls real is a false alarm.
"""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.compare.as_json import comparison_json
from engine.compare.campaign import Campaign, CompareError
from engine.compare.comparison import Comparison, compare
from engine.compare.finals import told_apart
from engine.compare.folders import read_folders
from engine.compare.pairs import Question
from engine.config import CampaignConfig, parse_config
from engine.config_errors import ConfigError
from engine.ending import CampaignFailed
from engine.store.store import StoreError
from evaluators.tasks.task import TaskError
from scripts.ablation.campaigns import Run, finish, in_a_process
from scripts.ablation.side_by_side import core_sets, side_by_side

PATIENCE = (200, 201)


def main(argv: Sequence[str] | None = None, *, run: Run = in_a_process) -> int:
    """run: how a campaign is run; the tests give one without Ray."""
    arguments = _parser().parse_args(argv)
    plan = [
        (patience, pair)
        for pair in range(arguments.pairs)
        for patience in (PATIENCE if pair % 2 else PATIENCE[::-1])  # neither is always the first
    ]
    try:
        made = dict(zip(plan, _folders(arguments, plan, run), strict=True))
        pairs = [
            read_folders([made[one, pair] for one in PATIENCE]) for pair in range(arguments.pairs)
        ]
    except (CampaignFailed, CompareError, ConfigError, OSError, StoreError, TaskError) as error:
        print(f"compare_equal: {error}", file=sys.stderr)
        return 2
    campaigns = [one for both in pairs for one in both]
    question = Question(by=arguments.by)
    result = {
        "task": arguments.task,
        "backend": arguments.backend,
        "device": campaigns[0].device_class,
        "evaluations": arguments.evaluations,
        "by": arguments.by,
        "pairs": [_told(compare(both, question)) for both in pairs],
        "all": _told(compare(campaigns, question)),
        "relabelled": _relabelled(campaigns, arguments, question),
    }
    result["pairs_called_different"] = sum(one["outcome"] == "real" for one in result["pairs"])
    text = json.dumps(result, indent=2) + "\n"
    if arguments.output is not None:
        arguments.output.write_text(text)
    print(text, end="")
    return 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--task", default="sgemm")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--evaluations", type=int, default=20, help="of each campaign")
    parser.add_argument("--final-seconds", type=float, default=5)
    parser.add_argument("--cores", type=int, help="of each campaign (one has all of them)")
    parser.add_argument("--by", default="best", choices=("best", "area"))
    parser.add_argument("--relabellings", type=int, default=100)
    parser.add_argument("--runs-dir", type=Path, default=Path("runs/equal"))
    parser.add_argument("--output", type=Path, help="also write the JSON there")
    return parser


def _folders(arguments: Namespace, plan: Sequence[tuple[int, int]], run: Run) -> list[Path]:
    """Of the campaigns of the plan, finished."""

    def work(place: int) -> Path:
        config = _config(arguments, *plan[place])
        print(f"{place + 1} of {len(plan)}: {config.name}", file=sys.stderr, flush=True)
        return finish(config, run)

    if arguments.cores is None:
        return [work(place) for place in range(len(plan))]
    return side_by_side(work, range(len(plan)), core_sets(arguments.cores))


def _config(arguments: Namespace, patience: int, pair: int) -> CampaignConfig:
    run_dir = arguments.runs_dir.resolve() / f"patience-{patience}-{pair}"
    values = {
        "task": arguments.task,
        "backend": arguments.backend,
        "name": run_dir.name,
        "runs_dir": str(run_dir.parent),
        "seed": 2 * pair + PATIENCE.index(patience),
        "budgets": {"evaluations": arguments.evaluations},
        "islands": {"patience": patience},
        "final": {"seconds": arguments.final_seconds},
        "tracking": "none",
    }
    return parse_config(values, where="the command line")


def _told(comparison: Comparison) -> dict[str, Any]:
    """The verdict on its one pair of configurations; and on the two best kernels, which differ."""
    (pair,) = comparison_json(comparison)["pairs"]
    by, over = comparison.question.by, comparison.question.over
    return {
        "campaigns": pair["campaigns"],
        "outcome": pair["verdict"]["outcome"],
        "p": pair["verdict"]["p"],
        "ratio": pair["ratios"][by][over],
        "winners": list(told_apart(comparison)),
    }


def _relabelled(
    campaigns: Sequence[Campaign], arguments: Namespace, question: Question
) -> dict[str, Any]:
    """Half of the pairs' number of campaigns a side, labels dealt at random."""
    rng = np.random.default_rng(0)
    half = arguments.pairs // 2
    outcomes: Counter[str] = Counter()
    left_out = 0
    for _ in range(arguments.relabellings if half else 0):
        dealt = rng.permutation(len(campaigns))[: 2 * half]
        labelled = [
            replace(campaigns[which], settings={"label": "first" if place < half else "second"})
            for place, which in enumerate(dealt)
        ]
        (pair,) = compare(labelled, question).pairs
        cell = pair.cell(question.by, question.over)
        assert cell is not None  # compare() saw to it
        ends = cell.ratio.ci95
        left_out += ends is not None and not ends[0] <= 1 <= ends[1]
        outcomes[pair.verdict.outcome] += 1
    return {
        "splits": outcomes.total(),
        "campaigns": [half, half],
        "outcomes": dict(outcomes),
        "intervals_without_1": left_out,
    }


if __name__ == "__main__":
    sys.exit(main())
