"""Two individuals of sgemm, and a context in which an operator may ask about them."""

import math

import numpy as np

from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Status
from evaluators.kernel.source import kernel_id
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from operators.individual import Candidate, Experiment, Individual, Origin
from operators.operator import Context
from scripts.scripted_model.answers import TILED

SGEMM: Task = load_task("sgemm")

DEVICE = DeviceInfo(
    backend="cpu",
    judges_on_device=False,
    private_process=False,
    name="a processor",
    arch="x86-64",
    engine="cpu-fission",
    compiler="g++ 12.2.0",
    wavefront=64,
    lds_bytes=65536,
    max_threads=1024,
    cache_bytes=1 << 25,
    peak_flops={"float32": 1e11},
    peak_bytes_per_s={"dram": 1e10},
)

EXPERIMENT = Experiment(
    technique="register-tiles",
    description="Several outputs a thread, so that each load is used more than once.",
    rubric="1. Let a thread compute TM x TN outputs.\n2. Keep them in registers.",
    performance=(10.0, 60.0),
    innovation=35,
    avenue="reuse",
)


def individual(
    source: str = SGEMM.naive,
    *,
    speedup: float = 1.0,
    parents: tuple[str, ...] = (),
    origin: Origin = "seed",
    experiment: Experiment | None = None,
    report: str = "",
    island: int = 0,
) -> Individual:
    labels = [w.label for w in SGEMM.workloads("benchmarks", "cpu")]
    identity = kernel_id(source)
    return Individual(
        id=identity,
        candidate=Candidate.from_source(source),
        origin=origin,
        parents=parents,
        experiment=experiment,
        report=report,
        island=island,
        evaluation=Evaluation(
            kernel_id=identity,
            task_hash=SGEMM.hash,
            device_class=DEVICE.device_class,
            status=Status.PASSED,
            times_us={label: 1000 * (i + 1) / speedup for i, label in enumerate(labels)},
            gains=dict.fromkeys(labels, math.log(speedup)),
            speedup=speedup,
            ci95=(speedup * 0.99, speedup * 1.01),
            speed_of_light=dict.fromkeys(labels, 0.01 * speedup),
        ),
    )


SEED = individual()
TILE = individual(
    TILED,
    speedup=4.0,
    parents=(SEED.id,),
    origin="experiment",
    experiment=EXPERIMENT,
    report="Tiles in registers; no LDS.",
)


def context(*known: Individual, key: str = "i0/c1/s0") -> Context:
    return Context(
        task=SGEMM,
        device=DEVICE,
        rng=np.random.default_rng(7),
        island=0,
        cycle=1,
        key=key,
        individuals={one.id: one for one in known},
    )
