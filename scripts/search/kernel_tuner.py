"""Kernel Tuner's strategies on a table, in its simulation mode, for comparison.

Needs the extra [bench]. B. van Werkhoven, Kernel Tuner: A search-optimizing GPU code auto-tuner
(Future Generation Computer Systems 90, 2019).
"""

import contextlib
import io
import json
import os
import random
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from scripts.search.problem import Problem
from scripts.search.table import TableError

STRATEGIES = (
    "random_sample",
    "genetic_algorithm",
    "simulated_annealing",
    "pso",
    "hybrid_vndx",
    "adaptive_tabu_greywolf",
)
FAILED = "RuntimeFailedConfig"
MOST_POINTS = 1 << 23
"""Of a grid that it goes through point by point, listed or not, before it searches."""


def installed() -> bool:
    return find_spec("kernel_tuner") is not None


def shares(problem: Problem, strategy: str, *, evaluations: int, seed: int) -> list[float]:
    """The optimum's share by distinct evaluation, in their order, as Trace has it.

    Raises TableError.
    """
    import kernel_tuner

    ((_, source),) = problem.sources.items()
    if source.grid.size > MOST_POINTS:
        raise TableError(
            f"{problem.name}: Kernel Tuner would go through {source.grid.size} points before it "
            "searches; leave it out with --no-kernel-tuner"
        )
    points = problem.points[source.code]
    (label,) = problem.base_us
    random.seed(seed)
    np.random.seed(seed)
    with TemporaryDirectory() as folder, _in(Path(folder)):
        names = source.grid.names
        listed = set(map(tuple, source.grid.rows.tolist()))

        def is_listed(point: Mapping[str, int]) -> bool:  # of a lambda it would compile the text
            return tuple(point[name] for name in names) in listed

        cache = Path(folder) / "cache.json"
        cache.write_text(json.dumps(_cache(problem)))
        with contextlib.redirect_stdout(io.StringIO()):
            found, _ = kernel_tuner.tune_kernel(
                "k",
                "__global__ void k() {}",
                1,
                [],
                {name: list(values) for name, values in source.grid.values.items()},
                restrictions=is_listed,
                strategy=strategy,
                strategy_options={"max_fevals": evaluations},
                simulation_mode=True,
                cache=str(cache),
                verbose=False,
            )
    order = [tuple((name, int(one[name])) for name in sorted(names)) for one in found]
    distinct = list(dict.fromkeys(order))[:evaluations]
    best_ms = 1e-3 * problem.base_us[label] / np.exp(problem.best[label])
    told = []
    for point in distinct:
        one = points[tuple(sorted({**source.grid.rest, **dict(point)}.items()))]
        told.append(float(best_ms) / (1e-3 * one.times_us[label]) if one.gains else 0.0)
    return told


def _cache(problem: Problem) -> dict[str, Any]:
    ((_, source),) = problem.sources.items()
    (label,) = problem.base_us
    names = source.grid.names
    entries = {}
    for point, one in problem.points[source.code].items():
        params = {name: value for name, value in point if name in names}
        time = 1e-3 * one.times_us[label] if one.gains else FAILED
        entries[",".join(str(params[name]) for name in names)] = {
            **params,
            "time": time,
            "times": [time] if one.gains else [],
            "compile_time": 0,
            "verification_time": 0,
            "benchmark_time": 0,
            "GFLOP/s": 0,
            "strategy_time": 0,
            "framework_time": 0,
            "timestamp": "",
        }
    return {
        "device_name": "table",
        "kernel_name": "k",
        "problem_size": 1,
        "tune_params_keys": list(names),
        "tune_params": {name: list(values) for name, values in source.grid.values.items()},
        "objective": "time",
        "cache": entries,
    }


@contextlib.contextmanager
def _in(folder: Path) -> Iterator[None]:
    """It writes files where it runs."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
