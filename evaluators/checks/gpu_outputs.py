"""Which shapes are drawn and which outputs compared on a GPU, and what of it the host reads."""

import math

import numpy as np

from evaluators.checks.memory import WorkloadMemory
from evaluators.checks.region import Image
from evaluators.device import Buffer, Session
from evaluators.tasks.arguments import SUITES, Argument, Array, Workload
from evaluators.tasks.task import Task

SMALL_BYTES = 4 << 20
"""The host draws tests' shapes of so many bytes, where it may choose unusual values, and judges
them; of it all nothing stays in the device's memory."""


def drawn_on_device(task: Task, backend: str) -> set[str]:
    """Labels of all shapes but small tests, and those with strides, which the harness's kernels
    know nothing of."""
    stated = [one for suite in SUITES for one in task.workloads(suite, backend)]
    small = {one.label for one in small_tests(task, backend)}
    dense = (w for w in stated if all(a.strides is None for a in task.on(w).arguments))
    return {workload.label for workload in dense} - small


def small_tests(task: Task, backend: str) -> tuple[Workload, ...]:
    """Those that the host draws and judges; the smallest where there is no other."""
    tests = task.workloads("tests", backend)
    small = tuple(one for one in tests if task.nbytes(one) <= SMALL_BYTES)
    return small or tuple(sorted(tests, key=task.nbytes)[:1])


def compared_on_device(task: Task, workload: Workload) -> list[Argument]:
    """Outputs that are compared with a reference as they lie in memory."""
    if task.own.epilogue is not None:
        return []
    return [output for output in task.on(workload).outputs if output.name in task.compares]


def inputs_in(memory: WorkloadMemory, copy: int) -> dict[str, Array]:
    """What lies in a binding, as reference.py is given it."""
    env, buffers = memory.workload.env, memory.bindings[copy]
    return {
        a.name: memory.session.read(buffers[a.name], a.np_dtype, a.shape(env))
        for a in memory.task.arguments
        if a.role != "out"
    }


def reference_bytes(task: Task, workload: Workload) -> dict[str, int]:
    """Without those that reference() leaves to check(), or that an epilogue() makes."""
    return {
        a.name: 8 * math.prod(a.shape(workload.env)) for a in compared_on_device(task, workload)
    }


def bytes_of(session: Session, buffer: Buffer) -> Image:
    return session.read(buffer, np.dtype(np.uint8), (buffer.nbytes,))
