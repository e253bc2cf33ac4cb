"""Kernels as numpy functions, held to budgets as compiled ones are: for tasks nobody has seen."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.checks.budget import Error, has_few, limit_of
from evaluators.checks.compare import check_output
from evaluators.checks.inputs import Draw, InputPool
from evaluators.checks.values import UnusualDraws
from evaluators.evaluation import Rejected
from evaluators.tasks.task import Task, Workload
from evaluators.tasks.task_file import load_task

Array = np.ndarray[Any, Any]
Kernel = Callable[..., Array]
"""From inputs by name to the one output."""


def write_task(folder: Path, yaml: str, reference: str) -> Task:
    (folder / "seeds").mkdir(parents=True)
    (folder / "seeds" / "naive.hip").write_text("// in numpy here")
    (folder / "task.yaml").write_text(yaml + "benchmarks: [{" + _first_shape(yaml) + "}]\n")
    (folder / "reference.py").write_text("import numpy as np\n" + reference)
    return load_task(folder)


def _first_shape(yaml: str) -> str:
    return yaml.partition("tests: [{")[2].partition("}")[0]


class Bench:
    """A task's draws, with limits from its naive kernel."""

    def __init__(self, task: Task, naive: Kernel, seed: int) -> None:
        self.task = task
        pool = InputPool(task, secret=seed)
        self._unusual = UnusualDraws(task, pool, np.random.default_rng(seed))
        self.draws: list[tuple[Workload, Draw]] = []
        for workload in task.workloads("tests", "cpu"):
            usual = [pool.get(workload, i) for i in range(3)]
            unusual = [self._unusual.of(workload, values) for values in task.unusual()]
            for draws in (usual, *map(list, unusual)):
                self._limit(workload, draws, naive)
                self.draws += [(workload, draw) for draw in draws]

    def _limit(self, workload: Workload, draws: list[Draw], naive: Kernel) -> None:
        (output,) = self.task.outputs
        errors = [_error(self.task, workload, draw, naive) for draw in draws]
        unusual = bool(draws and draws[0].standard.values)
        if draws and output.rounded(workload.dims):
            draws[0].standard.limits[output.name] = limit_of(
                errors, few=has_few(output, workload), unusual=unusual
            )

    def worst(self, kernel: Kernel) -> float:
        """The largest fraction of a limit over all draws; infinite where it is WRONG."""
        worst = 0.0
        for workload, draw in self.draws:
            try:
                worst = max(worst, _error(self.task, workload, draw, kernel).fraction)
            except Rejected:
                return float("inf")
        return worst

    def where(self, kernel: Kernel) -> Mapping[str, float]:
        """By shape and class of values, the largest fraction."""
        found: dict[str, float] = {}
        for workload, draw in self.draws:
            key = f"{workload.label} {draw.standard.values}"
            try:
                fraction = _error(self.task, workload, draw, kernel).fraction
            except Rejected:
                fraction = float("inf")
            found[key] = max(found.get(key, 0.0), fraction)
        return found


def _error(task: Task, workload: Workload, draw: Draw, kernel: Kernel) -> Error:
    (output,) = task.outputs
    with np.errstate(all="ignore"):
        out = np.asarray(kernel(**draw.inputs)).astype(output.np_dtype)
    out = np.ascontiguousarray(out.reshape(output.shape(workload.dims)))
    return check_output(output, workload, out, draw.reference[output.name], draw.standard)
