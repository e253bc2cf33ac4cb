"""Whether the gains that prompts show hold when parents and children are raced afresh.

Takes the store of a campaign, draws pairs of a kernel and its Base that both passed, spread over
the campaign, and races each pair in new processes, sitting after sitting. Prints JSON: for each
pair the gain that prompts show, the one that raw medians would have shown, and the new one; how
often the sign was right where the interval leaves no gain out.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from engine.store.replay import Replay, replay
from engine.store.run_folder import STORE
from evaluators.device import backend
from evaluators.evaluate import compile_kernel, opened
from evaluators.evaluation import Evaluation
from evaluators.measuring.gain import gain, race_spread
from evaluators.measuring.intervals import Sittings
from evaluators.measuring.policy import Anchor
from evaluators.measuring.sittings import brief, sit, spread_of
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from evaluators.weights import weights_of
from operators.individual import Individual
from operators.llm.prompts.steps import base_of

SITTINGS = 5


def pairs(whole: Replay, count: int, seed: int) -> list[tuple[Individual, Individual]]:
    """Children with their Bases, drawn evenly from all that have times."""
    scores = whole.scores
    known = {
        one.kernel_id: one.individual(scores.first(one.kernel_id))
        for one in whole.first_drafts.values()
        if one.kernel_id in scores.evaluations
    }
    found = [
        (child, base)
        for child in known.values()
        if child.evaluation.passed
        and (base := base_of(child, known)) is not None
        and base.evaluation.passed
    ]
    chosen = np.random.default_rng(seed).permutation(len(found))[:count]
    return [found[place] for place in chosen]


def raced(
    child: Individual, base: Individual, task: Task, backend_name: str
) -> tuple[float, float, float]:
    """Estimate, low and high of child over base, afresh: sittings in new processes."""
    compiler = backend(backend_name).compiler()
    kernel, compiled = compile_kernel(child.candidate.source, task, compiler, backend_name)
    other, built = compile_kernel(base.candidate.source, task, compiler, backend_name)
    rival = Anchor(kernel_id=other.id, kernel=other, compiled=built)
    held = []
    for turn in range(SITTINGS):
        devices = backend(backend_name).device_count()
        index = 0 if backend(backend_name).private_process else turn % devices
        policy = brief(backend_name, None)
        with opened(task, backend_name, index=index, policy=policy) as evaluator:
            held.append(sit(evaluator, kernel, compiled, [rival], check=False))
    blocks = [one.blocks[rival.kernel_id] for one in held]
    return Sittings(
        blocks, spread_of(backend_name), weights_of(task.workloads("benchmarks", backend_name))
    ).ratio(0.95)


def raw(child: Evaluation, base: Evaluation) -> float:
    """What raw medians of the two moments say."""
    shared = [label for label in child.times_us if label in base.times_us]
    return math.exp(fmean(math.log(base.times_us[one] / child.times_us[one]) for one in shared))


def judged(
    child: Individual, base: Individual, task: Task, backend_name: str
) -> dict[str, Any] | None:
    shown = gain(child.evaluation, base.evaluation, race_spread(backend_name))
    if shown is None:
        return None
    fresh = raced(child, base, task, backend_name)
    return {
        "child": child.id,
        "base": base.id,
        "origin": child.origin,
        "same_anchor": child.evaluation.anchor_id == base.evaluation.anchor_id,
        "shown": shown,
        "raw": raw(child.evaluation, base.evaluation),
        "fresh": fresh,
        "leaves_none_out": not shown[1] <= 1 <= shown[2],
        "sign_right": (shown[0] > 1) == (fresh[0] > 1),
        "raw_sign_right": (raw(child.evaluation, base.evaluation) > 1) == (fresh[0] > 1),
    }


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    shown = [one for one in rows if one["leaves_none_out"]]
    return {
        "pairs": len(rows),
        "interval_leaves_no_gain_out": len(shown),
        "of_these_sign_right": sum(one["sign_right"] for one in shown),
        "raw_sign_right_of_all": sum(one["raw_sign_right"] for one in rows),
        "interval_meets_fresh_interval": sum(
            one["shown"][1] <= one["fresh"][2] and one["fresh"][1] <= one["shown"][2]
            for one in rows
        ),
        "wrong": [one for one in shown if not one["sign_right"]],
        "rows": list(rows),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run_dir", type=Path, help="a run's folder")
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--for", type=float, default=math.inf, dest="span", help="seconds at most")
    given = parser.parse_args(arguments)
    whole = replay(given.run_dir / STORE)
    task = load_task(str(whole.campaign.config["task"]))
    backend_name = str(whole.campaign.config["backend"])
    rows: list[dict[str, Any]] = []
    until = time.monotonic() + given.span
    for child, base in pairs(whole, given.pairs, given.seed):
        row = judged(child, base, task, backend_name)
        if row is not None:
            rows.append(row)
        if time.monotonic() > until:
            break
    print(json.dumps(summary(rows), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
