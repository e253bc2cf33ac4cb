"""Problem: tables as a task and kernels, whose measurements are looked up."""

import math
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Rejected, Status
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task, TaskError
from evaluators.tasks.task_file import load_task
from operators.catalog.families import Families, families, remember
from operators.catalog.landscape import parsed
from operators.individual import Candidate
from scripts.search.table import TIME, Row, Table, TableError, Value

TASK = """
description: A recorded table; nothing is computed.
dims: [N]
arguments:
  - {name: x, dtype: float32, shape: [N], role: in}
  - {name: y, dtype: float32, shape: [N], role: out, rtol: 0, atol: 0}
tests: [{N: 2}]
benchmarks: [{N: 1}]
"""
REFERENCE = 'def reference(x, N):\n    return {"y": x + 1}\n'
KERNEL = """/*---
params: PARAMS
space: SPACE
launches: [{kernel: k, grid: [1], block: [64], args: [x, y]}]
---*/
__global__ void k(const float* x, float* y) { y[0] = x[0] + 1.0f; }
"""
"""What stands for a kernel of which only the space is known."""

TABLE = "TABLE"
"""A parameter of that kernel with one value, by which the spaces of two tables are two."""

BACKENDS = ("cpu", "cuda", "hip")

Point = tuple[tuple[str, int], ...]
"""Parameters in the order of their names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A recorded point. gains: ln(base / time) by shape; None where it failed."""

    status: Status
    gains: Mapping[str, float] | None
    times_us: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """points: by the family's code, then by parameters. best: the greatest gain by shape."""

    name: str
    task: Task
    info: DeviceInfo
    sources: Mapping[str, KernelSource]
    points: Mapping[str, Mapping[Point, Known]]
    base_us: Mapping[str, float]
    best: Mapping[str, float]
    starts_at_random: bool

    def task_of(self, seed: int) -> Task:
        """Its naive seed is the recorded one, or, where there is none, a valid point by lot."""
        if not self.starts_at_random:
            return self.task
        rng = np.random.default_rng((seed, 1))
        ((_, source),) = self.sources.items()
        valid = [point for point, one in self.points[source.code].items() if one.gains]
        text = source.with_params(dict(valid[int(rng.integers(len(valid)))])).text
        return replace(self.task, seeds={"naive": text}, hash=f"{self.task.hash}-{seed}")

    def judge(self, kernel_id: str, candidate: Candidate) -> Evaluation:
        """What a device would say, as it is recorded."""
        kernel = parsed(candidate.source)
        known = self.points.get(kernel.code)
        if known is None:
            one = self._of_seed(kernel)
        elif kernel.variants:
            one = self._by_shape(kernel, known)
        else:
            one = known.get(_point(kernel.params))
        status = Status.UNSUPPORTED if one is None else one.status
        if one is None or one.gains is None:
            reason = "the table has no such point" if one is None else "so it is recorded"
            return Evaluation(
                kernel_id=kernel_id,
                task_hash=self.task.hash,
                device_class=self.info.device_class,
                status=status,
                reason=reason,
            )
        return Evaluation(
            kernel_id=kernel_id,
            task_hash=self.task.hash,
            device_class=self.info.device_class,
            status=Status.PASSED,
            times_us=one.times_us,
            gains=one.gains,
            speedup=math.exp(fmean(one.gains.values())),
        )

    def share(self, evaluation: Evaluation) -> float:
        """Of the optimum: time of the best on each shape / time, geometric mean; 0.0: failed."""
        if not evaluation.passed:
            return 0.0
        behind = fmean(self.best[label] - gain for label, gain in evaluation.gains.items())
        return math.exp(-behind)

    def random_curve(self, count: int) -> list[float]:
        """Expected share of the optimum after 1 .. count distinct points at random."""
        shares = sorted(
            (
                math.exp(fmean(one.gains[label] - self.best[label] for label in self.best))
                if one.gains
                else 0.0
                for known in self.points.values()
                for one in known.values()
            ),
            reverse=True,
        )
        return _expected_best(np.array(shares), count)

    def _of_seed(self, kernel: KernelSource) -> Known | None:
        if kernel.code != parsed(self.task.naive).code:
            return None
        return Known(
            status=Status.PASSED, gains=dict.fromkeys(self.base_us, 0.0), times_us=self.base_us
        )

    def _by_shape(self, kernel: KernelSource, known: Mapping[Point, Known]) -> Known | None:
        gains, times = {}, {}
        for workload in self.task.workloads("benchmarks", self.info.backend):
            one = known.get(_point(kernel.params_for(workload.dims)))
            if one is None or one.gains is None:
                return one
            gains[workload.label] = one.gains[workload.label]
            times[workload.label] = one.times_us[workload.label]
        return Known(status=Status.PASSED, gains=gains, times_us=times)


def problem_of(path: Path) -> Problem:
    """A T4 file, or a folder of those that were recorded of one task on one device.

    Raises TableError.
    """
    if not path.is_dir():
        table = Table.read(path)
        return _recorded(path, [table]) if "kernel" in table.metadata else _foreign(path, table)
    files = sorted((*path.glob("*.T4.json"), *path.glob("*.T4.json.gz")))
    if not files:
        raise TableError(f"{path} holds no table (*.T4.json, *.T4.json.gz)")
    tables = [Table.read(file) for file in files]
    if any("kernel" not in table.metadata for table in tables):
        raise TableError(f"{path}: only tables of scripts/record_table.py are searched together")
    return _recorded(path, tables)


def _recorded(path: Path, tables: Sequence[Table]) -> Problem:
    metadata = tables[0].metadata
    try:
        task = load_task(str(metadata["task"]))
        shapes = [dict(one) for one in metadata["shapes"]]
        base_us = {str(label): float(value) for label, value in metadata["naive_us"].items()}
        info = _device(str(metadata["backend"]), str(metadata["device"]))
        sources = {
            str(one.metadata["family"]): parse_kernel(one.metadata["kernel"]) for one in tables
        }
    except (KeyError, TypeError, ValueError, AttributeError, Rejected, TaskError) as error:
        raise TableError(
            f"{path}: its metadata (kernel, task, shapes, device, backend, family, naive_us) can't "
            f"be used ({error}); record it with scripts/record_table.py"
        ) from None
    for other in tables[1:]:
        if any(other.metadata.get(key) != metadata[key] for key in ("task", "shapes", "device")):
            raise TableError(f"{path}: {other.name} is of another task, device or other shapes")
    workloads = tuple(Workload(dims=dims, suite="benchmarks") for dims in shapes)
    suites = {**task.suites, "benchmarks": {info.backend: workloads, "default": workloads}}
    task = replace(task, suites=suites, hash=f"{task.hash}-{path.name}")
    remember(task, Families(kind=families(task).kind, sources=sources))
    points = {
        source.code: _points(table, base_us, source)
        for table, source in zip(tables, sources.values(), strict=True)
    }
    return _problem(path, task, info, sources, points, base_us, starts_at_random=False)


def _foreign(path: Path, table: Table) -> Problem:
    values = _values(path, table)
    names = {name: f"P{number}" for number, name in enumerate(values)}
    codes = {name: {value: _code(value, seen) for value in seen} for name, seen in values.items()}
    encoded = [
        {names[name]: codes[name][row.configuration[name]] for name in values} for row in table.rows
    ]
    space = {names[name]: sorted(codes[name].values()) for name in values}
    start = next(point for point, row in zip(encoded, table.rows, strict=True) if row.times_ms)
    own = {TABLE: zlib.crc32(str(path.resolve()).encode()) >> 1}
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
        _point({**point, **own}): _known(row, {label: worst * 1e3}, {label: TIME})
        for point, row in zip(encoded, table.rows, strict=True)
    }
    task = replace(task, hash=f"{task.hash}-{path.name}")
    return _problem(
        path,
        task,
        _device("cuda", table.name),
        {"the kernel": source},
        {source.code: points},
        {label: worst * 1e3},
        starts_at_random=True,
    )


def _problem(
    path: Path,
    task: Task,
    info: DeviceInfo,
    sources: Mapping[str, KernelSource],
    points: Mapping[str, Mapping[Point, Known]],
    base_us: Mapping[str, float],
    *,
    starts_at_random: bool,
) -> Problem:
    passed = [one.gains for known in points.values() for one in known.values() if one.gains]
    name = path.name.removesuffix(".gz").removesuffix(".json").removesuffix(".T4")
    return Problem(
        name=name,
        task=task,
        info=info,
        sources=sources,
        points=points,
        base_us=base_us,
        best={label: max(gains[label] for gains in passed) for label in base_us},
        starts_at_random=starts_at_random,
    )


def _values(path: Path, table: Table) -> dict[str, list[Value]]:
    """Of each parameter that varies."""
    found: dict[str, list[Value]] = {}
    for name in table.rows[0].configuration:
        seen = {row.configuration[name] for row in table.rows}
        if len(seen) > 1:
            found[name] = sorted(seen, key=lambda value: (isinstance(value, str), value))
    if not found:
        raise TableError(f"{path}: no parameter varies")
    return found


def _code(value: Value, seen: Sequence[Value]) -> int:
    """Whole numbers stay what they are; of others the place among the parameter's values counts."""
    if all(isinstance(one, int | float) and float(one).is_integer() for one in seen):
        return int(value)
    return seen.index(value)


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


def _points(table: Table, base_us: Mapping[str, float], source: KernelSource) -> dict[Point, Known]:
    found = {}
    for row in table.rows:
        params = {**source.params, **{name: int(v) for name, v in row.configuration.items()}}
        found[_point(params)] = _known(row, base_us, {label: label for label in base_us})
    return found


def _known(row: Row, base_us: Mapping[str, float], names: Mapping[str, str]) -> Known:
    """names: of the measurement of each shape."""
    if not all(name in row.times_ms for name in names.values()):
        status = Status.CRASHED if row.status is Status.PASSED else row.status
        return Known(status=status, gains=None, times_us={})
    times_us = {label: 1e3 * row.times_ms[name] for label, name in names.items()}
    gains = {label: math.log(base_us[label] / time) for label, time in times_us.items()}
    return Known(status=Status.PASSED, gains=gains, times_us=times_us)


def _point(params: Mapping[str, int]) -> Point:
    return tuple(sorted(params.items()))


def _device(backend: str, name: str) -> DeviceInfo:
    on_cpu = backend == "cpu"
    return DeviceInfo(
        backend=backend if backend in BACKENDS else "cuda",
        name=name,
        arch="",
        engine="table",
        compiler="table",
        wavefront=64,
        lds_bytes=1 << 16,
        max_threads=1024,
        cache_bytes=1 << 20,
        judges_on_device=not on_cpu,
        private_process=not on_cpu,
    )


def _expected_best(shares: np.ndarray[Any, np.dtype[np.float64]], count: int) -> list[float]:
    """Of k points without replacement, k = 1 .. count. shares: in falling order."""
    points = len(shares)
    left = np.ones(points)  # the chance that none of the better ones is among those drawn
    found = []
    places = np.arange(points)
    for drawn in range(min(count, points)):
        left = left * np.maximum(points - places - drawn, 0) / (points - drawn)
        # left[i] = C(n - i, k) / C(n, k): none of the first i is drawn
        chance = left - np.append(left[1:], 0.0)
        found.append(float(chance @ shares))
    return found + [found[-1]] * (count - len(found))
