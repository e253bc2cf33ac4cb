"""Devices, individuals and contexts for tests of operators."""

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Status
from evaluators.kernel.source import kernel_id
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from operators.individual import Candidate, Experiment, Individual
from operators.operator import Context

FISSION = DeviceInfo(
    backend="cpu",
    judges_on_device=False,
    private_process=False,
    name="a core",
    arch="x86-64",
    engine="cpu-fission",
    compiler="g++ 12",
    wavefront=64,
    lds_bytes=65536,
    max_threads=1024,
    cache_bytes=1 << 25,
)
GPU = replace(
    FISSION,
    backend="hip",
    judges_on_device=True,
    private_process=True,
    engine="hip",
    arch="gfx942",
    name="MI300X",
)

SGEMM = load_task("sgemm")
LABELS = ("M=256", "M=512")


def individual(
    source: str,
    speedup: float = 1.0,
    times_us: tuple[float, float] | None = None,
    parents: tuple[str, ...] = (),
    experiment: Experiment | None = None,
) -> Individual:
    """A passed individual that is so many times faster than a seed of 1000 us on both shapes."""
    times = times_us or (1000 / speedup, 1000 / speedup)
    evaluation = Evaluation(
        kernel_id=kernel_id(source),
        task_hash="task",
        device_class="class",
        status=Status.PASSED,
        times_us=dict(zip(LABELS, times, strict=True)),
        gains={label: math.log(1000 / time) for label, time in zip(LABELS, times, strict=True)},
        speedup=speedup,
    )
    return Individual(
        id=evaluation.kernel_id,
        candidate=Candidate.from_source(source),
        origin="experiment" if parents else "seed",
        parents=parents,
        experiment=experiment,
        evaluation=evaluation,
    )


def context(
    seed: int = 0,
    known: Iterable[Individual] = (),
    task: Task | None = None,
    device: DeviceInfo = FISSION,
) -> Context:
    """A context keyed by a seed. known: the individuals of the island."""
    return Context(
        task=task or SGEMM,
        device=device,
        rng=np.random.default_rng(seed),
        island=0,
        cycle=seed,
        key=f"test/{seed}",
        individuals={one.id: one for one in known},
    )
