"""A table of others: a kernel of which only the space is known stands for it."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.evaluation import Rejected
from evaluators.kernel.reader import MAX_SPACE_VALUES
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from scripts.search.problem import (
    TABLE,
    Problem,
    known_of,
    mark_of,
    point_of,
    stand_in_device,
)
from scripts.search.table import TIME, Table, TableError, Value

TASK = """
description: A recorded table; nothing is computed.
dims: [N]
arguments:
  - {name: x, dtype: float32, shape: [N], role: in}
  - {name: y, dtype: float32, shape: [N], role: out, rtol: 0, atol: 0}
tests: [{N: 2}]
benchmarks: [{N: 1}]
"""
REFERENCE = """
def reference(x, N):
    assert float(x.flat[0]) == x.flat[0]  # no formula: the catalogue writes no other kernels
    return {"y": x + 1}
"""
KERNEL = """/*---
params: PARAMS
space: SPACE
launches: [{kernel: k, grid: [1], block: [64], args: [x, y]}]
---*/
__global__ void k(const float* x, float* y) { y[0] = x[0] + 1.0f; }
"""
"""What stands for a kernel of which only the space is known."""

MOST = 1 << 31
"""Whole numbers below it are parameters' values."""


def foreign(path: Path, table: Table) -> Problem:
    """One file. Raises TableError."""
    values = _values(path, table)
    names = {name: f"P{number}" for number, name in enumerate(values)}
    codes = {name: {value: _code(value, seen) for value in seen} for name, seen in values.items()}
    encoded = [
        {names[name]: codes[name][row.configuration[name]] for name in values} for row in table.rows
    ]
    space = {names[name]: sorted(codes[name].values()) for name in values}
    start = next(point for point, row in zip(encoded, table.rows, strict=True) if row.times_ms)
    own = {TABLE: mark_of(path)}
    try:
        source = _stand_in({**start, **own}, space)
        source.grid.restrict_to(np.array([[*point.values()] for point in encoded]))
    except (Rejected, ValueError) as error:
        raise TableError(f"{path}: its space can't be written as a kernel's: {error}") from None
    with tempfile.TemporaryDirectory() as folder:
        task = _task(Path(folder) / "table", source)
    (label,) = (one.label for one in task.workloads("benchmarks", "cuda"))
    times = [row.times_ms.get(TIME) for row in table.rows]
    worst = max(time for time in times if time is not None)
    points = {
        point_of({**point, **own}): known_of(row, {label: worst * 1e3}, {label: TIME})
        for point, row in zip(encoded, table.rows, strict=True)
    }
    task = replace(task, hash=f"{task.hash}-{mark_of(path)}")
    return Problem.of(
        path,
        task,
        stand_in_device("cuda", table.name),
        {"the kernel": source},
        {source.code: points},
        {label: worst * 1e3},
        starts_at_random=True,
    )


def _values(path: Path, table: Table) -> dict[str, list[Value]]:
    """Of each parameter that varies."""
    found: dict[str, list[Value]] = {}
    for name in table.rows[0].configuration:
        seen = {row.configuration[name] for row in table.rows}
        if len(seen) > MAX_SPACE_VALUES:
            raise TableError(
                f"{path}: {name!r} has {len(seen)} values, and a kernel's parameter at most "
                f"{MAX_SPACE_VALUES}"
            )
        if len(seen) > 1:
            found[name] = sorted(seen, key=lambda value: (isinstance(value, str), value))
    if not found:
        raise TableError(f"{path}: no parameter varies")
    return found


def _code(value: Value, seen: Sequence[Value]) -> int:
    """Whole numbers stay what they are; of others the place among the parameter's values counts."""
    if all(_is_whole(one) for one in seen):
        return int(value)
    return seen.index(value)


def _is_whole(value: Value) -> bool:
    """One that a kernel's parameter can have."""
    return not isinstance(value, str) and abs(value) < MOST and int(value) == value


def _stand_in(params: Mapping[str, int], space: Mapping[str, Sequence[int]]) -> KernelSource:
    def flow(one: Mapping[str, Any]) -> str:
        return ", ".join(f"{name}: {value}" for name, value in one.items())

    text = KERNEL.replace("PARAMS", f"{{{flow(params)}}}")
    return parse_kernel(
        text.replace("SPACE", f"{{{flow({name: list(one) for name, one in space.items()})}}}")
    )


def _task(folder: Path, source: KernelSource) -> Task:
    (folder / "seeds").mkdir(parents=True)
    (folder / "task.yaml").write_text(TASK)
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "seeds" / "naive.hip").write_text(source.text)
    return load_task(folder)
