"""Problem: tables as a task and kernels, whose measurements are looked up."""

import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Self

import numpy as np

from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Status
from evaluators.kernel.source import KernelSource
from evaluators.tasks.task import Task
from operators.catalog.landscape import parsed
from operators.individual import Candidate
from scripts.search.table import Row, TableError, stem

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
    """points: by the family's code, then by parameters. best: the greatest gain by shape of the
    family that has the greatest on average, as no file holds two families' code; 0 on all where
    the recorded naive seed is faster."""

    name: str
    task: Task
    info: DeviceInfo
    sources: Mapping[str, KernelSource]
    points: Mapping[str, Mapping[Point, Known]]
    base_us: Mapping[str, float]
    best: Mapping[str, float]
    starts_at_random: bool

    @classmethod
    def of(
        cls,
        path: Path,
        task: Task,
        info: DeviceInfo,
        sources: Mapping[str, KernelSource],
        points: Mapping[str, Mapping[Point, Known]],
        base_us: Mapping[str, float],
        *,
        starts_at_random: bool,
    ) -> Self:
        """What a file, or a folder, holds. base_us: of the naive seed, by shape.

        Raises TableError.
        """
        bests = [
            {label: max(gains[label] for gains in passed) for label in base_us}
            for known in points.values()
            if (passed := [one.gains for one in known.values() if one.gains])
        ]
        if not bests:
            raise TableError(f"{path} has no point with a time on every shape")
        if not starts_at_random:
            bests.append(dict.fromkeys(base_us, 0.0))
        return cls(
            name=stem(path.resolve()),
            task=task,
            info=info,
            sources=sources,
            points=points,
            base_us=base_us,
            best=max(bests, key=lambda gains: fmean(gains.values())),
            starts_at_random=starts_at_random,
        )

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
            one = known.get(point_of(kernel.params))
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
        """Of the optimum: time of the best family's best point on each shape / time, geometric
        mean; 0.0: failed."""
        if not evaluation.passed:
            return 0.0
        behind = fmean(self.best[label] - gain for label, gain in evaluation.gains.items())
        return math.exp(-behind)

    def random_curve(self, count: int) -> list[float]:
        """Expected share of the optimum after 1 .. count distinct points at random, of which a
        recorded naive seed is the first, as it is of every search."""
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
        if self.starts_at_random:
            return _expected_best(np.array(shares), count)
        naive = math.exp(-fmean(self.best.values()))
        better = np.maximum(np.array(shares), naive)
        return [naive, *_expected_best(better, count - 1)][:count]

    def _of_seed(self, kernel: KernelSource) -> Known | None:
        if kernel.code != parsed(self.task.naive).code:
            return None
        return Known(
            status=Status.PASSED, gains=dict.fromkeys(self.base_us, 0.0), times_us=self.base_us
        )

    def _by_shape(self, kernel: KernelSource, known: Mapping[Point, Known]) -> Known | None:
        gains, times = {}, {}
        for workload in self.task.workloads("benchmarks", self.info.backend):
            one = known.get(point_of(kernel.params_for(workload, self.info.target)))
            if one is None or one.gains is None:
                return one
            gains[workload.label] = one.gains[workload.label]
            times[workload.label] = one.times_us[workload.label]
        return Known(status=Status.PASSED, gains=gains, times_us=times)


def known_of(row: Row, base_us: Mapping[str, float], names: Mapping[str, str]) -> Known:
    """A table's row. names: of the measurement of each shape."""
    if not all(name in row.times_ms for name in names.values()):
        status = Status.CRASHED if row.status is Status.PASSED else row.status
        return Known(status=status, gains=None, times_us={})
    times_us = {label: 1e3 * row.times_ms[name] for label, name in names.items()}
    gains = {label: math.log(base_us[label] / time) for label, time in times_us.items()}
    return Known(status=Status.PASSED, gains=gains, times_us=times_us)


def point_of(params: Mapping[str, int]) -> Point:
    return tuple(sorted(params.items()))


TABLE = "TABLE"
"""A parameter with one value, by which the spaces of two tables of one kernel are two."""


def mark_of(path: Path) -> int:
    """Tells tables of one name apart."""
    return zlib.crc32(str(path.resolve()).encode(errors="surrogateescape")) >> 1


def stand_in_device(backend: str, name: str) -> DeviceInfo:
    """What operators are told of the device, of which a table has the name alone."""
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
    return found + found[-1:] * (count - len(found))
