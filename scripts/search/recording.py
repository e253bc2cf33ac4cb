"""Recording: what is measured into a table, and the file that is written."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

import numpy as np

from evaluators.evaluation import Evaluation
from evaluators.kernel.source import KernelSource
from evaluators.tasks.task import Task
from scripts.search.recorded import Metadata, points_of
from scripts.search.table import TIME, Row, Table, TableError


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What is recorded, and how. named: the task as it was given; task: with the shapes."""

    named: str
    task: Task
    backend: str
    device: int
    family: str
    kernel: KernelSource
    seed: int

    def points(self) -> list[dict[str, int]]:
        """All feasible points in their order."""
        grid = self.kernel.grid
        order = np.random.default_rng(self.seed).permutation(len(grid.rows))
        return [grid.params(int(row)) for row in order]

    def metadata(self, info_name: str, naive_us: Mapping[str, float]) -> dict[str, object]:
        return {
            "task": self.named,
            "backend": self.backend,
            "device": info_name,
            "date": datetime.now(UTC).date().isoformat(),
            "family": self.family,
            "kernel": self.kernel.text,
            "shapes": [dict(one.dims) for one in self.task.workloads("benchmarks", self.backend)],
            "naive_us": dict(naive_us),
            "points": len(self.kernel.grid.rows),
            "seed": self.seed,
        }


class Recorder:
    """The file that is written, and what is in it."""

    def __init__(self, path: Path, recording: Recording) -> None:
        self._path, self._recording = path, recording
        self.rows: list[Row] = []
        self.naive_us: dict[str, float] = {}
        self._device = ""
        if path.exists():
            self._take_up(Table.read(path, begun=True))

    def _take_up(self, table: Table) -> None:
        if "kernel" not in table.metadata:
            raise TableError(f"{self._path} was not recorded here: name another file with --out")
        wanted = self._recording.metadata("", {})
        for key in ("task", "backend", "kernel", "shapes", "seed"):
            if table.metadata.get(key) != wanted[key]:
                raise TableError(
                    f"{self._path} was recorded with other {key!r}: name another file with --out"
                )
        metadata = Metadata.of(str(self._path), table)
        points_of(str(self._path), table, metadata.naive_us, self._recording.kernel)
        self.rows = list(table.rows)
        self.naive_us = dict(metadata.naive_us)
        self._device = metadata.device

    def left(self) -> list[dict[str, int]]:
        known = {tuple(sorted(row.configuration.items())) for row in self.rows}
        points = self._recording.points()
        return [one for one in points if tuple(sorted(one.items())) not in known]

    def begin(self, device: str, naive_us: Mapping[str, float]) -> None:
        """Raises TableError where it was begun on another device."""
        if self._device not in ("", device):
            raise TableError(f"{self._path} was recorded on {self._device}, and this is {device}")
        self._device = device
        self.naive_us = self.naive_us or dict(naive_us)

    def add(self, point: Mapping[str, int], evaluation: Evaluation) -> None:
        """Times as paired with the naive seed's: the machine's moods cancel."""
        times = {
            label: self.naive_us[label] / 1e3 / float(np.exp(gain))
            for label, gain in evaluation.gains.items()
        }
        if times:
            times = {TIME: float(np.exp(fmean(map(np.log, times.values())))), **times}
        self.rows.append(
            Row(
                configuration=dict(point),
                status=evaluation.status,
                times_ms={name: float(f"{value:.6g}") for name, value in times.items()},
                compile_ms=round(1e3 * evaluation.seconds.get("compile", 0.0), 1),
                reason=evaluation.reason,
            )
        )

    def save(self) -> None:
        metadata = self._recording.metadata(self._device, self.naive_us)
        Table(name="", rows=self.rows, metadata=metadata).write(self._path)
