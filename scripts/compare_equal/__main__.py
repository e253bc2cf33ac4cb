"""Compares configurations that are equal by construction, and counts false alarms; prints JSON.

The two differ in islands.patience, 200 or 201, which no campaign so short comes near, and every
campaign has a seed of its own. They are run in turn; a run that was interrupted goes on where it
was. `kernel-scientist compare` is asked of each pair, of all together, and of halves of them
under labels that are dealt at random: every difference that it calls real is a false alarm.
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
from engine.compare.campaign import Campaign
from engine.compare.comparison import Comparison, compare
from engine.compare.finals import told_apart
from engine.compare.folders import read_folders
from engine.compare.pairs import Question
from engine.config import parse_config
from scripts.compare_equal.finished import finished

PATIENCE = (200, 201)


def main() -> int:
    arguments = _parser().parse_args()
    folders = []
    for pair in range(arguments.pairs):
        order = PATIENCE if pair % 2 else PATIENCE[::-1]  # neither always meets the cooler machine
        made = {patience: _run(arguments, patience, pair) for patience in order}
        folders.append([made[patience] for patience in PATIENCE])
        print(f"pair {pair} of {arguments.pairs} is there", file=sys.stderr, flush=True)
    pairs = [read_folders(both) for both in folders]
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
    parser.add_argument("--task", default="transpose")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--evaluations", type=int, default=20, help="of each campaign")
    parser.add_argument("--final-seconds", type=float, default=5)
    parser.add_argument("--by", default="best", choices=("best", "area"))
    parser.add_argument("--relabellings", type=int, default=100)
    parser.add_argument("--runs-dir", type=Path, default=Path("runs/equal"))
    parser.add_argument("--output", type=Path, help="also write the JSON there")
    return parser


def _run(arguments: Namespace, patience: int, pair: int) -> Path:
    """The folder of a finished campaign."""
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
    return finished(parse_config(values, where="the command line")).parent


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
