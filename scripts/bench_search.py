"""How good a search is: whole campaigns on recorded tables, beside random search and others' tools.

Each arm runs from the same start with the same seeds. Prints JSON; draws the curves with --plot.
Kernel Tuner's strategies run beside ours where it is installed (extra [bench]), on tables of one
kernel and one shape.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from threadpoolctl import threadpool_limits

from engine.config_errors import ConfigError
from scripts.search import kernel_tuner
from scripts.search.plot import draw
from scripts.search.problem import Problem
from scripts.search.reading import problem_of
from scripts.search.scores import Curves, over_tables, paired, summary
from scripts.search.simulation import Settings, simulate
from scripts.search.table import TableError

AT = (25, 50, 100, 150, 200, 400)

ARMS: Mapping[str, Settings] = {
    "campaign": {},
    "tuner": {
        "islands": {"count": 1},
        "operators": [{"experiment": 0, "crossover": 0, "mutation": 0, "tuning": 1}],
    },
    "catalogue": {"operators": [{"tuning": 0}]},
    "random": {"operators": [{"kind": "random"}]},
}
"""campaign: as it is configured by default; tuner: nothing but tuning; catalogue: without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One arm on one table with one seed. settings: None for a strategy of Kernel Tuner's."""

    table: Path
    arm: str
    settings: Settings | None
    seed: int
    evaluations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    run: Run
    curve: list[float]
    count: int
    unknown: int
    cpu_s: float


@cache
def _problem(table: Path) -> Problem:
    return problem_of(table)


def perform(run: Run) -> Ran:
    """In a process of its own: one thread."""
    problem = _problem(run.table)
    began = time.process_time()
    with threadpool_limits(1):
        if run.settings is None:
            shares = kernel_tuner.shares(
                problem, run.arm, evaluations=run.evaluations, seed=run.seed
            )
            curve, count, unknown = _best_so_far(shares, run.evaluations), len(shares), 0
        else:
            trace = simulate(problem, run.settings, evaluations=run.evaluations, seed=run.seed)
            curve, count = trace.curve(run.evaluations), len(trace.shares)
            unknown = trace.unknown
    return Ran(
        run=run, curve=curve, count=count, unknown=unknown, cpu_s=time.process_time() - began
    )


def _best_so_far(shares: Sequence[float], count: int) -> list[float]:
    best = np.maximum.accumulate(np.array(shares or [0.0]))[:count]
    return [*best.tolist(), *[float(best[-1])] * (count - len(best))]


def bench(
    tables: Sequence[Path],
    arms: Mapping[str, Settings],
    *,
    strategies: Sequence[str],
    seeds: int,
    evaluations: int,
    workers: int,
    first_seed: int = 0,
) -> dict[str, Any]:
    """What the JSON says, the curves under "curves". Raises TableError, ConfigError."""
    problems = {table: _problem(table) for table in tables}
    runs = [
        Run(table=table, arm=arm, settings=settings, seed=seed, evaluations=evaluations)
        for table, problem in problems.items()
        for arm, settings in (
            *arms.items(),
            *((name, None) for name in strategies if problem.starts_at_random),
        )
        for seed in range(first_seed, first_seed + seeds)
    ]
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        ran = list(pool.map(perform, runs, chunksize=max(1, min(seeds, 5))))
    at = [k for k in AT if k <= evaluations] or [evaluations]
    told = []
    found: dict[str, dict[str, Curves]] = {}
    for table, problem in problems.items():
        mine = [one for one in ran if one.run.table == table]
        curves = {
            arm: np.array([one.curve for one in mine if one.run.arm == arm])
            for arm in dict.fromkeys(one.run.arm for one in mine)
        }
        for arm, values in curves.items():
            found.setdefault(arm, {})[problem.name] = values
        told.append(_of_table(problem, curves, mine, at, evaluations, next(iter(arms))))
    return {
        "seeds": seeds,
        "evaluations": evaluations,
        "at": at,
        "arms": {arm: dict(settings) for arm, settings in arms.items()},
        "tables": told,
        "over_tables": {arm: over_tables(of_arm, at) for arm, of_arm in found.items()},
        "evaluations_per_s": {arm: _rate(ran, arm) for arm in arms},
    }


def _of_table(
    problem: Problem,
    curves: Mapping[str, Curves],
    ran: Sequence[Ran],
    at: Sequence[int],
    evaluations: int,
    first: str,
) -> dict[str, Any]:
    random = problem.random_curve(evaluations)
    others = {
        arm: paired(curves[first], values, at) for arm, values in curves.items() if arm != first
    }
    return {
        "table": problem.name,
        "points": sum(len(known) for known in problem.points.values()),
        "shapes": list(problem.base_us),
        "random": {str(k): round(random[k - 1], 4) for k in at},
        "arms": {arm: summary(values, random, at) for arm, values in curves.items()},
        f"{first}_less": others,
        "not_in_the_table": {
            arm: sum(one.unknown for one in ran if one.run.arm == arm) for arm in curves
        },
        "curves": {
            arm: np.round(values.mean(axis=0), 4).tolist() for arm, values in curves.items()
        },
        "random_curve": [round(value, 4) for value in random],
    }


def _rate(ran: Sequence[Ran], arm: str) -> float:
    """Evaluations for each second of a core."""
    mine = [one for one in ran if one.run.arm == arm]
    return round(sum(one.count for one in mine) / max(1e-9, sum(one.cpu_s for one in mine)), 1)


def _arm(text: str) -> tuple[str, Settings]:
    """NAME, or NAME=FILE."""
    name, _, file = text.partition("=")
    if not file:
        if name not in ARMS:
            raise argparse.ArgumentTypeError(
                f"{name!r} is none of {', '.join(ARMS)}; write NAME=FILE for a configuration"
            )
        return name, ARMS[name]
    try:
        values = yaml.safe_load(Path(file).read_text())
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise argparse.ArgumentTypeError(f"{file} can't be read: {error}") from None
    if not isinstance(values, dict):
        raise argparse.ArgumentTypeError(f"{file} is no mapping of a campaign's keys")
    kept = ("islands", "migration", "operators")
    return name, {key: values[key] for key in kept if key in values}


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="+", type=Path, metavar="TABLE")
    parser.add_argument("--arm", type=_arm, action="append", metavar="NAME[=FILE]")
    parser.add_argument("--seeds", type=_positive, default=20)
    parser.add_argument("--evaluations", type=_positive, default=400)
    parser.add_argument("--workers", type=_positive, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--no-kernel-tuner", action="store_true")
    parser.add_argument("--out", type=Path, help="where the JSON goes; default: standard output")
    parser.add_argument("--plot", type=Path, metavar="PNG")
    given = parser.parse_args(arguments)
    use = kernel_tuner.installed() and not given.no_kernel_tuner
    try:
        found = bench(
            given.tables,
            dict(given.arm or ARMS.items()),
            strategies=kernel_tuner.STRATEGIES if use else (),
            seeds=given.seeds,
            evaluations=given.evaluations,
            workers=given.workers,
        )
    except (TableError, ConfigError) as error:
        print(f"bench_search: {error}", file=sys.stderr)
        return 1
    if given.plot:
        draw(found, given.plot)
    text = json.dumps(found, indent=1)
    if given.out:
        given.out.write_text(text + "\n")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
