"""Tables of scripts/record_table.py: the kernels are known, and so are the task and its shapes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.config_errors import first_problem
from evaluators.device_info import known_backends
from evaluators.evaluation import Rejected
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task, TaskError
from evaluators.tasks.task_file import load_task
from operators.catalog.families import Families, families, remember
from scripts.search.problem import (
    TABLE,
    Known,
    Point,
    Problem,
    known_of,
    mark_of,
    point_of,
    stand_in_device,
)
from scripts.search.table import Row, Table, TableError

ANEW = "record it with scripts/record_table.py"

Dim = Annotated[int, Field(strict=True, ge=1)]
TimeUs = Annotated[float, Field(strict=True, ge=1e-6, lt=1e30)]


class Metadata(BaseModel):
    """What a recorded table says of itself, as far as a search needs it."""

    model_config = ConfigDict(frozen=True)

    task: str
    backend: str
    device: str
    family: str
    kernel: str
    shapes: list[dict[str, Dim]] = Field(min_length=1)
    naive_us: dict[str, TimeUs]
    """By shape's label."""

    @classmethod
    def of(cls, where: str, table: Table) -> "Metadata":
        """Raises TableError."""
        try:
            found = cls.model_validate(table.metadata)
        except ValidationError as error:
            problem = first_problem(error, cls)
            raise TableError(f"{where}: metadata: {problem}; {ANEW}") from None
        if found.backend not in known_backends():
            known = ", ".join(known_backends())
            raise TableError(
                f"{where}: metadata: backend {found.backend!r} is not known here (known: {known})"
            )
        labels = {one.label for one in found.workloads()}
        if found.naive_us.keys() != labels:
            raise TableError(
                f"{where}: metadata: naive_us has {', '.join(found.naive_us) or 'nothing'}, and "
                f"the shapes are {', '.join(sorted(labels))}; {ANEW}"
            )
        return found

    def workloads(self) -> tuple[Workload, ...]:
        return tuple(Workload(dims=dims, suite="benchmarks") for dims in self.shapes)

    def source(self, where: str) -> KernelSource:
        """Raises TableError."""
        try:
            return parse_kernel(self.kernel)
        except Rejected as error:
            raise TableError(f"{where}: its kernel can't be used: {error}; {ANEW}") from None

    def task_with_shapes(self, path: Path) -> Task:
        """Raises TableError."""
        try:
            task = load_task(self.task)
        except TaskError as error:
            raise TableError(f"{path}: its task can't be used: {error}") from None
        for shape in self.shapes:
            if shape.keys() != set(task.dims):
                raise TableError(
                    f"{path}: metadata: a shape has {', '.join(shape) or 'nothing'}, and task "
                    f"{task.name} has {', '.join(task.dims)}; {ANEW}"
                )
        at = stand_in_device(self.backend, self.device).backend
        suites = {**task.suites, "benchmarks": {at: self.workloads(), "default": self.workloads()}}
        return replace(task, suites=suites, hash=f"{task.hash}-{mark_of(path)}")


def recorded(path: Path, tables: Sequence[Table]) -> Problem:
    """One file, or those of a folder. Raises TableError."""
    wheres = [f"{path / table.name}" if path.is_dir() else f"{path}" for table in tables]
    told = [Metadata.of(where, table) for where, table in zip(wheres, tables, strict=True)]
    first = told[0]
    sources: dict[str, KernelSource] = {}
    points: dict[str, Mapping[Point, Known]] = {}
    for where, one, table in zip(wheres, told, tables, strict=True):
        for key in ("task", "shapes", "device", "backend"):
            if getattr(one, key) != getattr(first, key):
                raise TableError(f"{where} has another {key!r} than {wheres[0]}: search it alone")
        source = one.source(where)
        if one.family in sources or source.code in points:
            raise TableError(f"{where}: family {one.family!r} is there twice; keep one of the two")
        known = points_of(where, table, one.naive_us, source)
        sources[one.family], points[source.code] = restricted(source, known, mark_of(Path(where)))
    task = first.task_with_shapes(path)
    remember(task, Families(kind=families(task).kind, sources=sources))
    return Problem.of(
        path,
        task,
        stand_in_device(first.backend, first.device),
        sources,
        points,
        first.naive_us,
        starts_at_random=False,
    )


def restricted(
    source: KernelSource, known: Mapping[Point, Known], mark: int
) -> tuple[KernelSource, Mapping[Point, Known]]:
    """Of a table that is not complete: its recorded points are the kernel's whole space."""
    grid = source.grid
    if grid.small and len(known) >= len(grid.rows):
        return source, known
    own = source.with_param(TABLE, mark)
    rows = [[dict(point)[name] for name in grid.names] for point in known]
    own.grid.restrict_to(np.array(rows, dtype=np.int64))
    return own, {point_of({**dict(point), TABLE: mark}): one for point, one in known.items()}


def points_of(
    where: str, table: Table, base_us: Mapping[str, float], source: KernelSource
) -> dict[Point, Known]:
    """Raises TableError where one is no point of the kernel's space."""
    places = [_place(f"{where}: result {row.number}", row, source) for row in table.rows]
    for row, holds in zip(table.rows, _feasible(source, places), strict=True):
        if not holds:
            raise TableError(
                f"{where}: result {row.number} breaks the kernel's constraints; {ANEW}"
            )
        if row.times_ms and not row.times_ms.keys() >= base_us.keys():
            raise TableError(
                f"{where}: result {row.number} is 'correct' and lacks a time on a shape; {ANEW}"
            )
    names = {label: label for label in base_us}
    return {
        point_of({**source.params, **place}): known_of(row, base_us, names)
        for row, place in zip(table.rows, places, strict=True)
    }


def _place(where: str, row: Row, source: KernelSource) -> dict[str, int]:
    """Its parameters, each of which the kernel's space has. Raises TableError."""
    if not set(source.grid.names) <= row.configuration.keys() <= source.space.keys():
        raise TableError(
            f"{where} has {', '.join(row.configuration) or 'nothing'}, and the kernel's space "
            f"{', '.join(source.grid.names) or 'nothing'}; {ANEW}"
        )
    found = {}
    for name, value in row.configuration.items():
        if type(value) is not int or value not in source.space[name]:
            raise TableError(
                f"{where}: {name} is {value!r}, which the kernel's space has not; {ANEW}"
            )
        found[name] = value
    return found


def _feasible(source: KernelSource, places: Sequence[Mapping[str, int]]) -> list[bool]:
    names = source.grid.names
    rows = [tuple(place[name] for name in names) for place in places]
    if not names:
        return [source.feasible({}) for _ in rows]
    found = set(map(tuple, source.grid.feasible(np.array(rows, dtype=np.int64)).tolist()))
    return [row in found for row in rows]
