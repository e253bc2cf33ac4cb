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
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from engine.config_errors import ConfigError
from engine.ending import kept_interrupts
from scripts.lib.arguments import whole_from
from scripts.lib.pools import pool_of, result_of
from scripts.search import kernel_tuner
from scripts.search.arms import ARMS, arm_of, settings_by_name
from scripts.search.naming import names_of
from scripts.search.outputs import output, picture, reason_of
from scripts.search.plot import draw
from scripts.search.problem import Problem
from scripts.search.reading import problem_of
from scripts.search.scores import Curves, over_tables, paired, summary
from scripts.search.simulation import Settings, simulate
from scripts.search.table import TableError

AT = (25, 50, 100, 150, 200, 400)


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
    names = names_of(tables)
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
    with pool_of(min(workers, len(runs))) as pool:
        begun = [pool.submit(perform, run) for run in runs]
        ran = [result_of(one) for one in begun]
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
            found.setdefault(arm, {})[names[table]] = values
        of_table = _of_table(problem, curves, mine, at, evaluations, next(iter(arms)))
        told.append({"table": names[table], **of_table})
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench_search", description=__doc__)
    parser.add_argument("tables", nargs="+", type=Path, metavar="TABLE")
    parser.add_argument("--arm", type=arm_of, action="append", metavar="NAME[=FILE]")
    parser.add_argument("--seeds", type=whole_from(1), default=20)
    parser.add_argument("--evaluations", type=whole_from(1), default=400)
    parser.add_argument("--workers", type=whole_from(1), default=len(os.sched_getaffinity(0)))
    parser.add_argument("--no-kernel-tuner", action="store_true")
    parser.add_argument("--out", type=output, help="where the JSON goes; default: standard output")
    parser.add_argument("--plot", type=picture, metavar="PNG")
    return parser


def _given(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Ends with 2 where they can't be used together."""
    parser = _parser()
    given = parser.parse_args(arguments)
    written = [path.resolve() for path in (given.out, given.plot) if path]
    if len(set(written)) < len(written):
        parser.error(f"--out and --plot are both {given.out}: name two files")
    for path in written:
        if path in {table.resolve() for table in given.tables}:
            parser.error(f"{path} is a table: write to another file")
    try:
        given.settings = settings_by_name(given.arm) if given.arm else dict(ARMS)
    except ConfigError as error:
        parser.error(str(error))
    for one in given.arm or ():
        if one.ignored:
            told = ", ".join(one.ignored)
            print(f"bench_search: {one.file}: no part on tables: {told}", file=sys.stderr)
    return given


def main(arguments: Sequence[str] | None = None) -> int:
    given = _given(arguments)
    use = kernel_tuner.installed() and not given.no_kernel_tuner
    try:
        with kept_interrupts():
            found = bench(
                given.tables,
                given.settings,
                strategies=kernel_tuner.STRATEGIES if use else (),
                seeds=given.seeds,
                evaluations=given.evaluations,
                workers=given.workers,
            )
    except (TableError, ConfigError) as error:
        print(f"bench_search: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("bench_search: interrupted; nothing was written", file=sys.stderr)
        return 130
    except BrokenProcessPool:
        print("bench_search: a process was killed: use fewer --workers", file=sys.stderr)
        return 1
    return write(found, given.out, given.plot)


def write(found: Mapping[str, Any], out: Path | None, plot: Path | None) -> int:
    """What to end with. JSON that its file does not take goes to standard output."""
    text, failed, done = json.dumps(found, indent=1), [], False
    try:
        if out:
            out.write_text(text + "\n")
            done = True
    except OSError as error:
        failed.append(f"{out} can't be written: {reason_of(error)}; standard output has it")
    try:
        if not done:
            print(text, flush=True)
    except OSError as error:
        failed.append(f"standard output can't be written: {reason_of(error)}; name a file by --out")
    try:
        if plot:
            draw(found, plot)
    except OSError as error:
        failed.append(f"{plot} can't be written: {reason_of(error)}")
    for told in failed:
        print(f"bench_search: {told}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
