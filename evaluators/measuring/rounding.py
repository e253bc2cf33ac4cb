"""The error that honest rounding leaves: that of a task's naive seed, measured on a device."""

import functools
from collections.abc import Mapping, Sequence

import numpy as np

from evaluators.checks.budget import Error, Limit, limit_of
from evaluators.checks.compare import on
from evaluators.checks.inputs import Draw, InputPool
from evaluators.checks.judge import HostJudge, Judge
from evaluators.checks.memory import WorkloadMemory
from evaluators.checks.region import Region
from evaluators.checks.values import WORDS, UnusualDraws
from evaluators.device import Compiled, Compiler, Device, backend
from evaluators.evaluation import Rejected
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.measuring.policy import TimingPolicy
from evaluators.tasks.arguments import SUITES, TaskError, Workload
from evaluators.tasks.task import Task

ELEMENTS = 4096
"""So many elements' errors are enough for a limit, over as many draws as that takes, at most"""
DRAWS = 6

Naive = tuple[KernelSource, Compiled]


class Rounding:
    """Measures limits on errors, where they are first asked for, and puts them where a task's
    draws find them."""

    def __init__(
        self,
        task: Task,
        device: Device,
        pool: InputPool,
        unusual: UnusualDraws,
        policy: TimingPolicy,
        rng: np.random.Generator,
        *,
        judge: Judge | None = None,
        naive: Naive | None = None,
    ) -> None:
        """naive: the seed, compiled; by default it is compiled when it is first needed."""
        self._task = task
        self._device = device
        self._pool = pool
        self._unusual = unusual
        self._policy = policy
        self._rng = rng
        self._judge = judge
        self._naive = naive
        self._measured: set[tuple[str, str]] = set()

    def measure(self, workloads: Sequence[Workload], values: Mapping[str, Sequence[str]]) -> None:
        """Limits for each shape's own draws, and for those of each class of values by label.

        Where the seed itself fails on its own draws there is no limit beyond the tolerance: that
        the seed is wrong is told where kernels are timed against it. Raises TaskError when it
        fails on values that its task states.
        """
        due = [
            (workload, classes)
            for workload in workloads
            if (classes := self._due(workload, ("", *values.get(workload.label, ()))))
        ]
        if not due:
            return
        kernel, compiled = self._naive = self._naive or compiled_naive(self._task, self._device)
        nbytes = sum(_nbytes(self._task, kernel, w) for w, _ in due)
        with self._device.open(compiled, memory_bytes=nbytes) as session:
            for workload, classes in due:
                plan = kernel.plan(self._task, workload.dims)
                memory = WorkloadMemory(
                    session,
                    self._task,
                    workload,
                    plan,
                    copies=session.alloc(Region.of_arguments(self._task, workload).nbytes),
                    shared=session.alloc(Region.of_shared(self._task, workload, plan).nbytes),
                )
                for one in classes:
                    self._measure(memory, one)
                    self._measured.add((workload.label, one))

    def _due(self, workload: Workload, classes: Sequence[str]) -> list[str]:
        return [one for one in classes if (workload.label, one) not in self._measured]

    def _measure(self, memory: WorkloadMemory, values: str) -> None:
        workload = memory.workload
        if not values:
            draws = self._pool.draws(workload, self._rng, self._count(workload))
            try:
                self._pool.limits[workload.label].update(self._limits(memory, draws))
            except Rejected as rejected:
                if rejected.killed:
                    raise
            return
        draws = self._unusual.of(workload, values)
        if not draws:
            return
        try:
            limits = self._limits(memory, draws)
        except Rejected as rejected:
            if rejected.killed:
                raise
            if self._task.values is None:
                self._unusual.drop(workload, values)
                return
            raise TaskError(
                f"{self._task.folder}: its naive seed is {rejected} {WORDS[values]} on "
                f"{workload.label}; mend the seed, or leave {values!r} out of the task's values"
            ) from None
        self._unusual.limits[workload.label, values].update(limits)

    def _count(self, workload: Workload) -> int:
        least = min(int(np.prod(o.shape(workload.dims))) for o in self._task.outputs)
        return min(DRAWS, -(-ELEMENTS // least))

    def _limits(self, memory: WorkloadMemory, draws: Sequence[Draw]) -> dict[str, Limit]:
        """By output. Raises Rejected: the seed is wrong."""
        judge = self._judge or HostJudge()
        deadline_s = self._policy.deadline_cap_s
        errors: dict[str, list[Error]] = {output.name: [] for output in self._task.outputs}
        judge.place_shared(memory, draws[0], self._rng)
        memory.prepare(deadline_s=deadline_s)
        for draw in draws:
            judge.place(memory, {0: draw}, self._rng)
            memory.session.run(memory.plan, memory.bindings[0], deadline_s=deadline_s)
            for key, error in judge.judge(memory, {0: draw}).items():
                errors[key.rpartition("/")[2]].append(error)
        dims = memory.workload.dims
        return {
            output.name: limit_of(errors[output.name], int(np.prod(output.shape(dims))))
            for output in self._task.outputs
            if output.floating and not output.exact(dims)
        }


def _nbytes(task: Task, kernel: KernelSource, workload: Workload) -> int:
    plan = kernel.plan(task, workload.dims)
    regions = Region.of_arguments(task, workload), Region.of_shared(task, workload, plan)
    return sum(region.nbytes for region in regions)


def compiled_naive(task: Task, device: Device) -> Naive:
    """The naive seed for a device; kept, since many campaigns and tests share a process.

    Raises TaskError.
    """
    info = device.info
    return _compiled(_Key(task), info.backend, info.arch)


class _Key:
    """A task by its content."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._content = task.hash, task.naive, str(task.suites)

    def __hash__(self) -> int:
        return hash(self._content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._content == other._content


@functools.lru_cache(maxsize=64)
def _compiled(key: _Key, name: str, arch: str) -> Naive:
    return compile_naive(key.task, backend(name).compiler(arch=arch), name)


def compile_naive(task: Task, compiler: Compiler, backend_name: str) -> Naive:
    """Raises TaskError."""
    try:
        kernel = parse_kernel(task.naive)
        plans = []
        for suite in SUITES:
            for workload in task.workloads(suite, backend_name):
                with on(workload):
                    plan = kernel.plan(task, workload.dims)
                if plan not in plans:
                    plans.append(plan)
        return kernel, compiler.compile(kernel, plans)
    except Rejected as rejected:
        raise TaskError(
            f"{task.folder}: its naive seed, against which kernels are timed, is {rejected}"
        ) from None
