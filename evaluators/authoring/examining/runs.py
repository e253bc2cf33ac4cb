"""Runs of kernels for what they compute, nothing timed: outputs by name, and their errors."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluators.checks.compare import compare
from evaluators.checks.inputs import Draw, InputPool
from evaluators.checks.judge import HostJudge
from evaluators.checks.memory import Arena
from evaluators.device import Compiled, Device
from evaluators.kernel.source import KernelSource
from evaluators.tasks.arguments import Workload
from evaluators.tasks.own_check import fault, finished
from evaluators.tasks.reference_file import Raised
from evaluators.tasks.task import Task

Array = np.ndarray[Any, Any]
Outputs = Mapping[str, Array]

DEADLINE_S = 20.0


@dataclass(frozen=True, slots=True)
class Case:
    """One workload with inputs, and what is right for them."""

    workload: Workload
    draw: Draw


def cases(pool: InputPool, workloads: Sequence[Workload]) -> list[Case]:
    """One draw of each workload, the same for all kernels."""
    return [Case(workload, pool.get(workload, 0)) for workload in workloads]


def run_on(
    device: Device, task: Task, kernel: KernelSource, compiled: Compiled, chosen: Sequence[Case]
) -> list[Outputs]:
    """What a kernel leaves in its outputs, case by case. Raises Rejected."""
    rng = np.random.default_rng(0)
    workloads = [case.workload for case in chosen]
    plans = [kernel.plan(task, workload, device.info.target) for workload in workloads]
    arena, judge = Arena(task, workloads, plans), HostJudge()
    found: list[Outputs] = []
    with device.open(compiled, memory_bytes=arena.nbytes, fenced=True) as session:
        memories = arena.in_turn(session, workloads, plans, rng)
        for case, memory in zip(chosen, memories, strict=True):
            judge.place_shared(memory, case.draw, rng)
            memory.prepare(deadline_s=DEADLINE_S)
            judge.place(memory, {0: case.draw}, rng)
            session.run(memory.plan, memory.bindings[0], deadline_s=DEADLINE_S)
            values = memory.region.values(memory.taken(0))
            found.append({one.name: values[one.name].copy() for one in memory.task.outputs})
    return found


def error(task: Task, case: Case, outputs: Outputs) -> float:
    """The largest |out - reference| over what the task's tolerance allows, after its epilogue();
    infinite where anything differs that must be equal, or its check() finds a fault."""
    concrete, draw, env = task.on(case.workload), case.draw, case.workload.env
    try:
        results = finished(concrete, case.workload, outputs, draw.inputs)
        if fault(concrete, case.workload, outputs, draw.inputs, draw.reference):
            return math.inf
    except Raised:
        return math.inf
    return max(
        (
            compare(
                results[one.name], draw.reference[one.name], rtol=one.rtol(env), atol=one.atol(env)
            ).error
            for one in concrete.outputs
            if one.name in draw.reference
        ),
        default=0.0,
    )


def same_bits(a: Outputs, b: Outputs) -> bool:
    return all(
        np.array_equal(a[name].reshape(-1).view(np.uint8), b[name].reshape(-1).view(np.uint8))
        for name in a
    )


@contextmanager
def quiet() -> Iterator[None]:
    """References may divide by zero and the like: what they return is looked at."""
    with np.errstate(all="ignore"):
        yield
