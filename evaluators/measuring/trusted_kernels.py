"""Kernels that are believed, compiled once in a process: the naive seed, the harness's own."""

import functools
from dataclasses import replace

from evaluators.checks.disclosure import on
from evaluators.checks.gpu_kernels import Trusted, compile_trusted
from evaluators.checks.shapes import costed, shapes_for
from evaluators.device import Compiled, Compiler, backend, times
from evaluators.device_info import DeviceInfo, target_of
from evaluators.evaluation import Rejected
from evaluators.kernel.plan import LaunchStep, Plan
from evaluators.kernel.seeds import naive_of
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.arguments import SUITES, TaskError
from evaluators.tasks.task import Task, TaskContent

Naive = tuple[KernelSource, Compiled]

EMPTY = """/*---
launches:
  - {kernel: empty, grid: [1], block: [64], args: []}
---*/
#include <hip/hip_runtime.h>
__global__ void empty() {}
"""


def empty_plan() -> Plan:
    """The same for every task: it is given nothing."""
    step = LaunchStep(entry="empty", grid=(1, 1, 1), block=(64, 1, 1), lds_bytes=0, args=())
    return Plan(defines=(), steps=(step,), prepare=(), scratch={})


def compiled_naive(task: Task, info: DeviceInfo) -> Naive:
    """The naive seed for a device; kept, since many campaigns and tests share a process.

    Raises TaskError.
    """
    return _naive(TaskContent(task), info.backend, info.arch, times(info.backend))


def compiled_trusted(task: Task, info: DeviceInfo) -> Trusted:
    """All that a GPU's judge runs; kept, since every sitting needs it anew.

    Raises TaskError, BackendMissing.
    """
    return _trusted(TaskContent(task), info.backend, info.arch)


def compile_all_trusted(task: Task, compiler: Compiler, backend_name: str) -> Trusted:
    """The same by a compiler that is given. Raises TaskError, BackendMissing."""
    trusted = compile_trusted(task, compiler, backend_name)
    naive = compile_naive(task, compiler, backend_name)
    return replace(trusted, naive=naive, empty=compile_empty(compiler))


def compile_naive(task: Task, compiler: Compiler, backend_name: str) -> Naive:
    """Raises TaskError."""
    try:
        kernel = parse_kernel(naive_of(task, backend_name))
        plans = []
        shapes = [w for suite in SUITES for w in shapes_for(kernel, task, suite, backend_name)]
        shapes += () if times(backend_name) else costed(task, backend_name)
        for workload in shapes:
            with on(workload):
                plan = kernel.plan(task, workload, target_of(backend_name))
            if plan not in plans:
                plans.append(plan)
        return kernel, compiler.compile(kernel, plans)
    except Rejected as rejected:
        raise TaskError(
            f"{task.folder}: its naive seed, against which kernels are timed, is {rejected}"
        ) from None


def compiled_empty(info: DeviceInfo) -> Compiled:
    """A kernel that does nothing, for a device; kept. Raises Rejected."""
    return _empty(info.backend, info.arch)


def compile_empty(compiler: Compiler) -> Compiled:
    """The same by a compiler that is given. Raises Rejected."""
    return compiler.compile(parse_kernel(EMPTY), [empty_plan()])


@functools.lru_cache(maxsize=8)
def _empty(name: str, arch: str) -> Compiled:
    return compile_empty(backend(name).compiler(arch=arch))


@functools.lru_cache(maxsize=64)
def _naive(key: TaskContent, name: str, arch: str, timed: bool) -> Naive:
    """timed: what is compiled depends on it."""
    return compile_naive(key.task, backend(name).compiler(arch=arch), name)


@functools.lru_cache(maxsize=8)
def _trusted(key: TaskContent, name: str, arch: str) -> Trusted:
    return compile_all_trusted(key.task, backend(name).compiler(arch=arch), name)
