"""Tables of scripts/record_table.py: the kernels are known, and so are the task and its shapes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evaluators.evaluation import Rejected
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import TaskError
from evaluators.tasks.task_file import load_task
from operators.catalog.families import Families, families, remember
from scripts.search.problem import Known, Point, Problem, known_of, point_of, stand_in_device
from scripts.search.table import Table, TableError


def recorded(path: Path, tables: Sequence[Table]) -> Problem:
    """One file, or those of a folder. Raises TableError."""
    metadata = tables[0].metadata
    try:
        task = load_task(str(metadata["task"]))
        shapes = [dict(one) for one in metadata["shapes"]]
        base_us = {str(label): float(value) for label, value in metadata["naive_us"].items()}
        info = stand_in_device(str(metadata["backend"]), str(metadata["device"]))
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
    return Problem.of(path, task, info, sources, points, base_us, starts_at_random=False)


def _points(table: Table, base_us: Mapping[str, float], source: KernelSource) -> dict[Point, Known]:
    found = {}
    for row in table.rows:
        params = {**source.params, **{name: int(v) for name, v in row.configuration.items()}}
        found[point_of(params)] = known_of(row, base_us, {label: label for label in base_us})
    return found
